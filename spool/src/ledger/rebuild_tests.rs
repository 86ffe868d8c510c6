//! The uses of standing approvals in a rebuilt ledger: none is lost, and none is counted twice.

#![allow(clippy::disallowed_methods, reason = "a test that cannot prepare its files must fail")]

use std::fs;
use std::path::{Path, PathBuf};

use model::{RequestId, Sha256, UtcTime};

use super::entry::LedgerNote;
use super::file::Ledger;
use super::standing::{StandingNote, StandingUseLine};
use super::{HEAD_FILE, Intent, LedgerOrder, RebuildSummary, RunFacts, rebuild_ledger, use_marks};
use crate::claim::note_intent;
use crate::paths::SpoolPaths;

const STANDING: &str = "aa";

struct RebuildScene {
    top: PathBuf,
    places: SpoolPaths,
}

impl Drop for RebuildScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

fn now() -> UtcTime {
    "2026-02-09T17:30:00Z".parse().unwrap()
}

fn id(number: u64) -> RequestId {
    format!("TR-20260209-160501Z-{number}").parse().unwrap()
}

fn sha256(number: u64) -> Sha256 {
    Sha256::of(&number.to_be_bytes())
}

/// Returns the line of the run that is this use.
fn used(number: u64) -> Intent {
    let id = id(number);
    Intent {
        request_sha256: sha256(number).to_string(),
        request_id: id.to_string(),
        result_id: format!("TS-20260209-1700{number:02}Z-{id}"),
        claim: format!("{number:032x}"),
        begun: format!("2026-02-09T17:00:{number:02}Z"),
        results: "/results".into(),
        policy_name: "embedded".to_owned(),
        policy_sha256: sha256(0).to_string(),
        approval: "none".to_owned(),
        hosts: None,
        backend: None,
        ais_nonce: None,
        standing: Some(StandingUseLine { sha256: STANDING.to_owned(), number }),
        replays: None,
    }
}

impl RebuildScene {
    fn new(name: &str) -> Self {
        let name = format!("toolexec-rebuild-{name}-{}", std::process::id());
        let top = std::env::temp_dir().join(name);
        let (spool, state) = (top.join("spool"), top.join("state"));
        fs::create_dir_all(&state).unwrap();
        for name in ["work", "archive", "results"] {
            fs::create_dir_all(spool.join(name)).unwrap();
        }
        let (results, log) = (spool.join("results"), spool.join("log"));
        Self { top, places: SpoolPaths { state, spool, results, log } }
    }

    fn publish(&self, intent: &Intent) {
        fs::create_dir(self.places.results.join(&intent.result_id)).unwrap();
    }

    /// Keeps the copy of the line in this directory of the spool, as a claim does.
    fn keep(&self, directory: &str, intent: &Intent) {
        let directory = self.places.spool.join(directory);
        fs::create_dir(&directory).unwrap();
        note_intent(&directory, intent).unwrap();
    }

    fn remove(&self, intents: &[Intent]) {
        let mark = |intent: &Intent| {
            let (id, digest) = (&intent.result_id, sha256(9));
            format!(
                "{{\"result_id\":\"{id}\",\"at\":\"2026-02-09T19:00:00Z\",\
                 \"record_sha256\":\"{digest}\"}}\n"
            )
        };
        let marks: String = intents.iter().map(mark).collect();
        fs::write(self.places.state.join("removed"), marks).unwrap();
    }

    fn write_ledger(&self, intents: &[Intent]) {
        let line = |intent: &Intent| format!("{}\n", serde_json::to_string(intent).unwrap());
        let lines: String = intents.iter().map(line).collect();
        fs::write(self.places.state.join("ledger"), lines).unwrap();
    }

    /// Rebuilds the ledger. Every published result is of a use.
    fn rebuild(&self) -> RebuildSummary {
        let mut facts = |result: &Path| {
            let number = result.to_str()?.rsplit('-').next()?.parse().ok()?;
            let intent = used(number);
            result.is_dir().then_some(RunFacts {
                request_id: intent.request_id,
                request_sha256: intent.request_sha256,
                standing: Some((STANDING.to_owned(), number)),
            })
        };
        let order = LedgerOrder { at: now(), by_uid: 0, by: None };
        rebuild_ledger(&self.places, &mut facts, order).unwrap()
    }

    fn open(&self) -> Ledger {
        let state = &self.places.state;
        Ledger::open(&state.join("ledger"), &state.join(HEAD_FILE), None).unwrap()
    }

