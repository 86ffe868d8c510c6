//! The log: its proofs against two other implementations of the same tree, its state after a crash,
//! and the detection of every change in its files.

use std::fs;
use std::path::{Path, PathBuf};

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use model::Sha256;
use records::log::{
    Checkpoint, CheckpointError, Inclusion, Log, LogError, LogFsckProblem, LogKey, LogLocation,
    LogOrigin, LogView, ProofError, PublicLogKey, fsck,
};
use records::{HostKeyError, ResultKey};
use signed_note::{Note, StandardVerifier, VerifierList};
use tlog_tiles::{Hash, TileReader};

use crate::fixture::{RecordScratch, flip, put, replace};

pub(crate) fn log_key() -> LogKey {
    LogKey::from_seed("toolexec.host1.example".parse().unwrap(), &[42; 32])
}

pub(crate) fn entry(number: u64) -> Vec<u8> {
    format!("entry {number}").into_bytes()
}

/// Opens a log. Another test's child may hold its lock for a moment, between fork and exec.
pub(crate) fn opened(place: impl Into<LogLocation>) -> Result<Log, LogError> {
    Log::open_within(std::time::Duration::from_secs(10), place, log_key())
}

pub(crate) fn grown(directory: &Path, size: u64) -> Log {
    let mut log = opened(directory).unwrap();
    for number in log.head().size()..size {
        assert_eq!(log.append(&entry(number)).unwrap().index(), number);
    }
    log
}

fn hash(sha256: Sha256) -> Hash {
    Hash(*sha256.as_bytes())
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn every_size_has_the_root_and_the_proofs_of_other_implementations() {
    let scratch = RecordScratch::in_memory();
    let mut log = Log::open_or_create(scratch.path(), log_key()).unwrap();
    let mut tree = MemoryBackedTree::<sha2::Sha256, Vec<u8>>::new();
    let mut heads = vec![log.head().clone()];
    for number in 0..600 {
        tree.push(entry(number));
        let proof = log.append(&entry(number)).unwrap();
        assert_eq!(log.head().root().as_bytes().as_slice(), tree.root().as_bytes().as_slice());
        heads.push(log.head().clone());
        // ct-merkle has no proof for the last entry, but accepts this one.
        let path: Vec<u8> = path_of(&proof).iter().flat_map(|hash| *hash.as_bytes()).collect();
        let theirs = ct_merkle::InclusionProof::<sha2::Sha256>::try_from_bytes(path).unwrap();
        tree.root().verify_inclusion(&entry(number), number, &theirs).unwrap();
    }
    let view = LogView::open(scratch.path(), log.key()).unwrap();
    let root = hash(view.head().root());
    for index in (0..600).step_by(7).chain([254, 255, 256, 511, 512, 599]) {
        let (bytes, proof) = view.entry(index).unwrap();
        assert_eq!(bytes, entry(index));
        let size = usize::try_from(index).unwrap();
        let theirs: Vec<u8> = tree.prove_inclusion(size).as_bytes().to_vec();
        let ours: Vec<u8> = path_of(&proof).iter().flat_map(|hash| *hash.as_bytes()).collect();
        assert_eq!(ours, theirs, "{index}");
        let path: Vec<Hash> = path_of(&proof).into_iter().map(hash).collect();
        tlog_tiles::check_record(&path, 600, root, index, tlog_tiles::record_hash(&bytes)).unwrap();
    }
    for old in 0..=600_u64 {
        let before = &heads[usize::try_from(old).unwrap()];
        let proof = view.consistency(old, 600).unwrap();
        assert!(before.grew_into(view.head(), &proof), "{old}");
        if old > 0 {
            let theirs: Vec<Hash> = proof.iter().copied().map(hash).collect();
            tlog_tiles::check_tree(&theirs, 600, root, old, hash(before.root())).unwrap();
        }
        let mut wrong = proof.clone();
        if let Some(first) = wrong.first_mut() {
            *first = Sha256::of(b"another");
            assert!(!before.grew_into(view.head(), &wrong), "{old}");
            assert!(!before.grew_into(view.head(), &proof[1..]), "{old}");
        } else if old == 0 {
            assert!(!before.grew_into(view.head(), &[Sha256::of(b"")]));
        }
    }
}

fn path_of(proof: &Inclusion) -> Vec<Sha256> {
    let text = proof.tlog_proof();
    let (head, _) = text.split_once("\n\n").unwrap();
    // Decoded with the oracle's own base64 parser.
    let hash = |line: &str| Sha256::from_bytes(Hash::parse_hash(line).unwrap().0);
    head.lines().skip(2).map(hash).collect()
}

/// The oracle's reader of tiles, on our files.
struct OracleTiles<'a>(&'a Path);

