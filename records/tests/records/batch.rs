//! Batches of the log, which the caller makes durable. Each has one checkpoint. The tree does not
//! depend on the division into batches. A power cut that loses any unsynced files leaves the old
//! head or the complete new one. Two different heads of one size must never be visible.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use model::Sha256;
use proptest::prelude::*;
use records::log::{
    BATCH_MAX, Checkpoint, Inclusion, Log, LogError, LogLocation, LogView, PreparedBatch, fsck,
};

use crate::fixture::{RecordScratch, flip, put, replace};
use crate::log::{entry, grown, log_key, opened};

fn entries(range: std::ops::Range<u64>) -> Vec<Vec<u8>> {
    range.map(entry).collect()
}

fn append_all(log: &mut Log, batch: &[Vec<u8>]) -> Vec<Inclusion> {
    let prepared = log.prepare(batch).unwrap();
    let inclusions = prepared.inclusions().to_vec();
    log.adopt(prepared).unwrap();
    inclusions
}

fn prove(batch: &[Vec<u8>], inclusions: &[Inclusion], head: &Checkpoint) {
    assert_eq!(batch.len(), inclusions.len());
    for (entry, inclusion) in batch.iter().zip(inclusions) {
        let text = inclusion.tlog_proof();
        let read = Inclusion::verify(&text, entry, log_key().public()).unwrap();
        assert_eq!((read.index(), read.checkpoint()), (inclusion.index(), head));
    }
}

#[test]
fn a_batch_has_one_checkpoint_and_the_tree_of_its_entries_one_by_one() {
    for from in [0, 1, 254, 255, 256, 300] {
        for size in [1, 2, 255, 256, 257, 300, 512] {
            let (once, again) = (RecordScratch::in_memory(), RecordScratch::in_memory());
            drop(grown(once.path(), from));
            let mut log = opened(once.path()).unwrap();
            let batch = entries(from..from + size);
            let prepared = log.prepare(&batch).unwrap();
            // Readers see nothing of it yet.
            assert_eq!(log.head().size(), from);
            let view = LogView::open(once.path(), log.key()).unwrap();
            assert_eq!(view.head().size(), from);
            assert!(fsck(once.path(), log.key()).unwrap().faults.is_empty());
            let inclusions = prepared.inclusions().to_vec();
            log.adopt(prepared).unwrap();
            prove(&batch, &inclusions, log.head());
            let indexes: Vec<u64> = inclusions.iter().map(Inclusion::index).collect();
            assert_eq!(indexes, (from..from + size).collect::<Vec<_>>());
            assert_eq!(log.head().note(), grown(again.path(), from + size).head().note());
            assert!(fsck(once.path(), log.key()).unwrap().faults.is_empty());
            assert!(!once.path().join("checkpoint.next").exists());
            // The log continues and remembers its entries, also after it is opened again.
            for _ in 0..2 {
                let again = append_all(&mut log, &batch);
                assert_eq!(again, inclusions);
                drop(log);
                log = opened(once.path()).unwrap();
            }
            assert_eq!(log.append(b"one more").unwrap().index(), from + size);
        }
    }
}

#[test]
fn entries_that_are_there_or_twice_in_a_batch_are_not_appended_again() {
    let scratch = RecordScratch::in_memory();
    let mut log = grown(scratch.path(), 300);
    let batch = [entry(299), b"new".to_vec(), entry(44), b"new".to_vec(), b"newer".to_vec()];
    let inclusions = append_all(&mut log, &batch);
    let indexes: Vec<u64> = inclusions.iter().map(Inclusion::index).collect();
    assert_eq!(indexes, [299, 300, 44, 300, 301]);
    prove(&batch, &inclusions, log.head());
    let before = log.head().clone();
    // Nothing new: no head and no draft.
    let prepared = log.prepare(&batch).unwrap();
    prove(&batch, prepared.inclusions(), &before);
    assert_eq!(files(scratch.path()).keys().filter(|path| is_draft(path)).count(), 0);
    assert!(log.append(b"not held up").is_ok());
    log.adopt(prepared).unwrap();
    let none: [&[u8]; 0] = [];
    assert!(log.prepare(&none).unwrap().inclusions().is_empty());
}

