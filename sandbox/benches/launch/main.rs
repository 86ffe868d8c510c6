//! The cost of a sandbox compared with bare exec and other launchers: `cargo bench -p sandbox
//! --bench launch`.
//!
//! The tool is one static program that does nothing. All rows of a table come from one interleaved
//! loop, because the machine is shared: ratios within one run are meaningful, absolute times are
//! not. Every figure of ours includes the round trip to the launcher. `ROUNDS` sets the number of
//! rounds, `PAUSE_MS` the pause before each start. Must leave nothing behind.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot run must stop"
)]

mod bare;
mod concurrency;
mod other_launchers;
mod sandboxes;
mod table;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bare::{Starter, compile, spawn};
use other_launchers::{OtherLauncher, Programs};
use sandboxes::{STEPS, SandboxBench, Steps};
use table::{Bound, LaunchTimes, Row, goal, heading, line, timed};

/// Enough for a whole burst of prewarmed sandboxes.
const MAX_SANDBOXES: u32 = 128;
/// The first rounds warm caches and are not counted.
const WARM_UP: usize = 10;

fn main() {
    let number = |name, shipped: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(shipped)
    };
    let rounds = usize::try_from(number("ROUNDS", 300)).unwrap();
    let pause = Duration::from_millis(number("PAUSE_MS", 5));
    // In memory: the cost of disks is not measured here.
    let name = format!("toolexec-launch-bench-{}", std::process::id());
    let top = Path::new("/dev/shm").join(&name);
    fs::create_dir_all(&top).unwrap();
    // A sandbox has its own /dev/shm and /tmp, where the working tree may be.
    let tools = Path::new("/var/tmp").join(&name);
    fs::create_dir_all(&tools).unwrap();
    let tool = compile(&tools, "true", "int main(void) { return 0; }\n");
    let starter = compile(&tools, "starter", include_str!("starter.c"));
    let sandboxes = SandboxBench::new(launcher_program(), &top, &tool, MAX_SANDBOXES);
    let programs = Programs { tool: &tool, starter: &starter, top: &top };
    let mut others = Vec::new();
    for (name, found) in OtherLauncher::all(&programs) {
        match found {
            Ok(other) => others.push(other),
            Err(why) => println!("{name}: skipped: {why}"),
        }
    }
    println!(
        "Ours: every layer, limits and self-probe; the way to the launcher and back, the result's \
         files\nand an empty /out are in the figures. Each start is left alone for {pause:?} first."
    );
    sequential(&sandboxes, &programs, &mut others, rounds, pause);
    let bwrap = others.iter().find(|other| other.name.starts_with("bwrap"));
    concurrency::bursts(&sandboxes, &tool, bwrap);
    concurrency::throughput(&sandboxes, &tool, &starter);
    drop((sandboxes, others));
    fs::remove_dir_all(&top).unwrap();
    fs::remove_dir_all(&tools).unwrap();
}

fn sequential(
    sandboxes: &SandboxBench,
    programs: &Programs<'_>,
    others: &mut [OtherLauncher],
    rounds: usize,
    pause: Duration,
) {
    let (tool, starter) = (programs.tool, programs.starter);
    let (ready_steps, cold_steps) = (RefCell::default(), RefCell::default());
    let (mut vfork, mut namespaces) =
        (start_by(starter, "vfork", tool), start_by(starter, "namespaces", tool));
    let mut rows = vec![
        Row::new("bare posix_spawn", 1, || timed(|| spawn(&mut Command::new(tool)))),
        Row::new("bare vfork and exec", 1, move || vfork.one()),
        Row::new("bare clone into new namespaces, exec", 1, move || namespaces.one()),
        Row::new("ours, ready sandbox: command to end", 1, || {
            let sandbox = sandboxes.prepare();
            std::thread::sleep(pause);
            in_steps(&ready_steps, || sandboxes.run_ready(sandbox))
        }),
        Row::new("ours, cold sandbox: spec to end", 1, || timed(|| sandboxes.run_cold())),
        Row::new("ours, cold sandbox, command after prepared", 1, || {
            in_steps(&cold_steps, || sandboxes.run_in_steps())
        }),
    ];
    for other in others {
        rows.push(Row::new(other.name, other.every, || other.one()));
    }
    interleave(&mut rows, rounds, pause);
    let p50 = |at: usize| rows[at].times.at(50);
    heading("one after the other, microseconds", "to bare");
    for row in &rows {
        line(&row.name, &row.times, &format!("{:.2}x", row.times.at(50) / p50(0)));
    }
    steps("a ready sandbox's steps, microseconds", &ready_steps.borrow());
    steps("a cold sandbox's steps, microseconds", &cold_steps.borrow());
    println!();
    goal("ready, p50, to bare posix_spawn", p50(3) / p50(0), Bound::AtMost(1.6));
    goal("cold, p50, to bare posix_spawn", p50(4) / p50(0), Bound::AtMost(3.0));
    if let Some(bwrap) = rows.iter().position(|row| row.name.starts_with("bwrap")) {
        goal("ready, p50, to bwrap", p50(3) / p50(bwrap), Bound::AtMost(0.4));
        goal("cold, p50, to bwrap", p50(4) / p50(bwrap), Bound::AtMost(0.4));
    }
}

/// Runs every row once a round, or less often, in another order each time.
fn interleave(rows: &mut [Row<'_>], rounds: usize, pause: Duration) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut random = 1;
    for round in 0..rounds + WARM_UP {
        shuffle(&mut order, &mut random);
        for row in &order {
            let row = &mut rows[*row];
            if round % row.every == 0 {
                // Lets the kernel and the launcher finish the cleanup of the previous start.
                std::thread::sleep(pause);
                let took = (row.run)();
                if round >= WARM_UP {
                    row.times.add(took);
                }
            }
        }
    }
}

fn start_by(starter: &Path, how: &str, tool: &Path) -> Starter {
    Starter::new(Command::new(starter).arg(how).arg(tool))
}

fn in_steps(kept: &RefCell<Vec<Steps>>, run: impl FnOnce() -> Steps) -> Duration {
    let mut steps = Steps::default();
    let took = timed(|| steps = run());
    kept.borrow_mut().push(steps);
    took
}

fn steps(what: &str, kept: &[Steps]) {
    heading(what, "");
    for (number, name) in STEPS.iter().enumerate() {
        let mut times = LaunchTimes::default();
        times.extend(kept.iter().skip(WARM_UP).map(|steps| steps[number]));
        if times.at(99) > 0.0 {
            line(name, &times, "");
        }
    }
}

/// Shuffles each round differently and each run equally: no row always follows the same one.
fn shuffle(order: &mut [usize], random: &mut u64) {
    for last in (1..order.len()).rev() {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let other = usize::try_from(*random >> 33).unwrap() % (last + 1);
        order.swap(last, other);
    }
}

/// Returns the launcher of the same build profile: benches are built beside the programs.
fn launcher_program() -> PathBuf {
    env!("CARGO_BIN_EXE_toolexec-launch").into()
}