impl TileReader for OracleTiles<'_> {
    fn height(&self) -> u8 {
        8
    }

    fn read_tiles(&self, tiles: &[tlog_tiles::Tile]) -> Result<Vec<Vec<u8>>, tlog_tiles::Error> {
        Ok(tiles.iter().map(|tile| fs::read(self.0.join(our_path(tile))).unwrap()).collect())
    }

    fn save_tiles(&self, _: &[tlog_tiles::Tile], _: &[Vec<u8>]) {}
}

/// Maps the oracle's path to ours: it has the height in `tile/8/…`, as the Go checksum database.
fn our_path(tile: &tlog_tiles::Tile) -> String {
    tile.path().replacen("tile/8/", "tile/", 1)
}

#[test]
fn another_reader_of_tiles_proves_by_our_files() {
    use tlog_tiles::TileHashReader;
    let scratch = RecordScratch::in_memory();
    let log = grown(scratch.path(), 523);
    let files = OracleTiles(scratch.path());
    let root = hash(log.head().root());
    let reader = TileHashReader::new(523, root, &files);
    assert_eq!(tlog_tiles::tree_hash(523, &reader).unwrap(), root);
    for index in [0, 100, 255, 256, 511, 512, 522] {
        let path = tlog_tiles::prove_record(523, index, &reader).unwrap();
        let leaf = tlog_tiles::record_hash(&entry(index));
        tlog_tiles::check_record(&path, 523, root, index, leaf).unwrap();
    }
    assert!(tlog_tiles::prove_tree(523, 256, &reader).is_ok());
}

#[test]
fn another_reader_of_notes_accepts_the_checkpoint() {
    let scratch = RecordScratch::in_memory();
    let log = grown(scratch.path(), 3);
    let note = Note::from_bytes(log.head().note().as_bytes()).unwrap();
    let verifier = StandardVerifier::new(&log.key().verifier_line()).unwrap();
    let (signed, unknown) = note.verify(&VerifierList::new(vec![Box::new(verifier)])).unwrap();
    assert_eq!((signed.len(), unknown.len()), (1, 0));
    let checkpoint = tlog_tiles::Checkpoint::from_bytes(note.text()).unwrap();
    assert_eq!(checkpoint.origin(), "toolexec.host1.example");
    assert_eq!((checkpoint.size(), *checkpoint.hash()), (3, hash(log.head().root())));
    // And in the other direction: our parser accepts their note.
    assert_eq!(Checkpoint::verify(log.head().note(), log.key()).as_ref(), Ok(log.head()));
}

#[test]
fn a_checkpoint_with_any_bit_flipped_is_none() {
    let scratch = RecordScratch::in_memory();
    let log = grown(scratch.path(), 5);
    let note = log.head().note().as_bytes();
    for at in 0..note.len() {
        for bit in 0..8 {
            let mut changed = note.to_vec();
            changed[at] ^= 1 << bit;
            let Ok(changed) = String::from_utf8(changed) else { continue };
            assert!(Checkpoint::verify(&changed, log.key()).is_err(), "{changed}");
        }
    }
    let other = LogKey::from_seed("toolexec.host1.example".parse().unwrap(), &[43; 32]);
    let unsigned = Err(CheckpointError::Unsigned);
    assert_eq!(Checkpoint::verify(log.head().note(), other.public()), unsigned);
    let named = LogKey::from_seed("other.example".parse().unwrap(), &[42; 32]);
    let origin = Err(CheckpointError::Origin);
    assert_eq!(Checkpoint::verify(log.head().note(), named.public()), origin);
    // A witness may sign as well; any other line among the signatures is invalid.
    let witnessed = format!("{}\u{2014} witness.example AAAAAAAA\n", log.head().note());
    assert!(Checkpoint::verify(&witnessed, log.key()).is_ok());
    for line in ["— x\n", "— a b AAAAAAAA\n", "x\n", "\n", "— + AAAAAAAA\n"] {
        let note = format!("{}{line}", log.head().note());
        assert!(Checkpoint::verify(&note, log.key()).is_err(), "{line}");
    }
}

