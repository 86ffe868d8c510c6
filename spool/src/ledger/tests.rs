//! Colliding keys, lines that are torn, too long or invalid, and a file that is overwritten.

#![allow(clippy::disallowed_methods, reason = "a test that cannot prepare its files must fail")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use model::{RequestId, Sha256};

use super::file::Ledger;
use super::lines::LINE_BYTES_MAX;
use super::{HEAD_FILE, Intent, LedgerFault, PriorRun};
use crate::error::SpoolError;

struct LedgerTestDir(PathBuf);

impl Drop for LedgerTestDir {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

impl LedgerTestDir {
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
        backend: None,
        ais_nonce: None,
        standing: None,
        replays: None,
    }
}

fn line(number: u32) -> Vec<u8> {
    let mut line = serde_json::to_vec(&intent(number)).unwrap();
    line.push(b'\n');
    line
}

fn seen(ledger: &mut Ledger, bytes: u32, named: u32) -> Option<PriorRun> {
    ledger.with_lock(|ledger| ledger.look_up(&sha256(bytes), &id(named))).unwrap()
}

fn try_open(path: &Path) -> Result<Ledger, SpoolError> {
    Ledger::open(path, &path.with_file_name(HEAD_FILE), None)
}

fn open(path: &Path) -> Ledger {
    try_open(path).unwrap()
}

#[test]
fn only_a_further_backend_is_in_the_line() {
    let confined = String::from_utf8(line(1)).unwrap();
    assert!(!confined.contains("backend"), "{confined}");
    assert_eq!(serde_json::from_str::<Intent>(&confined).unwrap().backend, None);
    let monty = Intent { backend: Some("monty".to_owned()), ..intent(1) };
    let monty = serde_json::to_string(&monty).unwrap();
    assert_eq!(serde_json::from_str::<Intent>(&monty).unwrap().backend.unwrap(), "monty");
}

#[test]
fn each_of_many_is_found_by_its_bytes_and_by_its_id_and_no_other() {
    let dir = LedgerTestDir::new("ledger-many");
    dir.add(&(0..500).flat_map(line).collect::<Vec<_>>());
    let mut ledger = open(&dir.path());
    dir.add(&(500..600).flat_map(line).collect::<Vec<_>>());
    for number in 0..600 {
        let result_id = intent(number).result_id;
        let record = Path::new("/results").join(&result_id);
        let same = PriorRun::SameBytes { result_id: result_id.clone(), record: record.clone() };
        assert_eq!(seen(&mut ledger, number, 1000), Some(same));
        let same = PriorRun::SameId { result_id, record };
        assert_eq!(seen(&mut ledger, 1000, number), Some(same));
    }
    assert_eq!(seen(&mut ledger, 600, 600), None);
    assert_eq!(ledger.last_begun(), "2026-02-09T17:00:59Z".parse().ok());
}

#[test]
fn a_torn_last_line_is_cut_and_what_is_none_of_ours_stops_with_its_number() {
    let dir = LedgerTestDir::new("ledger-torn");
    dir.add(&[line(0), line(1)].concat());
    let whole = fs::read(dir.path()).unwrap();
    dir.add(&line(2)[..40]);
    let mut ledger = open(&dir.path());
    assert_eq!(fs::read(dir.path()).unwrap(), whole);
    assert_eq!(seen(&mut ledger, 2, 2), None);
    dir.add(b"{}\n");
    let refused = ledger.with_lock(|ledger| ledger.look_up(&sha256(0), &id(0)));
    assert!(matches!(refused, Err(SpoolError::LedgerLine { line: 3, .. })), "{refused:?}");
    assert!(matches!(try_open(&dir.path()), Err(SpoolError::LedgerLine { line: 3, .. })));
    fs::write(dir.path(), [whole.as_slice(), &vec![b'x'; LINE_BYTES_MAX]].concat()).unwrap();
    assert!(matches!(try_open(&dir.path()), Err(SpoolError::LedgerLine { line: 3, .. })));
}