#[test]
fn a_batch_that_cannot_be_is_refused_before_it_begins() {
    let scratch = RecordScratch::in_memory();
    let mut log = grown(scratch.path(), 3);
    let many = entries(0..u64::try_from(BATCH_MAX).unwrap() + 1);
    assert!(matches!(log.prepare(&many), Err(LogError::TooMany { entries: 513 })));
    let large = [entry(8), vec![0; records::log::ENTRY_BYTES_MAX + 1]];
    assert!(matches!(log.prepare(&large), Err(LogError::TooLarge { .. })));
    assert_eq!(log.append(&entry(3)).unwrap().index(), 3);
}

#[test]
fn a_log_with_a_batch_that_is_not_adopted_takes_nothing_more() {
    let scratch = RecordScratch::in_memory();
    let mut log = grown(scratch.path(), 3);
    let stale = log.prepare(&[b"mine"]).unwrap();
    assert!(matches!(log.append(b"another"), Err(LogError::Stopped)));
    assert!(matches!(log.prepare(&[b"another"]), Err(LogError::Stopped)));
    drop(log);
    let mut log = opened(scratch.path()).unwrap();
    assert_eq!((log.head().size(), log.append(b"mine").unwrap().index()), (4, 3));
    // A batch that was prepared before does not fit the present draft.
    let prepared = log.prepare(&[b"another"]).unwrap();
    assert!(matches!(log.adopt(stale), Err(LogError::Stopped)));
    log.adopt(prepared).unwrap();
    assert_eq!(log.head().size(), 5);
}

