//! Measures the cost of opening a ledger of a million lines: time, and resident memory per line.
//! `LINES=<n> cargo bench -p spool --bench ledger`.

#![allow(
    clippy::unwrap_used,
    reason = "a bench that cannot prepare fails, and prints what it measured"
)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use model::Sha256;
use spool::{Spool, SpoolPaths};

fn main() {
    let lines: u64 = std::env::var("LINES").map_or(1_000_000, |it| it.parse().unwrap());
    let state = std::env::temp_dir().join(format!("toolexec-ledger-{}", std::process::id()));
    fs::create_dir(&state).unwrap();
    let bytes = write_ledger(&state.join("ledger"), lines);
    let results = state.join("results");
    let log = state.join("log");
    let places = SpoolPaths { state: state.clone(), spool: state.clone(), results, log };
    let before = resident_kib();
    let begun = Instant::now();
    let spool = Spool::open_embedded(&places).unwrap();
    let opened = begun.elapsed();
    let held = resident_kib() - before;
    println!("{lines} lines, {bytes} bytes: opened in {opened:.2?}");
    println!("resident {held} KiB, {} bytes a line; most {} KiB", held * 1024 / lines, most_kib());
    look_up(&spool, lines);
    drop(spool);
    fs::remove_dir_all(&state).unwrap();
}

fn look_up(spool: &Spool, lines: u64) {
    const LOOKS: u64 = 10_000;
    let begun = Instant::now();
    for look in 0..LOOKS {
        let known = look * (lines / LOOKS);
        let id = id_of(known).parse().unwrap();
        assert!(spool.prior_run(&sha256_of(known), &id).unwrap().is_some());
        let id = id_of(lines + look).parse().unwrap();
        assert!(spool.prior_run(&sha256_of(lines + look), &id).unwrap().is_none());
    }
    println!("{:.2?} a look-up", begun.elapsed() / u32::try_from(2 * LOOKS).unwrap());
}

fn sha256_of(line: u64) -> Sha256 {
    Sha256::of(&line.to_be_bytes())
}

fn id_of(line: u64) -> String {
    format!("TR-20260209-160501Z-request-{line}")
}

fn write_ledger(path: &Path, lines: u64) -> u64 {
    let mut file = BufWriter::new(File::create(path).unwrap());
    for line in 0..lines {
        let (sha256, id) = (sha256_of(line), id_of(line));
        writeln!(
            file,
            "{{\"request_sha256\":\"{sha256}\",\"request_id\":\"{id}\",\
             \"result_id\":\"TS-20260209-170000Z-{id}\",\"claim\":\"{line:032x}\",\
             \"begun\":\"2026-02-09T17:00:00Z\",\"results\":\"/var/spool/toolexec/results\",\
             \"policy_name\":\"standard\",\"policy_sha256\":\"{sha256}\",\
             \"approval\":\"signed by alice@example.org\",\"hosts\":[]}}"
        )
        .unwrap();
    }
    file.flush().unwrap();
    fs::metadata(path).unwrap().len()
}

fn resident_kib() -> u64 {
    status("VmRSS:")
}

fn most_kib() -> u64 {
    status("VmHWM:")
}

fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