#[test]
fn a_proof_is_of_one_entry_and_one_log() {
    let scratch = RecordScratch::in_memory();
    let mut log = grown(scratch.path(), 9);
    let text = log.append(b"mine").unwrap().tlog_proof();
    let verified = Inclusion::verify(&text, b"mine", log.key()).unwrap();
    assert_eq!((verified.index(), verified.checkpoint().size()), (9, 10));
    let not = Err(ProofError::NotIncluded);
    assert_eq!(Inclusion::verify(&text, b"yours", log.key()), not);
    assert_eq!(Inclusion::verify(&text.replace("index 9", "index 8"), b"mine", log.key()), not);
    for (from, to) in
        [("@v1", "@v2"), ("index 9", "index 09"), ("index 9", "index +9"), ("index 9\n", "")]
    {
        let form = Err(ProofError::Form);
        assert_eq!(Inclusion::verify(&text.replacen(from, to, 1), b"mine", log.key()), form);
    }
    // One hash too few, one too many.
    let mut lines: Vec<&str> = text.lines().collect();
    let hash = lines.remove(2);
    let short = lines.join("\n") + "\n";
    assert_eq!(Inclusion::verify(&short, b"mine", log.key()), not);
    let long = text.replacen(hash, &format!("{hash}\n{hash}"), 1);
    assert_eq!(Inclusion::verify(&long, b"mine", log.key()), not);
    // The proof with the previous checkpoint of the log.
    let (head, _) = text.split_once("\n\n").unwrap();
    let scratch = RecordScratch::in_memory();
    let stale = grown(scratch.path(), 9).head().note().to_owned();
    assert_eq!(Inclusion::verify(&format!("{head}\n\n{stale}"), b"mine", log.key()), not);
}

#[test]
fn what_was_appended_before_is_found_and_not_appended_again() {
    let scratch = RecordScratch::in_memory();
    let mut log = grown(scratch.path(), 300);
    for index in [299, 256, 200, 44] {
        let proof = log.append(&entry(index)).unwrap();
        assert_eq!((proof.index(), log.head().size()), (index, 300));
    }
    drop(log);
    let mut log = grown(scratch.path(), 300);
    for index in [299, 256, 255, 44] {
        assert_eq!(log.append(&entry(index)).unwrap().index(), index);
    }
    let key = log.key().clone();
    drop(log);
    assert!(fsck(scratch.path(), &key).unwrap().faults.is_empty());
}

#[test]
fn a_log_goes_on_where_it_was_at_every_size() {
    let (once, again) = (RecordScratch::in_memory(), RecordScratch::in_memory());
    let expected = grown(once.path(), 520).head().clone();
    for size in [1, 2, 255, 256, 257, 511, 512, 513, 520] {
        assert_eq!(grown(again.path(), size).head().size(), size);
    }
    let log = grown(again.path(), 520);
    assert_eq!(log.head(), &expected);
    let names = |root: &Path| -> Vec<PathBuf> {
        files(root).iter().map(|path| path.strip_prefix(root).unwrap().to_owned()).collect()
    };
    assert_eq!(names(once.path()), names(again.path()));
    let partials = names(once.path());
    assert!(!partials.iter().any(|path| path.starts_with("tile/entries/000.p")), "{partials:?}");
    assert!(partials.contains(&PathBuf::from("tile/1/000.p/2")), "{partials:?}");
}

/// A crash at each moment, by hand: the files of an unacknowledged append, the checkpoint before.
#[test]
fn a_crash_before_the_checkpoint_leaves_the_log_as_it_was() {
    for size in [1, 254, 255, 256, 511] {
        let scratch = RecordScratch::in_memory();
        let log = grown(scratch.path(), size);
        let before = log.head().clone();
        drop(log);
        let mut log = grown(scratch.path(), size);
        log.append(b"lost").unwrap();
        let key = log.key().clone();
        drop(log);
        replace(&scratch.path().join("checkpoint"), before.note().as_bytes());
        // A partial hash tile is unsynced, so it may have any bytes after a crash. The previous
        // partial bundle is gone if a whole one replaced it.
        for path in files(&scratch.path().join("tile")) {
            let text = path.to_string_lossy().into_owned();
            if text.contains(".p/") && !text.contains("entries") {
                replace(&path, b"");
            }
        }
        crate::fixture::put(&scratch.path().join(".draft"), b"half");
        let mut log = Log::open_or_create(scratch.path(), log_key()).unwrap();
        assert_eq!(log.head(), &before, "{size}");
        let proof = log.append(b"another").unwrap();
        assert_eq!(proof.index(), size);
        assert!(Inclusion::verify(&proof.tlog_proof(), b"another", &key).is_ok());
        drop(log);
        let log = grown(scratch.path(), size + 300);
        let proof = LogView::open(scratch.path(), &key).unwrap().consistency(size, size + 300);
        assert!(before.grew_into(log.head(), &proof.unwrap()));
        let faults = fsck(scratch.path(), &key).unwrap().faults;
        assert!(faults.is_empty(), "{size}: {faults:?}");
    }
}