#[test]
fn who_writes_over_a_line_makes_nothing_unseen() {
    let dir = LedgerTestDir::new("ledger-over");
    dir.add(&[line(100), line(200)].concat());
    let mut ledger = open(&dir.path());
    let refused = |ledger: &mut Ledger| {
        ledger.with_lock(|ledger| ledger.look_up(&sha256(100), &id(9))).is_err()
    };
    // With the short hash of tests some of these collide; with whole hashes one in millions would.
    let found = (101..141).filter(|number| {
        fs::write(dir.path(), [line(*number), line(200)].concat()).unwrap();
        refused(&mut ledger)
    });
    assert!(found.count() > 30);
    fs::write(dir.path(), &line(100)[..10]).unwrap();
    assert!(refused(&mut ledger));
}

#[test]
fn a_replay_uses_no_request_up_and_is_found_by_its_claim() {
    let dir = LedgerTestDir::new("ledger-replay");
    let replays: crate::claim::ReplaySource =
        serde_json::from_value(serde_json::json!([intent(1).result_id, sha256(7).to_string()]))
            .unwrap();
    let again = Intent { replays: Some(replays), claim: "c".repeat(32), ..intent(1) };
    let mut text = serde_json::to_vec(&again).unwrap();
    text.push(b'\n');
    dir.add(&text);
    let mut ledger = open(&dir.path());
    assert_eq!(seen(&mut ledger, 1, 1), None);
    let claim = model::ClaimId::from_name(&"c".repeat(32)).unwrap();
    assert!(ledger.intent_of(&claim).unwrap().is_some());
    dir.add(&line(1));
    assert!(matches!(seen(&mut ledger, 1, 1), Some(PriorRun::SameBytes { .. })));
}

/// Appends a line as the daemon does, and records it as durable.
fn begin(ledger: &mut Ledger, number: u32) {
    let to = ledger.with_lock(|ledger| ledger.append(&intent(number))).unwrap();
    ledger.note_durable(to).unwrap();
}

fn fault(path: &Path) -> LedgerFault {
    match try_open(path) {
        Err(SpoolError::Ledger { fault, .. }) => fault,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was opened"),
    }
}

#[test]
fn a_ledger_of_before_is_read_and_its_lines_are_covered_from_then_on() {
    let dir = LedgerTestDir::new("ledger-before");
    dir.add(&[line(0), line(1)].concat());
    let mut ledger = open(&dir.path());
    begin(&mut ledger, 2);
    drop(ledger);
    let mut ledger = open(&dir.path());
    for number in 0..3 {
        assert!(seen(&mut ledger, number, 9).is_some());
    }
    drop(ledger);
    let good = fs::read(dir.path()).unwrap();
    let changed = String::from_utf8(good).unwrap().replacen("-0\",", "-7\",", 1);
    fs::write(dir.path(), changed).unwrap();
    assert_eq!(fault(&dir.path()), LedgerFault::Checksum { line: 3 });
}

#[test]
fn no_flipped_bit_of_a_ledger_passes() {
    let dir = LedgerTestDir::new("ledger-bits");
    let mut ledger = open(&dir.path());
    (0..3).for_each(|number| begin(&mut ledger, number));
    drop(ledger);
    let good = fs::read(dir.path()).unwrap();
    for bit in 0..good.len() * 8 {
        let mut flipped = good.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(dir.path(), &flipped).unwrap();
        assert!(super::scan::entries(&dir.0, &mut |_| {}).is_err(), "bit {bit}, from outside");
        // Opening a ledger syncs its directory.
        if bit % 61 == 0 {
            assert!(try_open(&dir.path()).is_err(), "bit {bit}");
            let left = fs::read(dir.path()).unwrap();
            assert_eq!(left, flipped, "a damaged ledger is left as it is");
        }
    }
    fs::write(dir.path(), &good).unwrap();
    open(&dir.path());
}

