//! The cost of `toolexec run` by the size of an input and by the number of files in `/out`: `cargo
//! build --release --workspace && cargo bench -p toolexec-tests --bench growth`. Each round measures
//! every row once, because only ratios within one run are meaningful on a shared machine. `ROUNDS`
//! sets the number of rounds. Must leave nothing behind.

#![allow(clippy::unwrap_used, reason = "a bench that cannot run must stop")]

use std::process::Command;

use toolexec_tests::timing::{Times, env_number};
use toolexec_tests::{Bench, CliOutput, RequestText};

/// Sizes in KiB. The policy permits 1 GiB for all inputs together.
const INPUT_KIB: [usize; 4] = [1, 1 << 10, 32 << 10, 1000 << 10];
/// A policy permits 1,000 artifacts at most, so the output of the last row is rejected.
const FILES: [usize; 4] = [10, 100, 1000, 10_000];

fn main() {
    let rounds = env_number("ROUNDS", 5);
    let mut inputs = INPUT_KIB.map(|kib| (kib, Times::default(), Times::default()));
    let mut files = FILES.map(|count| (count, Times::default()));
    for _ in 0..rounds {
        // A new state for each round: it keeps the inputs.
        let bench = Bench::new();
        bench.run(&bench.save(&RequestText::python(""))).assert_code(0);
        for (kib, run, openssl) in &mut inputs {
            let request = bench.save(&RequestText::python("").input("big", vec![7; *kib << 10]));
            let hashed = request.inputs.join("big");
            openssl.add(
                CliOutput::of(Command::new("openssl").args(["dgst", "-sha256"]).arg(hashed))
                    .elapsed,
            );
            let output = bench.run(&request);
            output.assert_code(0);
            run.add(output.elapsed);
        }
        for (count, run) in &mut files {
            let script = format!("for i in range({count}): open(f'/out/{{i}}', 'w').write('x')");
            let output = bench.run(&bench.save(&RequestText::python(&script)));
            output.assert_code(i32::from(*count > 1000));
            run.add(output.elapsed);
        }
    }
    println!("{:<24} {:>10} {:>10}  more than the first, to openssl", "input", "ms", "openssl");
    let first = inputs[0].1.ms_at(50);
    for (kib, run, openssl) in &inputs {
        let (run, openssl) = (run.ms_at(50), openssl.ms_at(50));
        let name = format!("{kib} KiB");
        println!("{name:<24} {run:>10.1} {openssl:>10.1}  {:.2}", (run - first) / openssl);
    }
    println!("{:<24} {:>10}  more than the first, \u{b5}s a file", "files in /out", "ms");
    let first = files[0].1.ms_at(50);
    for (count, run) in &files {
        let run = run.ms_at(50);
        let name = format!("{count} files");
        let more = f64::from(u32::try_from(*count).unwrap());
        println!("{name:<24} {run:>10.1}  {:.1}", (run - first) * 1e3 / more);
    }
}