#[test]
fn only_one_process_appends_at_a_time() {
    let scratch = RecordScratch::in_memory();
    let log = grown(scratch.path(), 1);
    let second = Log::open_or_create(scratch.path(), log_key());
    assert!(matches!(second, Err(LogError::Locked { .. })));
    assert_eq!(LogView::open(scratch.path(), log.key()).unwrap().head().size(), 1);
    drop(log);
    assert!(Log::open_or_create(scratch.path(), log_key()).is_ok());
}

#[test]
fn a_changed_file_is_found() {
    let whole = RecordScratch::in_memory();
    let log = grown(whole.path(), 515);
    let key = log.key().clone();
    drop(log);
    for path in files(whole.path()) {
        let name = path.strip_prefix(whole.path()).unwrap().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        // Partial files of earlier sizes: only older checkpoints need them.
        let old = name.contains(".p/") && !name.ends_with("/3") && !name.ends_with("1/000.p/2");
        let bytes = fs::read(&path).unwrap();
        flip(&path);
        let found = match fsck(whole.path(), &key) {
            Ok(found) => !found.faults.is_empty(),
            Err(_) => name == "checkpoint",
        };
        assert!(found, "{name}");
        replace(&path, &bytes);
        fs::remove_file(&path).unwrap();
        let whole_without = fsck(whole.path(), &key).is_ok_and(|found| found.faults.is_empty());
        assert_eq!(whole_without, old, "{name}");
        crate::fixture::put(&path, &bytes);
    }
    assert!(fsck(whole.path(), &key).unwrap().faults.is_empty());
}

/// Flips one bit of every byte of a log: fsck finds it, or lists the file as not checked.
fn every_flip_is_found_or_named(size: u64, step: usize) {
    let place = RecordScratch::in_memory();
    let log = grown(place.path(), size);
    let key = log.key().clone();
    drop(log);
    let (mut flips, mut passed) = (0, 0);
    for path in files(place.path()) {
        let name = path.strip_prefix(place.path()).unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(step) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at / step % 8);
            replace(&path, &changed);
            flips += 1;
            if let Ok(found) = fsck(place.path(), &key)
                && found.faults.is_empty()
            {
                passed += 1;
                assert!(found.not_checked.iter().any(|it| it.path == name), "{name}, byte {at}");
            }
        }
        replace(&path, &bytes);
    }
    println!("{size} entries: {flips} flips, {passed} of them in files that are not checked");
    let found = fsck(place.path(), &key).unwrap();
    assert!(found.faults.is_empty() && found.not_checked.is_empty() && passed == 0);
}

#[test]
fn every_flip_in_a_small_log_is_found() {
    every_flip_is_found_or_named(12, 1);
}

#[test]
fn flips_in_superseded_tiles_of_a_larger_log_are_found() {
    every_flip_is_found_or_named(300, 97);
}

#[test]
fn what_the_checkpoint_says_nothing_of_is_named() {
    let place = RecordScratch::in_memory();
    let log = grown(place.path(), 12);
    let key = log.key().clone();
    drop(log);
    let strange = ["checkpoint.next", "tile/0/000.p/13", "tile/0/000.p/x", "tile/entries/001", "z"];
    for name in strange {
        crate::fixture::put(&place.path().join(name), b"x");
    }
    let found = fsck(place.path(), &key).unwrap();
    assert!(found.faults.is_empty());
    let named: Vec<&str> = found.not_checked.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(named, strange);
}

