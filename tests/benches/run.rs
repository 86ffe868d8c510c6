//! The time of `toolexec run` of an empty Python script, compared with bwrap and with the bare
//! interpreter: `cargo build --release --workspace && cargo bench -p toolexec-tests --bench run`.
//! Each round measures every row once, because only ratios within one run are meaningful on a
//! shared machine. `ROUNDS` sets the number of rounds. Must leave nothing behind.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot run must stop"
)]

use std::path::Path;
use std::process::Command;

use toolexec_tests::timing::{Times, env_number};
use toolexec_tests::{Bench, CliOutput, RequestText, skip};

/// The first rounds make the state and warm caches.
const WARM_UP: usize = 3;
const GOAL: f64 = 1.5;

fn main() {
    let python = ["/usr/local/bin/python3", "/usr/bin/python3"];
    let Some(python) = python.into_iter().find(|path| Path::new(path).exists()) else {
        return skip("bench run", "python3 is not installed");
    };
    if Command::new("bwrap").arg("--version").output().is_err() {
        return skip("bench run", "bwrap is not installed");
    }
    let rounds = env_number("ROUNDS", 30);
    let bench = Bench::new();
    let (inputs, outputs) = (bench.scratch().dir("in"), bench.scratch().dir("out"));
    std::fs::write(inputs.join("script.py"), "").unwrap();
    let mut bare = Command::new(python);
    bare.arg("-I").arg(inputs.join("script.py"));
    let mut rows = [
        ("toolexec run", Times::default()),
        ("bwrap", Times::default()),
        ("the bare interpreter", Times::default()),
    ];
    for round in 0..rounds + WARM_UP {
        let request = bench.save(&RequestText::python(""));
        let outputs = [
            bench.run(&request),
            CliOutput::of(&mut bwrap(python, &inputs, &outputs)),
            CliOutput::of(&mut bare),
        ];
        for ((_, times), output) in rows.iter_mut().zip(outputs) {
            output.assert_code(0);
            if round >= WARM_UP {
                times.add(output.elapsed);
            }
        }
    }
    print(&rows);
}

/// The same confinement as far as bwrap has it: it has no limits, Landlock or system call filter.
fn bwrap(python: &str, inputs: &Path, outputs: &Path) -> Command {
    let mut bwrap = Command::new("bwrap");
    bwrap.args(["--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"]);
    bwrap.args(["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"]);
    bwrap.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/in"]);
    bwrap.arg("--ro-bind").arg(inputs).arg("/in").arg("--bind").arg(outputs).arg("/out");
    bwrap.arg(python).args(["-I", "script.py"]);
    bwrap
}

fn print(rows: &[(&str, Times); 3]) {
    println!("{:<24} {:>8} {:>8} {:>8}  to bwrap", "milliseconds", "p50", "min", "max");
    let bwrap = rows[1].1.ms_at(50);
    for (name, times) in rows {
        let [p50, min, max] = [50, 0, 100].map(|percent| times.ms_at(percent));
        println!("{name:<24} {p50:>8.1} {min:>8.1} {max:>8.1}  {:.2}", p50 / bwrap);
    }
    let ratio = rows[0].1.ms_at(50) / bwrap;
    let verdict = if ratio <= GOAL { "met" } else { "MISSED" };
    println!("{ratio:.2} times bwrap; goal at most {GOAL}: {verdict}");
}
