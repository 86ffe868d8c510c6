//! Keys that look alike, lines that are torn, too long or not ours, a file that somebody writes over.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail"
)]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use validator::{RequestId, Sha256};

use super::file::Ledger;
use super::lines::LINE_BYTES_MAX;
use super::{Intent, Seen};
use crate::error::SpoolError;

struct Desk(PathBuf);

impl Drop for Desk {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

impl Desk {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("toolexec-{name}-{}", std::process::id()));
        fs::create_dir(&top).unwrap();
        Self(top)
    }

    fn path(&self) -> PathBuf {
        self.0.join("ledger")
    }

    fn add(&self, bytes: &[u8]) {
        let mut file = OpenOptions::new().append(true).create(true).open(self.path()).unwrap();
        file.write_all(bytes).unwrap();
    }
}

fn id(number: u32) -> RequestId {
    format!("TR-20260209-160501Z-{number}").parse().unwrap()
}

fn sha256(number: u32) -> Sha256 {
    Sha256::of(&number.to_be_bytes())
}

fn intent(number: u32) -> Intent {
    let id = id(number);
    Intent {
        request_sha256: sha256(number).to_string(),
        request_id: id.to_string(),
        result_id: format!("TS-20260209-170000Z-{id}"),
        claim: format!("{number:032x}"),
        begun: format!("2026-02-09T17:00:{:02}Z", number % 60),
        results: "/results".into(),
        policy_name: "embedded".to_owned(),
        policy_sha256: sha256(0).to_string(),
        approval: "none".to_owned(),
        hosts: None,
        ais_nonce: None,
        replays: None,
    }
}

fn line(number: u32) -> Vec<u8> {
    let mut line = serde_json::to_vec(&intent(number)).unwrap();
    line.push(b'\n');
    line
}

fn seen(ledger: &mut Ledger, bytes: u32, named: u32) -> Option<Seen> {
    ledger.locked(|ledger| ledger.look_up(&sha256(bytes), &id(named))).unwrap()
}

fn open(path: &Path) -> Ledger {
    Ledger::open(path).unwrap()
}

#[test]
fn each_of_many_is_found_by_its_bytes_and_by_its_id_and_no_other() {
    let desk = Desk::new("ledger-many");
    desk.add(&(0..500).flat_map(line).collect::<Vec<_>>());
    let mut ledger = open(&desk.path());
    desk.add(&(500..600).flat_map(line).collect::<Vec<_>>());
    for number in 0..600 {
        let result_id = intent(number).result_id;
        let record = Path::new("/results").join(&result_id);
        let same = Seen::SameBytes { result_id: result_id.clone(), record: record.clone() };
        assert_eq!(seen(&mut ledger, number, 1000), Some(same));
        let same = Seen::SameId { result_id, record };
        assert_eq!(seen(&mut ledger, 1000, number), Some(same));
    }
    assert_eq!(seen(&mut ledger, 600, 600), None);
    assert_eq!(ledger.last_begun(), "2026-02-09T17:00:59Z".parse().ok());
}

#[test]
fn a_torn_last_line_is_cut_and_what_is_none_of_ours_stops_with_its_number() {
    let desk = Desk::new("ledger-torn");
    desk.add(&[line(0), line(1)].concat());
    let whole = fs::read(desk.path()).unwrap();
    desk.add(&line(2)[..40]);
    let mut ledger = open(&desk.path());
    assert_eq!(fs::read(desk.path()).unwrap(), whole);
    assert_eq!(seen(&mut ledger, 2, 2), None);
    desk.add(b"{}\n");
    let refused = ledger.locked(|ledger| ledger.look_up(&sha256(0), &id(0)));
    assert!(matches!(refused, Err(SpoolError::LedgerLine { line: 3, .. })), "{refused:?}");
    assert!(matches!(Ledger::open(&desk.path()), Err(SpoolError::LedgerLine { line: 3, .. })));
    fs::write(desk.path(), [whole.as_slice(), &vec![b'x'; LINE_BYTES_MAX]].concat()).unwrap();
    assert!(matches!(Ledger::open(&desk.path()), Err(SpoolError::LedgerLine { line: 3, .. })));
}

#[test]
fn who_writes_over_a_line_makes_nothing_unseen() {
    let desk = Desk::new("ledger-over");
    desk.add(&[line(100), line(200)].concat());
    let mut ledger = open(&desk.path());
    let refused =
        |ledger: &mut Ledger| ledger.locked(|ledger| ledger.look_up(&sha256(100), &id(9))).is_err();
    // Some of these look like the one that was there; of whole hashes one in millions would.
    let found = (101..141).filter(|number| {
        fs::write(desk.path(), [line(*number), line(200)].concat()).unwrap();
        refused(&mut ledger)
    });
    assert!(found.count() > 30);
    fs::write(desk.path(), &line(100)[..10]).unwrap();
    assert!(refused(&mut ledger));
}

#[test]
fn a_replay_uses_no_request_up_and_is_found_by_its_claim() {
    let desk = Desk::new("ledger-replay");
    let replays: crate::claim::Replayed =
        serde_json::from_value(serde_json::json!([intent(1).result_id, sha256(7).to_string()]))
            .unwrap();
    let again = Intent { replays: Some(replays), claim: "c".repeat(32), ..intent(1) };
    let mut text = serde_json::to_vec(&again).unwrap();
    text.push(b'\n');
    desk.add(&text);
    let mut ledger = open(&desk.path());
    assert_eq!(seen(&mut ledger, 1, 1), None);
    let claim = crate::claim::ClaimId::from_name(&"c".repeat(32)).unwrap();
    assert!(ledger.intent_of(&claim).unwrap().is_some());
    desk.add(&line(1));
    assert!(matches!(seen(&mut ledger, 1, 1), Some(Seen::SameBytes { .. })));
}