/// A power cut can tear unsynced files and leave unacknowledged ones. Later batches must not make
/// either look like a part of the log.
#[test]
fn opening_puts_right_what_a_power_cut_left_at_the_edge() {
    let place = RecordScratch::in_memory();
    drop(grown(place.path(), 270));
    let key = log_key().public().clone();
    let torn = ["tile/0/001.p/3", "tile/0/001.p/14", "tile/1/000.p/1"];
    let beyond =
        ["tile/0/001.p/15", "tile/entries/001.p/15", "tile/0/002.p/1", "tile/entries/003.p/2"];
    for name in torn {
        replace(&place.path().join(name), b"");
    }
    for name in beyond {
        crate::fixture::put(&place.path().join(name), b"torn");
    }
    let mut log = grown(place.path(), 270);
    let found = fsck(place.path(), &key).unwrap();
    assert!(found.faults.is_empty() && found.not_checked.is_empty(), "{found:?}");
    let prepared = log.prepare(&(270..290).map(entry).collect::<Vec<_>>()).unwrap();
    log.adopt(prepared).unwrap();
    let found = fsck(place.path(), &key).unwrap();
    assert!(found.faults.is_empty() && found.not_checked.is_empty(), "{found:?}");
}

#[test]
fn a_log_whose_edge_was_changed_is_not_opened() {
    for name in ["tile/entries/002.p/3", "tile/0/000", "tile/0/001", "checkpoint"] {
        let scratch = RecordScratch::in_memory();
        drop(grown(scratch.path(), 515));
        flip(&scratch.path().join(name));
        let opened = Log::open_or_create(scratch.path(), log_key());
        assert!(opened.is_err(), "{name}");
    }
    let scratch = RecordScratch::in_memory();
    drop(grown(scratch.path(), 2));
    fs::remove_file(scratch.path().join("checkpoint")).unwrap();
    let opened = Log::open_or_create(scratch.path(), log_key());
    assert!(matches!(opened, Err(LogError::Missing { .. })));
}

/// A truncated log continues from its older state. Only a saved checkpoint reveals it.
#[test]
fn a_truncated_log_contradicts_the_checkpoint_that_was_kept() {
    let (kept, scratch) = (RecordScratch::in_memory(), RecordScratch::in_memory());
    let saved = grown(kept.path(), 40).head().clone();
    drop(grown(scratch.path(), 30));
    let mut log = Log::open_or_create(scratch.path(), log_key()).unwrap();
    for number in 0..20 {
        log.append(format!("rewritten {number}").as_bytes()).unwrap();
    }
    let view = LogView::open(scratch.path(), log.key()).unwrap();
    let proof = view.consistency(40, 50).unwrap();
    assert!(!saved.grew_into(view.head(), &proof));
    assert!(!view.head().grew_into(&saved, &[]));
    assert!(matches!(view.consistency(51, 51), Err(LogError::NoSuchEntry { .. })));
}

#[test]
fn a_leaf_that_is_there_twice_is_found() {
    let scratch = RecordScratch::in_memory();
    let mut log = grown(scratch.path(), 800);
    // Older than the entries that appending remembers.
    log.append(&entry(3)).unwrap();
    let key = log.key().clone();
    drop(log);
    let faults = fsck(scratch.path(), &key).unwrap().faults;
    assert!(
        matches!(faults.as_slice(), [LogFsckProblem::Duplicate { first: 3, second: 800 }]),
        "{faults:?}"
    );
}

#[test]
fn an_entry_has_a_longest_length() {
    let scratch = RecordScratch::in_memory();
    let mut log = grown(scratch.path(), 0);
    let most = vec![7; records::log::ENTRY_BYTES_MAX];
    assert_eq!(log.append(&most).unwrap().index(), 0);
    assert!(matches!(log.append(&[&most[..], b"x"].concat()), Err(LogError::TooLarge { .. })));
    assert_eq!(log.append(b"").unwrap().index(), 1);
    let view = LogView::open(scratch.path(), log.key()).unwrap();
    assert_eq!(view.entry(0).unwrap().0, most);
    assert!(matches!(view.entry(2), Err(LogError::NoSuchEntry { index: 2, size: 2 })));
}

#[test]
fn a_log_is_named_by_a_bare_host_name() {
    for name in ["a", "toolexec.host1.example", "1-a.b"] {
        assert!(name.parse::<LogOrigin>().is_ok(), "{name}");
    }
    let long = ["a"; 128].join(".");
    for name in ["", "A.b", "a/b", "a:1", "a..b", ".a", "a.", "-a", "a-", "a b", "a+b", "é", &long]
    {
        assert!(name.parse::<LogOrigin>().is_err(), "{name}");
    }
}

