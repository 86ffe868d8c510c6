//! The costs of a record: signing, log, proof and verification, and appending by the size of the
//! log. It prints a table that is valid only for this disk.
//!
//! `cargo bench -p records --bench attest [entries]`; the log and a copy of it are below `TMPDIR`.

#![allow(clippy::unwrap_used, reason = "a bench that cannot prepare its case must stop")]

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../tests/records/fixture.rs"]
mod fixture;

use std::fs::File;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use fixture::{RecordCase, RecordScratch};
use records::log::{Log, LogKey, LogLocation, LogView, PublicLogKey, fsck};
use records::{Trust, attest, sign, verify_bundle, verify_gathered};

/// The number of turns of a row, if `ROUNDS` of the environment does not set it.
const ROUNDS: u32 = 500;

fn each(name: &str, rounds: u32, mut act: impl FnMut()) {
    let (start, cpu) = (Instant::now(), cpu_time());
    (0..rounds).for_each(|_| act());
    let (wall, cpu) = (start.elapsed() / rounds, (cpu_time() - cpu) / rounds);
    println!("{name:<44} {:>9.1} us wall {:>9.1} us CPU", us(wall), us(cpu));
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let part = |n: i64| u64::try_from(n).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

fn log_key() -> LogKey {
    LogKey::from_seed("toolexec.host1.example".parse().unwrap(), &[42; 32])
}

fn main() {
    let entries: u32 = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(20_000);
    let rounds = rounds();
    let scratch = RecordScratch::new();
    let (case, key) = (RecordCase::plain(), scratch.key("keys"));
    let statement = case.statement();
    each("Markdown and SSHSIG", rounds, || drop(sign(&statement, &key).unwrap()));
    each("the same, statement and DSSE", rounds, || drop(attest(&statement, &key).unwrap()));
    let mut log = Log::open_or_create(LogLocation::of_state(scratch.path()), log_key()).unwrap();
    let attested = attest(&statement, &key).unwrap();
    let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
    each("bundle and .tlog-proof", rounds, || drop(attested.proofs(&inclusion).unwrap()));
    let gathered = case.publish_run(&scratch.path().join("gathered"), attested.record());
    let (gathered, trust) = (File::open(gathered).unwrap(), Trust::from_key(&key.public()));
    each("check of a gathered record", rounds, || {
        drop(verify_gathered(gathered.as_fd(), &attested, &trust).unwrap());
    });
    let bundle = attested.envelope().bundle(&inclusion).unwrap();
    let (result, public) = (key.public(), log.key().clone());
    each("check of a bundle", rounds, || drop(verify_bundle(&bundle, &result, &public).unwrap()));
    let entry = attested.envelope().log_entry();
    let mut number = 0_u64;
    let tenth = (entries / 10).max(1);
    for part in 1..=10 {
        each(&format!("append with proof, to {} entries", part * tenth), tenth, || {
            // As long as a real entry.
            let mut entry = entry.clone();
            entry.extend(number.to_string().bytes());
            number += 1;
            log.append(&entry).unwrap();
        });
    }
    for batch in [1, 8, 64] {
        let (mut prepared, mut adopted) = (Duration::ZERO, Duration::ZERO);
        let (batches, batch) = (4096 / batch, u64::from(batch));
        for _ in 0..batches {
            let entries: Vec<Vec<u8>> = (number..number + batch)
                .map(|number| [&entry[..], number.to_string().as_bytes()].concat())
                .collect();
            number += batch;
            let start = Instant::now();
            let next = log.prepare(&entries).unwrap();
            prepared += start.elapsed();
            let start = Instant::now();
            log.adopt(next).unwrap();
            adopted += start.elapsed();
        }
        let entries = batches * u32::try_from(batch).unwrap();
        let (prepared, adopted) = (us(prepared / entries), us(adopted / entries));
        let name = format!("unsynced, in batches of {batch}, each entry");
        println!("{name:<44} {prepared:>9.1} us prepare {adopted:>7.1} us adopt");
    }
    drop(log);
    read(&scratch, &public);
}

fn rounds() -> u32 {
    std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS)
}

fn read(scratch: &RecordScratch, public: &PublicLogKey) {
    let rounds = rounds();
    let directory = scratch.path().join("log");
    let view = LogView::open(&directory, public).unwrap();
    let size = view.head().size();
    let mut index = 0;
    let mut next = || {
        index = (index * 25_214_903 + 11) % size;
        index
    };
    each("proof of any entry, from the files", rounds, || drop(view.entry(next()).unwrap()));
    each("consistency from any size", rounds, || drop(view.consistency(next(), size).unwrap()));
    each("opening the log to append", 20, || {
        drop(Log::open_or_create(&directory, log_key()).unwrap());
    });
    each("opening the log to read", 20, || drop(LogView::open(&directory, public).unwrap()));
    each("search for a heartbeat that never was", 1, || {
        assert_eq!(view.latest_heartbeat().unwrap(), None);
    });
    each("fsck of every entry and tile", 1, || {
        assert!(fsck(&directory, public).unwrap().faults.is_empty())
    });
    let copy = scratch.path().join("copy");
    each("copy of all", 1, || {
        println!("{:?}", view.export(&copy, std::slice::from_ref(public)).unwrap())
    });
    let mut log = Log::open_or_create(&directory, log_key()).unwrap();
    for number in 0..100_u64 {
        log.append(format!("one more {number}").as_bytes()).unwrap();
    }
    let view = LogView::open(&directory, public).unwrap();
    each("copy of 100 more", 1, || {
        println!("{:?}", view.export(&copy, std::slice::from_ref(public)).unwrap())
    });
}
