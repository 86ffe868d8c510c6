//! The costs of verifying a tree of results: 10,000 small records with bundles and proofs, on one
//! thread. It prints a table that is valid only for this disk.
//!
//! `cargo bench -p records --bench verify [records]`; the records are below `TMPDIR`.

#![allow(clippy::unwrap_used, reason = "a bench that cannot prepare its case must stop")]

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../tests/records/fixture.rs"]
mod fixture;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fixture::{RecordCase, RecordScratch};
use records::log::{Log, LogKey, LogView, PublicLogKey};
use records::{CrossRecordCheck, History, PublicResultKey, ResultKey, Trust, attest, verify};

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let part = |n: i64| u64::try_from(n).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

fn log_key() -> LogKey {
    LogKey::from_seed("toolexec.host1.example".parse().unwrap(), &[42; 32])
}

/// Makes the tree, with a separate request for each record.
fn make(scratch: &RecordScratch, key: &ResultKey, count: u32) -> Vec<PathBuf> {
    let results = scratch.path().join("results");
    let mut log = Log::open_or_create(&scratch.path().join("log"), log_key()).unwrap();
    let record = |number| {
        let case = RecordCase::numbered(number);
        let attested = attest(&case.statement(), key).unwrap();
        let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
        let dir = case.publish_run(&results, attested.record());
        for (name, bytes) in attested.proofs(&inclusion).unwrap() {
            fixture::put(&dir.join(name), &bytes);
        }
        dir
    };
    (0..count).map(record).collect()
}

fn each(name: &str, dirs: &[PathBuf], trust: &Trust) {
    let (start, cpu) = (Instant::now(), cpu_time());
    let mut across = CrossRecordCheck::default();
    for (number, dir) in dirs.iter().enumerate() {
        let verified = verify(dir, trust).unwrap_or_else(|faults| panic!("{faults:?}"));
        let clashes = across.add(number, &verified);
        assert!(clashes.is_empty(), "{clashes:?}");
    }
    let (wall, cpu) = (start.elapsed(), cpu_time() - cpu);
    let count = f64::from(u32::try_from(dirs.len()).unwrap());
    println!(
        "{name:<40} {:>7.1} us wall {:>7.1} us CPU a record, {:>6.0} records/s",
        wall.as_secs_f64() * 1e6 / count,
        cpu.as_secs_f64() * 1e6 / count,
        count / wall.as_secs_f64()
    );
}

fn trust(key: &PublicResultKey, log: &PublicLogKey) -> Trust {
    Trust::from_key(key).with_logs(vec![log.clone()])
}

fn history(directory: &Path, log: &PublicLogKey) -> History {
    let view = LogView::open(directory, log).unwrap();
    let saved = view.head().clone();
    History::of(view, log.origin().clone(), Some((&saved, log.origin()))).unwrap()
}

fn main() {
    let count: u32 = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(10_000);
    let scratch = RecordScratch::new();
    let key = scratch.key("keys");
    let dirs = make(&scratch, &key, count);
    let (key, log) = (key.public(), log_key().public().clone());
    println!("{count} records, each of nine files");
    each("signature and files, no log", &dirs, &Trust::from_key(&key));
    each("with statement and proof", &dirs, &trust(&key, &log));
    let logged = trust(&key, &log).with_history(history(&scratch.path().join("log"), &log));
    each("with the log's growth", &dirs, &logged);
}