    /// Returns the number of uses in all, and within an hour.
    fn uses(&self) -> (u64, u64) {
        let note = StandingNote {
            standing_id: "SA-20260209-160501Z-means".to_owned(),
            sha256: STANDING.to_owned(),
            at: now().to_string(),
            by: None,
        };
        let mut ledger = self.open();
        let note = LedgerNote::StandingAdmitted(note);
        ledger.with_lock(|ledger| ledger.append(&note)).unwrap();
        let uses = ledger.standing().uses(STANDING, now()).unwrap();
        (uses.uses, uses.uses_last_hour)
    }
}

#[test]
fn lines_after_a_damaged_part_are_kept() {
    let scene = RebuildScene::new("damaged");
    let intents: Vec<Intent> = (1..=2).map(used).collect();
    let lines: Vec<String> = intents.iter().map(|it| serde_json::to_string(it).unwrap()).collect();
    let zeros = "\0".repeat(3 << 20);
    let text = format!("{}\n{zeros}\n{}\n", lines[0], lines[1]);
    fs::write(scene.places.state.join("ledger"), text).unwrap();
    let done = scene.rebuild();
    assert_eq!(done.kept, 2);
    assert!(done.lost >= 1, "{}", done.lost);
}

#[test]
fn a_ledger_that_cannot_be_read_is_not_rebuilt_as_an_empty_one() {
    let scene = RebuildScene::new("unreadable");
    fs::create_dir(scene.places.state.join("ledger")).unwrap();
    let order = LedgerOrder { at: now(), by_uid: 0, by: None };
    assert!(rebuild_ledger(&scene.places, &mut |_| None, order).is_err());
}

#[test]
fn the_uses_of_removed_results_are_counted() {
    let scene = RebuildScene::new("removed");
    let intents: Vec<Intent> = (1..=4).map(used).collect();
    intents.iter().for_each(|intent| use_marks::mark(&scene.places.state, intent));
    scene.remove(&intents[..2]);
    scene.publish(&intents[2]);
    // The last result was removed by hand: only the mark of its use is left.
    assert_eq!(scene.rebuild().added, 3);
    assert_eq!(scene.uses(), (4, 4));
    let seen = |number| {
        let mut ledger = scene.open();
        ledger.with_lock(|ledger| ledger.look_up(&sha256(number), &id(number))).unwrap()
    };
    assert_eq!([1, 2, 3, 4].map(|number| seen(number).is_some()), [true, true, true, false]);
    // A second rebuild adds nothing.
    assert_eq!(scene.rebuild().added, 0);
    assert_eq!(scene.uses(), (4, 4));
}

#[test]
fn a_run_in_work_that_is_published_too_is_counted_once() {
    let scene = RebuildScene::new("twice");
    let intent = used(1);
    scene.keep(&format!("work/{}", intent.claim), &intent);
    scene.publish(&intent);
    assert_eq!(scene.rebuild().added, 1);
    assert_eq!(scene.uses(), (1, 1));
}

#[test]
fn a_line_that_comes_after_later_ones_is_counted_by_its_number() {
    let scene = RebuildScene::new("order");
    let intents: Vec<Intent> = (1..=4).map(used).collect();
    scene.write_ledger(&[used(1), used(4)]);
    scene.keep(&format!("archive/{}", intents[1].result_id), &intents[1]);
    use_marks::mark(&scene.places.state, &intents[2]);
    scene.publish(&intents[2]);
    let summary = scene.rebuild();
    assert_eq!((summary.kept, summary.added), (2, 2));
    assert_eq!(scene.uses(), (4, 4));
}

#[test]
fn a_record_without_a_mark_is_counted_by_its_number() {
    let scene = RebuildScene::new("records");
    (1..=8).map(used).for_each(|intent| use_marks::mark(&scene.places.state, &intent));
    // Run 8 has a mark and a record.
    (8..=10).map(used).for_each(|intent| scene.publish(&intent));
    assert_eq!(scene.rebuild().added, 3);
    assert_eq!(scene.uses(), (10, 10));
    // A second rebuild adds nothing.
    assert_eq!(scene.rebuild().added, 0);
    assert_eq!(scene.uses(), (10, 10));
}

#[test]
fn a_record_of_an_earlier_use_than_the_last_line_adds_none() {
    let scene = RebuildScene::new("earlier");
    scene.write_ledger(&[used(10)]);
    scene.publish(&used(9));
    assert_eq!(scene.rebuild().added, 1);
    assert_eq!(scene.uses(), (10, 2));
}

#[test]
fn a_torn_mark_hides_no_other() {
    let scene = RebuildScene::new("torn");
    let state = &scene.places.state;
    use_marks::mark(state, &used(1));
    let path = state.join("standing-uses");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [whole.as_slice(), b"{\"sha256\":\n"].concat()).unwrap();
    use_marks::mark(state, &used(3));
    let numbers: Vec<u64> = use_marks::read(state).unwrap().iter().map(|it| it.number).collect();
    assert_eq!(numbers, [1, 3]);
}