/// The tiles of two levels become whole at once.
#[test]
fn a_batch_goes_over_the_edge_of_a_tile_of_tiles() {
    let scratch = RecordScratch::in_memory();
    let mut log = opened(scratch.path()).unwrap();
    let size = 65_536 + 100;
    for first in (0..65_300).step_by(500) {
        append_all(&mut log, &entries(first..first + 500));
    }
    let batch = entries(log.head().size()..size);
    let prepared = log.prepare(&batch).unwrap();
    let (next, inclusions) = (files(scratch.path()), prepared.inclusions().to_vec());
    drop(log);
    // The hash tiles are lost, as they were never synced.
    for path in next.keys().filter(|path| path.starts_with("tile/1") || path.starts_with("tile/2"))
    {
        fs::remove_file(scratch.path().join(path)).unwrap();
    }
    let log = opened(scratch.path()).unwrap();
    prove(&batch, &inclusions, log.head());
    let faults = fsck(scratch.path(), log.key()).unwrap().faults;
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_draft_that_contradicts_the_log_is_refused_and_one_that_says_nothing_goes_away() {
    let (scratch, other) = (RecordScratch::in_memory(), RecordScratch::in_memory());
    drop(grown(scratch.path(), 9));
    let draft = scratch.path().join("checkpoint.next");
    let mut another = opened(other.path()).unwrap();
    // A smaller draft and one of the same size, of another history under the same key.
    for size in 1..=9_u64 {
        another.append(format!("another {size}").as_bytes()).unwrap();
        put(&draft, another.head().note().as_bytes());
        let error = opened(scratch.path()).err();
        assert!(matches!(error, Some(LogError::Damaged { .. })), "{size}: {error:?}");
        assert!(draft.exists());
        fs::remove_file(&draft).unwrap();
    }
    // A larger draft without any of its entries.
    let larger = another.append(b"another").unwrap().checkpoint().note().to_owned();
    // A head that the log grew out of, and an unsigned one.
    let older = grown(RecordScratch::in_memory().path(), 5).head().note().to_owned();
    let unsigned = larger.replace("\u{2014} ", "\u{2014} a.");
    for note in [&larger, &older, &unsigned, &larger[..larger.len() - 9], "", "\0\0\0"] {
        put(&draft, note.as_bytes());
        assert_eq!(opened(scratch.path()).unwrap().head().size(), 9, "{note}");
        assert!(!draft.exists());
    }
}

/// The bundle of a torn batch under the draft of a later batch of the same size, of which only the
/// draft reached the disk.
#[test]
fn a_draft_does_not_stand_on_entries_of_another_batch() {
    for (from, size) in [(5, 2), (250, 6), (256, 300)] {
        let scratch = RecordScratch::in_memory();
        drop(grown(scratch.path(), from));
        let before = files(scratch.path());
        let [torn, later] = ["torn", "later"].map(|output| {
            write_contents(scratch.path(), &before);
            let batch: Vec<_> = (0..size).map(|it| format!("{output} {it}").into_bytes()).collect();
            drop(opened(scratch.path()).unwrap().prepare(&batch).unwrap());
            files(scratch.path())
        });
        write_contents(scratch.path(), &torn);
        replace(&scratch.path().join("checkpoint.next"), &later[Path::new("checkpoint.next")]);
        let log = opened(scratch.path()).unwrap();
        assert_eq!(log.head().size(), from);
        assert!(fsck(scratch.path(), log.key()).unwrap().faults.is_empty());
    }
}

/// A batch that died without its draft, in a log that outgrows it, also with a new level of tiles.
#[test]
fn what_a_torn_batch_left_is_gone_before_the_next_one_is_seen() {
    for (from, torn, next) in [(0, 300, 513), (5, 250, 300), (200, 100, 500), (255, 1, 512)] {
        let scratch = RecordScratch::in_memory();
        let mut log = grown(scratch.path(), from);
        let before = files(scratch.path());
        let batch: Vec<_> = (0..torn).map(|it| format!("torn {it}").into_bytes()).collect();
        drop(log.prepare(&batch).unwrap());
        drop(log);
        fs::remove_file(scratch.path().join("checkpoint.next")).unwrap();
        let mut log = opened(scratch.path()).unwrap();
        let new = |path: &&PathBuf| !before.contains_key(*path);
        let partial = |path: &&PathBuf| path.to_string_lossy().contains(".p/");
        let left = files(scratch.path());
        let left: Vec<_> = left.keys().filter(new).filter(partial).collect();
        assert!(left.is_empty(), "{from} {torn}: {left:?}");
        let mut end = from;
        while end < from + next {
            let size = (from + next - end).min(u64::try_from(BATCH_MAX).unwrap());
            append_all(&mut log, &entries(end..end + size));
            end += size;
        }
        let faults = fsck(scratch.path(), log.key()).unwrap().faults;
        assert!(faults.is_empty(), "{from} {torn} {next}: {faults:?}");
    }
}

#[test]
fn readers_pass_over_a_draft() {
    let (scratch, copy) = (RecordScratch::in_memory(), RecordScratch::in_memory());
    let mut log = grown(scratch.path(), 200);
    let prepared = log.prepare(&entries(200..300)).unwrap();
    let key = log.key().clone();
    let view = LogView::open(scratch.path(), &key).unwrap();
    assert_eq!(view.export(copy.path(), std::slice::from_ref(&key)).unwrap().to, 200);
    assert!(view.add_checkpoint(100).unwrap().contains("\n200\n"));
    assert!(view.entry(200).is_err() && view.entry(199).is_ok());
    log.adopt(prepared).unwrap();
    // A reader that opened the log before continues, although the partial files are gone.
    assert!(!scratch.path().join("tile/entries/000.p").exists());
    assert!((0..200).all(|index| view.entry(index).unwrap().0 == entry(index)));
    flip(&scratch.path().join("tile/entries/000"));
    assert!(!fsck(scratch.path(), &key).unwrap().faults.is_empty());
}

type DirectoryContents = BTreeMap<PathBuf, Vec<u8>>;

fn is_draft(path: &Path) -> bool {
    path.to_string_lossy().contains("checkpoint.next")
}

/// Returns every file below a directory that a power cut can lose.
fn files(root: &Path) -> DirectoryContents {
    fn collect(root: &Path, below: &Path, found: &mut DirectoryContents) {
        for entry in fs::read_dir(root.join(below)).unwrap() {
            let entry = entry.unwrap();
            let path = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                collect(root, &path, found);
            } else if entry.file_name() != ".lock" {
                found.insert(path, fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut found = DirectoryContents::new();
    collect(root, Path::new(""), &mut found);
    found
}

#[derive(Clone, Copy, Debug)]
enum PowerCutLoss {
    Nothing,
    Everything,
    /// Each file separately, by pseudo-random numbers from this seed.
    Some(u64),
}

impl PowerCutLoss {
    fn roll(&mut self, sides: u64) -> u64 {
        let Self::Some(seed) = self else {
            return if matches!(self, Self::Nothing) { 0 } else { 1 };
        };
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % sides
    }
}

/// Returns the files after a power cut. Each file that changed since the barrier has its old or new
/// form, no bytes or some of them. A rename is atomic, and each is lost separately.
fn cut(
    durable: &DirectoryContents,
    live: &DirectoryContents,
    mut loss: PowerCutLoss,
) -> DirectoryContents {
    let mut left = durable.clone();
    let checkpoint = Path::new("log/checkpoint");
    let mut paths: Vec<&PathBuf> = durable.keys().chain(live.keys()).collect();
    // The draft that was renamed over the checkpoint, by one act.
    let adopted = durable.keys().find(|path| {
        is_draft(path) && live.get(checkpoint) == durable.get(*path) && !live.contains_key(*path)
    });
    if let Some(draft) = adopted {
        paths.retain(|path| *path != draft);
        if loss.roll(2) == 0 {
            left.remove(draft);
            left.insert(checkpoint.to_owned(), live[checkpoint].clone());
        }
    } else {
        assert_eq!(durable.get(checkpoint), live.get(checkpoint));
    }
    paths.retain(|path| *path != checkpoint && durable.get(*path) != live.get(*path));
    paths.sort();
    paths.dedup();
    for path in paths {
        let Some(new) = live.get(path) else {
            if loss.roll(2) == 0 {
                left.remove(path);
            }
            continue;
        };
        // A disk writes a saved head atomically.
        let sides = if path.ends_with("log.head") { 3 } else { 4 };
        match loss.roll(sides) {
            0 => drop(left.insert(path.clone(), new.clone())),
            1 => {}
            2 => drop(left.insert(path.clone(), Vec::new())),
            _ => {
                let length = usize::try_from(loss.roll(1 << 20)).unwrap() % new.len().max(1);
                drop(left.insert(path.clone(), new[..length].to_vec()));
            }
        }
    }
    left
}

fn write_contents(root: &Path, files: &DirectoryContents) {
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    fs::create_dir_all(root.join("log")).unwrap();
    files.iter().for_each(|(path, bytes)| put(&root.join(path), bytes));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PowerCutMoment {
    Never,
    Prepared,
    Durable,
    Adopted,
}

#[derive(Clone, Copy, Debug)]
struct BatchStep {
    entries: u64,
    moment: PowerCutMoment,
    loss: PowerCutLoss,
    /// The interrupted batch is appended again.
    again: bool,
    /// A barrier follows before the next batch.
    settled: bool,
}

fn acts() -> impl Strategy<Value = Vec<BatchStep>> {
    let entries = prop::sample::select(vec![1, 2, 3, 40, 255, 256, 257, 300]);
    let moment = prop::sample::select(vec![
        PowerCutMoment::Never,
        PowerCutMoment::Prepared,
        PowerCutMoment::Prepared,
        PowerCutMoment::Durable,
        PowerCutMoment::Adopted,
    ]);
    let some = any::<u64>().prop_map(PowerCutLoss::Some);
    let loss = prop_oneof![1 => Just(PowerCutLoss::Nothing), 1 => Just(PowerCutLoss::Everything), 4 => some];
    let act = (entries, moment, loss, any::<bool>(), any::<bool>());
    let act = act.prop_map(|(entries, moment, loss, again, settled)| BatchStep {
        entries,
        moment,
        loss,
        again,
        settled,
    });
    prop::collection::vec(act, 1..7)
}

/// A log, its disk, and everything that was published of it.
struct LogSimulation {
    scratch: RecordScratch,
    log: Option<Log>,
    durable: DirectoryContents,
    created: u64,
    entries: Vec<Vec<u8>>,
    seen: HashMap<u64, Sha256>,
}

impl LogSimulation {
    fn new(entries: u64) -> Self {
        let scratch = RecordScratch::in_memory();
        let log = opened(LogLocation::of_state(scratch.path())).unwrap();
        let (durable, seen) = (DirectoryContents::new(), HashMap::new());
        let mut world =
            Self { scratch, log: Some(log), durable, created: 0, entries: vec![], seen };
        if entries > 0 {
            let batch = world.batch(entries);
            let proofs = append_all(world.log(), &batch);
            world.entries.extend(batch);
            world.see(&proofs[0].checkpoint().clone());
        }
        world.durable = files(world.scratch.path());
        world
    }

    fn log(&mut self) -> &mut Log {
        self.log.as_mut().unwrap()
    }

    fn batch(&mut self, entries: u64) -> Vec<Vec<u8>> {
        self.created += entries;
        (self.created - entries..self.created).map(entry).collect()
    }

    fn see(&mut self, head: &Checkpoint) {
        let root = *self.seen.entry(head.size()).or_insert(head.root());
        assert_eq!(root, head.root(), "two heads with {} entries", head.size());
    }

    fn act(&mut self, act: BatchStep) {
        let batch = self.batch(act.entries);
        let first = u64::try_from(self.entries.len()).unwrap();
        let prepared = self.log().prepare(&batch).unwrap();
        if act.moment == PowerCutMoment::Prepared {
            let proofs = prepared.inclusions().to_vec();
            drop(prepared);
            return self.lose(act, batch, &proofs);
        }
        // The barrier: from now on the proofs may be published.
        self.durable = files(self.scratch.path());
        let proofs = prepared.inclusions().to_vec();
        self.see(&proofs[0].checkpoint().clone());
        if act.moment == PowerCutMoment::Durable {
            drop(prepared);
            return self.lose(act, batch, &proofs);
        }
        self.adopt(prepared, &batch, first);
        if act.moment == PowerCutMoment::Adopted {
            self.entries.truncate(usize::try_from(first).unwrap());
            return self.lose(act, batch, &proofs);
        }
        if act.settled {
            self.durable = files(self.scratch.path());
        }
    }

    fn adopt(&mut self, prepared: PreparedBatch, batch: &[Vec<u8>], first: u64) {
        let proofs = prepared.inclusions().to_vec();
        self.log().adopt(prepared).unwrap();
        let head = self.log().head().clone();
        prove(batch, &proofs, &head);
        assert!(proofs.iter().map(Inclusion::index).eq(first..first + act_len(batch)));
        self.entries.extend(batch.to_vec());
    }

    fn lose(&mut self, act: BatchStep, batch: Vec<Vec<u8>>, proofs: &[Inclusion]) {
        self.log = None;
        let left = cut(&self.durable, &files(self.scratch.path()), act.loss);
        write_contents(self.scratch.path(), &left);
        // Readers need no recovery, but may see the state before.
        let directory = self.scratch.path().join("log");
        assert!(fsck(&directory, log_key().public()).unwrap().faults.is_empty(), "{act:?}");
        let (old, new) = (self.entries.len(), self.entries.len() + batch.len());
        let log = opened(LogLocation::of_state(self.scratch.path()));
        self.log = Some(log.unwrap_or_else(|error| panic!("{act:?}: {error}")));
        let head = self.log().head().clone();
        let size = usize::try_from(head.size()).unwrap();
        let shown = act.moment != PowerCutMoment::Prepared;
        assert!(size == new || (size == old && !shown), "{act:?}: {old}, {size}, {new}");
        if size == new {
            assert_eq!(&head, proofs[0].checkpoint());
            self.entries.extend(batch.clone());
        }
        self.see(&head);
        assert_eq!(files(self.scratch.path()).keys().filter(|path| is_draft(path)).count(), 0);
        self.durable = files(self.scratch.path());
        if act.again {
            let again = append_all(self.log(), &batch);
            let indexes = |proofs: &[Inclusion]| proofs.iter().map(Inclusion::index).collect();
            let [before, after]: [Vec<u64>; 2] = [indexes(proofs), indexes(&again)];
            assert_eq!(before, after, "{act:?}");
            if size == old {
                self.entries.extend(batch);
            }
            self.durable = files(self.scratch.path());
            let head = self.log().head().clone();
            self.see(&head);
        }
    }

    /// Checks that no entry is lost or duplicated, and that every published head is of this log.
    fn judge(mut self) {
        drop(self.log.take());
        let directory = self.scratch.path().join("log");
        let faults = fsck(&directory, log_key().public()).unwrap().faults;
        assert!(faults.is_empty(), "{faults:?}");
        let view = LogView::open(&directory, log_key().public()).unwrap();
        assert_eq!(view.head().size(), act_len(&self.entries));
        for (expected, index) in self.entries.iter().zip(0..).step_by(13) {
            assert_eq!(&view.entry(index).unwrap().0, expected);
        }
        for (size, root) in self.seen {
            assert_eq!(view.root(size).unwrap(), root, "{size}");
        }
    }
}

fn act_len(batch: &[Vec<u8>]) -> u64 {
    u64::try_from(batch.len()).unwrap()
}

fn simulate(entries: u64, acts: &[BatchStep]) {
    let mut world = LogSimulation::new(entries);
    acts.iter().for_each(|act| world.act(*act));
    world.judge();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_power_cut_leaves_the_old_head_or_the_whole_new_one(
        entries in prop::sample::select(vec![0, 1, 200, 255, 256, 257, 500]),
        acts in acts(),
    ) {
        simulate(entries, &acts);
    }
}

/// Loses each file of a batch separately, in each form; the others are complete.
#[test]
fn each_file_of_a_batch_may_be_lost_by_itself() {
    for (from, size) in [(0, 1), (0, 2), (5, 250), (250, 300), (255, 1), (256, 256), (300, 257)] {
        let scratch = RecordScratch::in_memory();
        let mut log = grown(scratch.path(), from);
        let before = files(scratch.path());
        let batch = entries(from..from + size);
        let prepared = log.prepare(&batch).unwrap();
        let new = prepared.inclusions()[0].checkpoint().size();
        drop(log);
        let after = files(scratch.path());
        let changed: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
        assert!(changed.len() >= 3);
        for path in changed {
            let half = after[path].len() / 2;
            let forms = [None, Some(&after[path][..0]), Some(&after[path][..half])];
            for form in forms {
                write_contents(scratch.path(), &after);
                let file = scratch.path().join(path);
                match form {
                    Some(bytes) => replace(&file, bytes),
                    None => fs::remove_file(&file).unwrap(),
                }
                let mut log = opened(scratch.path()).unwrap();
                // Whole and partial hash tiles are computed again.
                let computed = path.starts_with("tile") && !path.starts_with("tile/entries");
                let expected = if computed { new } else { from };
                assert_eq!(log.head().size(), expected, "{from} {size} {}", path.display());
                append_all(&mut log, &batch);
                assert_eq!(log.head().size(), new);
                assert!(fsck(scratch.path(), log.key()).unwrap().faults.is_empty());
            }
        }
    }
}