#[test]
fn the_keys_of_log_and_results_lie_side_by_side() {
    let scratch = RecordScratch::in_memory();
    let dir = scratch.path().join("keys");
    let origin: LogOrigin = "toolexec.host1.example".parse().unwrap();
    let first = LogKey::open_or_create(&dir, &origin).unwrap();
    assert!(ResultKey::open_or_create(&dir).is_ok());
    let second = LogKey::open_or_create(&dir, &origin).unwrap();
    assert_eq!(first.public(), second.public());
    assert_eq!(LogKey::open(&dir, &origin).unwrap().public(), first.public());
    assert_eq!(&PublicLogKey::open(&dir).unwrap(), first.public());
    let other = LogKey::open_or_create(&dir, &"other.example".parse().unwrap());
    assert!(matches!(other, Err(HostKeyError::OtherKey { .. })));
    // Each key serves only its own purpose.
    replace(&dir.join("log"), &fs::read(dir.join("result")).unwrap());
    assert!(LogKey::open(&dir, &origin).is_err());
    let line = first.public().verifier_line();
    assert_eq!(PublicLogKey::from_verifier_line(&line).as_ref(), Some(first.public()));
    for changed in [line.replacen("toolexec", "toolexed", 1), line.replacen('+', "+0", 1)] {
        assert_eq!(PublicLogKey::from_verifier_line(&changed), None);
    }
}

/// Opens the log of a state directory and appends this many entries.
fn of_state(state: &Path, entries: u64) -> Log {
    let mut log = Log::open_or_create(LogLocation::of_state(state), log_key()).unwrap();
    for number in log.head().size()..entries {
        log.append(format!("entry {number}").as_bytes()).unwrap();
    }
    log
}

#[test]
fn a_log_that_was_lost_or_put_back_from_a_copy_is_not_begun_anew() {
    let scratch = RecordScratch::in_memory();
    let (log, aside) = (scratch.path().join("log"), scratch.path().join("aside"));
    drop(of_state(scratch.path(), 3));
    let copied = std::process::Command::new("cp").arg("-aT").args([&log, &aside]).status();
    assert!(copied.unwrap().success());
    drop(of_state(scratch.path(), 5));
    let refused = || {
        let error = Log::open_or_create(LogLocation::of_state(scratch.path()), log_key()).err();
        let Some(error @ LogError::Lost { .. }) = error else { panic!("{error:?}") };
        error.to_string()
    };
    // A deleted log.
    let grown = scratch.path().join("grown");
    rustix::fs::rename(&log, &grown).unwrap();
    let message = refused();
    assert!(
        message.contains("had 5 entries and is missing") && message.contains("log.head"),
        "{message}"
    );
    assert!(!log.exists(), "nothing was made in its place");
    // An older copy of the log.
    rustix::fs::rename(&aside, &log).unwrap();
    assert!(refused().contains("now has 3"));
    // Another log under the same key, of equal size and larger.
    for entries in [5, 7] {
        fs::remove_dir_all(&log).unwrap();
        let mut other = Log::open_or_create(&log, log_key()).unwrap();
        for number in 0..entries {
            other.append(format!("other {number}").as_bytes()).unwrap();
        }
        drop(other);
        assert!(refused().contains("does not begin with them"));
    }
    // The log put back, with an older head, as a power cut leaves it.
    fs::remove_dir_all(&log).unwrap();
    rustix::fs::rename(&grown, &log).unwrap();
    let head = scratch.path().join("log.head");
    let older = fs::read(&head).unwrap();
    drop(of_state(scratch.path(), 300));
    put_in_place(&head, &older);
    assert_eq!(of_state(scratch.path(), 0).head().size(), 300);
    let newest = fs::read(log.join("checkpoint")).unwrap();
    assert_eq!(fs::read(&head).unwrap(), newest, "it is brought up");
    // Accepted by hand.
    fs::remove_dir_all(&log).unwrap();
    fs::remove_file(&head).unwrap();
    assert_eq!(of_state(scratch.path(), 1).head().size(), 1);
}

fn put_in_place(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    put(path, bytes);
}

#[test]
fn a_wait_for_another_writer_has_an_end() {
    let scratch = RecordScratch::in_memory();
    let held = Log::open_or_create(scratch.path(), log_key()).unwrap();
    let wait = std::time::Duration::from_millis(100);
    let since = std::time::Instant::now();
    let second = Log::open_within(wait, scratch.path(), log_key());
    assert!(matches!(second, Err(LogError::Locked { .. })));
    assert!(since.elapsed() >= wait);
    let release = std::thread::spawn(move || {
        std::thread::sleep(wait);
        drop(held);
    });
    assert!(Log::open_within(wait * 100, scratch.path(), log_key()).is_ok());
    release.join().unwrap();
}