#[test]
fn a_ledger_that_was_removed_or_cut_or_replaced_is_not_gone_on_with() {
    let dir = LedgerTestDir::new("ledger-lost");
    let mut ledger = open(&dir.path());
    begin(&mut ledger, 0);
    let older = fs::read(dir.path()).unwrap();
    begin(&mut ledger, 1);
    drop(ledger);
    let good = fs::read(dir.path()).unwrap();
    let head_bytes = u64::try_from(good.len()).unwrap();
    let head = fs::read(dir.0.join(HEAD_FILE)).unwrap();
    for length in [0, 1, older.len(), good.len() - 1] {
        fs::write(dir.path(), &good[..length]).unwrap();
        assert!(matches!(fault(&dir.path()), LedgerFault::Truncated { .. }), "{length} bytes");
        assert_eq!(fs::read(dir.path()).unwrap().len(), length, "it was cut further");
    }
    let another = LedgerTestDir::new("ledger-another");
    let mut other = open(&another.path());
    (5..9).for_each(|number| begin(&mut other, number));
    fs::copy(another.path(), dir.path()).unwrap();
    assert_eq!(fault(&dir.path()), LedgerFault::Different { head_bytes });
    fs::remove_file(dir.path()).unwrap();
    assert!(matches!(fault(&dir.path()), LedgerFault::Missing { .. }));
    assert!(!dir.path().exists(), "an empty one was made in its place");
    fs::write(dir.path(), &good).unwrap();
    fs::remove_file(dir.0.join(HEAD_FILE)).unwrap();
    assert_eq!(fault(&dir.path()), LedgerFault::NoHead);
    fs::write(dir.0.join(HEAD_FILE), &head).unwrap();
    open(&dir.path());
}

/// As in a state directory that the user may not enter.
#[test]
fn a_ledger_that_cannot_be_looked_up_is_not_taken_for_missing() {
    let dir = LedgerTestDir::new("ledger-hidden");
    std::os::unix::fs::symlink("ledger", dir.path()).unwrap();
    let opened = Ledger::open(&dir.path(), &dir.0.join(HEAD_FILE), Some(dir.0.join("log")));
    assert!(matches!(opened, Err(SpoolError::Io { act: "look up", .. })), "{:?}", opened.err());
}

#[test]
fn what_a_crash_leaves_of_ledger_and_head_is_gone_on_with() {
    let dir = LedgerTestDir::new("ledger-crash");
    let mut ledger = open(&dir.path());
    begin(&mut ledger, 0);
    let head = fs::read(dir.0.join(HEAD_FILE)).unwrap();
    begin(&mut ledger, 1);
    drop(ledger);
    // The head has two slots: a torn write leaves the previous one.
    let newest = fs::read(dir.0.join(HEAD_FILE)).unwrap();
    let slot = newest.len() / 2;
    for torn in 0..slot {
        let changed = if newest[..slot] == head[..slot.min(head.len())] { slot } else { 0 };
        let mut half = newest.clone();
        half[changed + torn..changed + slot].fill(0);
        fs::write(dir.0.join(HEAD_FILE), half).unwrap();
        assert!(seen(&mut open(&dir.path()), 1, 9).is_some(), "torn after {torn}");
    }
    // An older head, and a line that was being written.
    fs::write(dir.0.join(HEAD_FILE), &head).unwrap();
    let good = fs::read(dir.path()).unwrap();
    dir.add(&line(2)[..50]);
    let mut ledger = open(&dir.path());
    assert!(seen(&mut ledger, 1, 9).is_some());
    assert_eq!(fs::read(dir.path()).unwrap(), good);
    begin(&mut ledger, 2);
    drop(ledger);
    open(&dir.path());
}

#[test]
fn a_claim_whose_tool_was_never_started_uses_nothing_up() {
    let dir = LedgerTestDir::new("ledger-not-started");
    let mut ledger = open(&dir.path());
    let nonce = Some("n".to_owned());
    let first = Intent { ais_nonce: nonce.clone(), ..intent(1) };
    let note = |ledger: &mut Ledger, claim: &str| {
        let note = super::entry::LedgerNote::NotStarted { claim: claim.to_owned() };
        ledger.with_lock(|ledger| ledger.append(&note)).unwrap();
    };
    ledger.with_lock(|ledger| ledger.append(&first)).unwrap();
    assert!(seen(&mut ledger, 1, 1).is_some() && ledger.nonces().contains("n"));
    note(&mut ledger, &first.claim);
    assert!(seen(&mut ledger, 1, 1).is_none() && ledger.nonces().is_empty());
    let second = Intent { claim: "d".repeat(32), ais_nonce: nonce, ..intent(1) };
    ledger.with_lock(|ledger| ledger.append(&second)).unwrap();
    // A repeated note for the first claim does not affect the second.
    note(&mut ledger, &first.claim);
    assert!(seen(&mut ledger, 1, 1).is_some() && ledger.nonces().contains("n"));
    drop(ledger);
    let mut ledger = open(&dir.path());
    assert!(seen(&mut ledger, 1, 1).is_some() && ledger.nonces().contains("n"));
}
