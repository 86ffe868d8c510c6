//! Measures the cost of staging compared with hashing alone: `cargo bench -p spool --bench stage`.
//! The input is one file of 1 GiB. All rows come from one interleaved loop, because the machine is
//! shared: only the ratios within one run are meaningful, not the times. `MIB` and `ROUNDS` in the
//! environment change the size and the number of rounds.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot run must stop"
)]

#[path = "../tests/scene/mod.rs"]
mod scene;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use model::{Sha256, Sha256Stream};
use scene::{SpoolScene, staged_file};

const MIB: u64 = 1024;
const ROUNDS: u64 = 5;

fn main() {
    let number = |name, shipped| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(shipped)
    };
    let scene = SpoolScene::new();
    let spool = scene.spool();
    write_input(&scene.input(), number("MIB", MIB));
    let sha256 = hash_alone(&scene.input());
    let mut rows =
        ["openssl dgst -sha256", "hashing alone, our library", "staged, new", "staged, seen"]
            .map(|name| (name, Vec::new()));
    for _ in 0..number("ROUNDS", ROUNDS) {
        rows[0].1.push(timed(|| openssl(&scene.input(), &sha256)));
        rows[1].1.push(timed(|| assert_eq!(hash_alone(&scene.input()), sha256)));
        let stored = scene.stored(&sha256);
        if stored.exists() {
            fs::remove_file(&stored).unwrap();
        }
        for row in [2, 3] {
            let (approved, claimed) = scene.claim(&spool, &sha256);
            let mut staged = None;
            rows[row].1.push(timed(|| staged = spool.stage(approved, claimed).ok()));
            let staged = staged.expect("the input is what was approved");
            // In both cases one link in the store and one in the slot.
            let file = staged_file(&spool, &staged);
            assert_eq!(fs::metadata(file).unwrap().nlink(), 2);
            spool.abandon(staged.into_parts().1);
        }
    }
    print(&mut rows);
}

fn print(rows: &mut [(&str, Vec<Duration>)]) {
    println!("{:<30} {:>9} {:>9} {:>9}  ratio of medians", "", "min", "median", "max");
    let mut first = None;
    for (name, times) in rows {
        times.sort();
        let (least, most) = (times[0], times[times.len() - 1]);
        let median = times[times.len() / 2];
        let beside = median.as_secs_f64() / first.get_or_insert(median).as_secs_f64();
        println!("{name:<30} {least:>9.3?} {median:>9.3?} {most:>9.3?}  {beside:.2}");
    }
}

fn timed(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

/// Writes a file without repeated buffers. It is read once, so that all rows find it in the cache.
fn write_input(path: &Path, mib: u64) {
    let mut file = File::create(path).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..mib {
        let mut block = Vec::with_capacity(1 << 20);
        while block.len() < 1 << 20 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            block.extend_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block).unwrap();
    }
    file.sync_all().unwrap();
}

fn hash_alone(path: &Path) -> Sha256 {
    let mut file = File::open(path).unwrap();
    let (mut hash, mut buffer) = (Sha256Stream::new(), vec![0; 256 * 1024]);
    loop {
        let len = file.read(&mut buffer).unwrap();
        if len == 0 {
            return hash.finish();
        }
        hash.update(&buffer[..len]);
    }
}

fn openssl(path: &Path, sha256: &Sha256) {
    let output = Command::new("openssl").args(["dgst", "-sha256"]).arg(path).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains(&sha256.to_string()));
}
