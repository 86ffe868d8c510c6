//! Recovery on a real disk. The files that a killed daemon leaves at each point are finished,
//! abandoned, or left for the operator, and a second recovery changes nothing.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

#[path = "../../tests/src/skip.rs"]
mod skip;

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use model::{ClaimId, ResultId};
use spool::state::IllegalState;
use spool::{Claimed, Inbox, RecoveryReport, Spool, SpoolPaths, SpoolProblem};

const ID: &str = "TR-20260209-160501Z-crash";

static COUNT: AtomicU32 = AtomicU32::new(0);

struct RecoveryScene {
    top: PathBuf,
    places: SpoolPaths,
}

impl Drop for RecoveryScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl RecoveryScene {
    fn new() -> Self {
        let name = format!(
            "toolexec-recover-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let top = std::env::temp_dir().join(name);
        let spool = top.join("spool");
        fs::create_dir_all(spool.join("approved")).unwrap();
        let (results, log) = (spool.join("results"), spool.join("log"));
        let places = SpoolPaths { state: top.join("state"), results, log, spool };
        Self { top, places }
    }

    fn open(&self) -> Spool {
        Spool::open_for_daemon(&self.places).unwrap()
    }

    fn at(&self, place: &str) -> PathBuf {
        self.places.spool.join(place)
    }

    fn names(&self, place: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(place)).unwrap();
        let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn dropbox(&self) -> Inbox {
        Inbox::open(&self.at("approved")).unwrap()
    }

    /// Claims a request that was submitted with its inputs.
    fn claimed(&self, spool: &Spool) -> Claimed {
        let name = format!("{ID}.md");
        fs::write(self.at("approved").join(&name), "no request").unwrap();
        fs::create_dir(self.at("approved").join(format!("{ID}.inputs"))).unwrap();
        fs::write(self.at(&format!("approved/{ID}.inputs/data")), "data").unwrap();
        fs::write(self.at(&format!("approved/{name}.alice.sig")), "signature").unwrap();
        let dropbox = self.dropbox();
        let wanted = BTreeSet::from([name.clone()]);
        let beside = dropbox.sidecars_of(&wanted).unwrap().remove(&name).unwrap_or_default();
        spool.claim_submission(&dropbox, &name, &beside, claim_id()).unwrap().1
    }

    /// Makes an incomplete result, as a killed daemon leaves it.
    fn hidden(&self) {
        let hidden = self.at(&format!("results/.new-{}", result_id()));
        fs::create_dir_all(&hidden).unwrap();
        fs::write(hidden.join(format!("{}.md", result_id())), "record").unwrap();
    }

    fn published(&self) {
        self.hidden();
        let results = self.at("results");
        let hidden = results.join(format!(".new-{}", result_id()));
        fs::rename(hidden, results.join(result_id().as_str())).unwrap();
    }

    /// Recovers twice, and checks that the second time changes nothing.
    fn recovered(&self, whole: &str) -> RecoveryReport {
        let recover = || {
            self.open()
                .recover(&mut |hidden: &Path| {
                    Ok(fs::read_dir(hidden).unwrap().count() == 1 && whole == "whole")
                })
                .unwrap()
        };
        let first = recover();
        let before = tree(&self.top);
        let again = recover();
        assert_eq!(tree(&self.top), before);
        assert_eq!((again.completed.len(), &again.misplaced), (0, &first.misplaced));
        first
    }

    fn assert_quarantined(&self) {
        assert_eq!(self.names("work"), Vec::<String>::new());
        assert_eq!(self.names("approved"), Vec::<String>::new());
        assert_eq!(self.names("results"), [result_id().as_str()]);
        assert_eq!(self.names("quarantine"), [result_id().as_str()]);
        let report = self.at(&format!("quarantine/{}/report.md", result_id()));
        assert_eq!(fs::read_to_string(report).unwrap(), "record");
    }
}

fn claim_id() -> ClaimId {
    ClaimId::from_random(u128::from(COUNT.fetch_add(1, Ordering::Relaxed)).to_be_bytes())
}

fn result_id() -> ResultId {
    ResultId::for_request("2026-02-09T17:00:00Z".parse().unwrap(), &ID.parse().unwrap())
}

fn tree(top: &Path) -> Vec<(PathBuf, u64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(top).unwrap() {
        let path = entry.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        match found.is_dir() {
            true => all.extend(tree(&path)),
            false => all.push((path.clone(), found.len())),
        }
        all.push((path, 0));
    }
    all.sort();
    all
}

#[test]
fn a_refusal_that_was_published_is_archived_and_not_recorded_again() {
    let scene = RecoveryScene::new();
    let spool = scene.open();
    scene.claimed(&spool).note_result(&result_id()).unwrap();
    scene.published();
    drop(spool);
    assert!(scene.recovered("partial").unfinished.is_empty());
    scene.assert_quarantined();
    let inputs = scene.names(&format!("quarantine/{}/{ID}.inputs", result_id()));
    assert_eq!(inputs, ["data"], "the submitted inputs are kept");
}

#[test]
fn a_refusal_that_was_durable_gets_its_name() {
    let scene = RecoveryScene::new();
    let spool = scene.open();
    scene.claimed(&spool).note_result(&result_id()).unwrap();
    scene.hidden();
    drop(spool);
    assert_eq!(scene.recovered("whole").completed, [result_id()]);
    scene.assert_quarantined();
}

#[test]
fn a_refusal_that_was_not_durable_is_given_up() {
    for torn in ["whole note", "torn note"] {
        let scene = RecoveryScene::new();
        let spool = scene.open();
        let claimed = scene.claimed(&spool);
        claimed.note_result(&result_id()).unwrap();
        scene.hidden();
        if torn == "torn note" {
            let note = scene.at(&format!("work/{}/result.json", claimed.id().as_str()));
            fs::write(note, "").unwrap();
        }
        drop((spool, claimed));
        assert!(scene.recovered("partial").completed.is_empty());
        assert_eq!(scene.names("work"), Vec::<String>::new());
        assert_eq!(scene.names("results"), Vec::<String>::new());
        assert_eq!(scene.names("approved").len(), 3, "it is claimed anew: {torn}");
    }
}

#[test]
fn what_lies_beside_an_original_that_is_aside_goes_too() {
    let scene = RecoveryScene::new();
    let spool = scene.open();
    let claimed = scene.claimed(&spool);
    claimed.note_result(&result_id()).unwrap();
    scene.published();
    let aside = scene.at(&format!("work/{}/original.md", claimed.id().as_str()));
    fs::rename(scene.at(&format!("approved/{ID}.md")), aside).unwrap();
    drop((spool, claimed));
    assert!(scene.recovered("partial").misplaced.is_empty());
    scene.assert_quarantined();
}

#[test]
fn another_file_that_was_moved_aside_is_put_back() {
    let scene = RecoveryScene::new();
    let spool = scene.open();
    let claimed = scene.claimed(&spool);
    claimed.note_result(&result_id()).unwrap();
    scene.published();
    let aside = scene.at(&format!("work/{}/original.md", claimed.id().as_str()));
    fs::write(&aside, "a newer one").unwrap();
    fs::remove_file(scene.at(&format!("approved/{ID}.md"))).unwrap();
    drop((spool, claimed));
    assert!(scene.recovered("partial").misplaced.is_empty());
    let newer = fs::read_to_string(scene.at(&format!("approved/{ID}.md")));
    assert_eq!(newer.unwrap(), "a newer one");
}

#[test]
fn an_object_that_was_never_read_has_a_claim_of_its_own() {
    let scene = RecoveryScene::new();
    let spool = scene.open();
    let name = "TR-20260209-160501Z-link.md";
    symlink("/etc/passwd", scene.at("approved").join(name)).unwrap();
    let claimed = spool.claim_object(&scene.dropbox(), name, claim_id()).unwrap().unwrap();
    claimed.note_result(&result_id()).unwrap();
    scene.published();
    drop((spool, claimed));
    assert!(scene.recovered("partial").misplaced.is_empty());
    scene.assert_quarantined();
    let link = scene.at(&format!("quarantine/{}/{name}", result_id()));
    assert!(fs::symlink_metadata(link).unwrap().is_symlink(), "moved as it is");
}

#[test]
fn an_unexplained_state_is_left_as_it_is_and_found() {
    let scene = RecoveryScene::new();
    let spool = scene.open();
    let claimed = scene.claimed(&spool);
    claimed.note_result(&result_id()).unwrap();
    scene.published();
    scene.hidden();
    drop((spool, claimed));
    let found = scene.recovered("whole").misplaced;
    assert_eq!(found.iter().map(|one| one.illegal).collect::<Vec<_>>(), [IllegalState::TwoResults]);
    let seen = spool::check_spool(&scene.places, &mut |_| false);
    let illegal =
        |it: &spool::SpoolFinding| it.problem == SpoolProblem::Illegal(IllegalState::TwoResults);
    assert!(seen.findings.iter().any(illegal), "{:#?}", seen.findings);
}

#[test]
fn fsck_of_a_fresh_spool_finds_nothing_and_sees_the_daemon() {
    let scene = RecoveryScene::new();
    let spool = scene.open();
    let seen = spool::check_spool(&scene.places, &mut |_| true);
    assert_eq!(seen.findings, []);
    assert_eq!(seen.daemon, spool::DaemonPresence::Present);
    drop(spool);
    assert_eq!(
        spool::check_spool(&scene.places, &mut |_| true).daemon,
        spool::DaemonPresence::Absent
    );
}

#[test]
fn a_long_run_is_no_finding() {
    let scene = RecoveryScene::new();
    let spool = scene.open();
    let file = scene.at("approved").join(format!("{ID}.md"));
    fs::write(&file, "").unwrap();
    let old = SystemTime::now() - Duration::from_secs(3600);
    fs::File::open(&file).unwrap().set_modified(old).unwrap();
    let stale = || {
        let seen = spool::check_spool(&scene.places, &mut |_| true);
        let is_stale =
            |it: &spool::SpoolFinding| matches!(it.problem, SpoolProblem::StaleRequest { .. });
        seen.findings.iter().any(is_stale)
    };
    assert!(stale());
    let running = format!(
        "{{\"request_id\":\"{ID}\",\"since_utc\":\"2026-02-09T16:05:01Z\",\"step\":\"running\",\
         \"step_since_utc\":\"2026-02-09T16:05:02Z\",\"time_sec_max\":60,\
         \"memory_bytes_max\":1,\"submitter\":\"alice\"}}"
    );
    fs::create_dir_all(scene.at("public/running")).unwrap();
    fs::write(scene.at(&format!("public/running/{ID}.json")), running).unwrap();
    assert!(!stale());
    drop(spool);
    assert!(stale(), "no daemon runs it");
}

#[test]
fn fsck_finds_what_a_restored_ledger_does_not_know() {
    let scene = RecoveryScene::new();
    drop(scene.open());
    scene.published();
    let seen = spool::check_spool(&scene.places, &mut |_| true);
    assert_eq!(seen.findings.len(), 1, "{:#?}", seen.findings);
    assert_eq!(seen.findings[0].problem, SpoolProblem::NotInTheLedger);
    fs::write(scene.places.state.join("ledger"), "{}\n").unwrap();
    let seen = spool::check_spool(&scene.places, &mut |_| false);
    let troubles: Vec<_> = seen.findings.into_iter().map(|it| it.problem).collect();
    assert_eq!(troubles, [SpoolProblem::LedgerLine { line: 1 }]);
}

/// A directory in shared memory, removed when dropped.
struct SharedMemoryDir(PathBuf);

impl Drop for SharedMemoryDir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn what_cannot_be_taken_away_keeps_its_claim_and_is_not_taken_again() {
    let scene = RecoveryScene::new();
    // Nothing can be renamed into the spool from another file system.
    let elsewhere = Path::new("/dev/shm").join(scene.top.file_name().unwrap());
    match fs::create_dir(&elsewhere) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let test = "what_cannot_be_taken_away_keeps_its_claim_and_is_not_taken_again";
            return skip::skip(test, "no /dev/shm to drop things into");
        }
        made => made.unwrap(),
    }
    let elsewhere = SharedMemoryDir(elsewhere);
    let name = format!("{ID}.md");
    fs::write(elsewhere.0.join(&name), "no request").unwrap();
    let spool = scene.open();
    let dropbox = Inbox::open(&elsewhere.0).unwrap();
    let claimed = spool.claim_object(&dropbox, &name, claim_id()).unwrap().unwrap();
    claimed.note_result(&result_id()).unwrap();
    scene.published();
    drop((spool, claimed));
    for _ in 0..2 {
        let recovered = scene.open().recover(&mut |_| Ok(false)).unwrap();
        assert_eq!(recovered.left, [name.as_str()]);
        assert_eq!(scene.names("work").len(), 1);
    }
    drop(elsewhere);
    assert!(scene.recovered("partial").left.is_empty());
    scene.assert_quarantined();
}
