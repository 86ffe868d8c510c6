//! The side of a witness: its key, its cosignatures as other implementations read them, and its
//! decisions. Every log that grows is cosigned, and no fork of it.

mod cosignature;
mod growth;
mod key_file;
mod refusals;

use model::UtcTime;
use records::base64;
use records::log::{Log, LogKey, LogOrigin, LogView, WitnessKey, WitnessSigner, WitnessedLog};

use crate::fixture::{RecordScratch, at};
use crate::log::{entry, log_key};

/// The first key of RFC 8032, 7.1.
const SEED: [u8; 32] = [
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
    0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
];
const PUBLIC: &str = "host-b-witness+655e2843+BNdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
const TIME: &str = "2026-11-21T10:48:00Z";

fn origin(name: &str) -> LogOrigin {
    name.parse().unwrap()
}

fn signer() -> WitnessSigner {
    WitnessSigner::from_seed(&origin("host-b"), &SEED)
}

fn reader() -> WitnessKey {
    WitnessKey::from_verifier_line(PUBLIC).unwrap()
}

fn time() -> UtcTime {
    at(TIME)
}

fn unseen() -> WitnessedLog {
    WitnessedLog::unseen(log_key().public().origin())
}

/// A log with its checkpoint at each of its sizes.
struct GrownLog {
    /// The number of first entries that it shares with the other logs here.
    prefix: u64,
    view: LogView,
    notes: Vec<String>,
    _scratch: RecordScratch,
}

impl GrownLog {
    fn new(prefix: u64, size: u64) -> Self {
        let scratch = RecordScratch::in_memory();
        let log = Log::open_or_create(scratch.path(), log_key()).unwrap();
        Self::grown(scratch, log, prefix, size)
    }

    fn grown(scratch: RecordScratch, mut log: Log, prefix: u64, size: u64) -> Self {
        let mut notes = vec![log.head().note().to_owned()];
        for number in 0..size {
            let other = || format!("another entry {number}").into_bytes();
            let bytes = if number < prefix { entry(number) } else { other() };
            log.append(&bytes).unwrap();
            notes.push(log.head().note().to_owned());
        }
        let view = LogView::open(scratch.path(), log.key()).unwrap();
        Self { prefix, view, notes, _scratch: scratch }
    }

    /// Returns a log of another name or key.
    fn of_key(key: LogKey, size: u64) -> Self {
        let scratch = RecordScratch::in_memory();
        let log = Log::open_or_create(scratch.path(), key).unwrap();
        Self::grown(scratch, log, size, size)
    }

    fn note(&self, size: u64) -> &str {
        &self.notes[usize::try_from(size).unwrap()]
    }

    fn proof(&self, old: u64, size: u64) -> Vec<String> {
        let proof = self.view.consistency(old, size).unwrap();
        proof.iter().map(|hash| base64::encode(hash.as_bytes())).collect()
    }

    fn body(&self, old: u64, size: u64) -> String {
        body(old, &self.proof(old, size), self.note(size))
    }

    /// Returns the state of a witness that cosigned this size.
    fn cosigned(&self, size: u64) -> WitnessedLog {
        WitnessedLog::of_kept(self.note(size)).unwrap()
    }
}

fn body(old: u64, proof: &[String], note: &str) -> String {
    let lines: String = proof.iter().map(|line| format!("{line}\n")).collect();
    format!("old {old}\n{lines}\n{note}")
}
