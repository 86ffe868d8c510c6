//! Concurrent starts: bursts, and starts without a pause on as many threads as there are cores.
//! Ours and bare starts alternate, because the machine's speed changes from second to second.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use crate::bare::{Starter, spawn};
use crate::other_launchers::OtherLauncher;
use crate::sandboxes::SandboxBench;
use crate::table::{Bound, LaunchTimes, goal, heading, line, median};

const BURST: usize = 100;
const BURSTS: usize = 5;
/// The number of turns of each, and below it their length.
const TURNS: usize = 7;
const TURN: Duration = Duration::from_millis(1500);

/// Starts a hundred at the same moment, and times each from that moment.
pub(crate) fn bursts(sandboxes: &SandboxBench, tool: &Path, bwrap: Option<&OtherLauncher>) {
    let names = ["bare posix_spawn", "ours, ready sandboxes", "ours, cold sandboxes"];
    let mut rows: Vec<_> =
        names.iter().map(|name| (*name, LaunchTimes::default(), LaunchTimes::default())).collect();
    let spawned = bwrap.and_then(|bwrap| Some((bwrap.name, bwrap.spawns()?)));
    rows.extend(
        spawned.iter().map(|(name, _)| (*name, LaunchTimes::default(), LaunchTimes::default())),
    );
    for _ in 0..BURSTS {
        burst(&mut rows[0], |_| spawn(&mut Command::new(tool)));
        let ready: Vec<_> = (0..BURST).map(|_| Mutex::new(Some(sandboxes.prepare()))).collect();
        burst(&mut rows[1], |number| {
            let sandbox = ready[number].lock().unwrap().take().unwrap();
            sandboxes.run_ready(sandbox);
        });
        burst(&mut rows[2], |_| sandboxes.run_cold());
        if let Some((_, act)) = &spawned {
            burst(&mut rows[3], |_| act());
        }
    }
    heading(&format!("a burst of {BURST}, {BURSTS} times, microseconds"), "all, ms");
    for (name, each, all) in &rows {
        line(name, each, &format!("{:.0}", all.at(50) / 1000.0));
    }
}

fn burst((_, each, all): &mut (&str, LaunchTimes, LaunchTimes), act: impl Fn(usize) + Sync) {
    // All threads exist before the first one begins.
    let (there, done) = (Barrier::new(BURST + 1), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for number in 0..BURST {
            let (there, done, act) = (&there, &done, &act);
            scope.spawn(move || {
                there.wait();
                let begun = Instant::now();
                act(number);
                done.lock().unwrap().push((begun, Instant::now()));
            });
        }
        there.wait();
    });
    let done = done.into_inner().unwrap();
    let first = done.iter().map(|(begun, _)| *begun).min().unwrap();
    let times: Vec<_> = done.iter().map(|(_, ended)| *ended - first).collect();
    all.add(*times.iter().max().unwrap());
    each.extend(times);
}

/// Compares cold sandboxes with bare vfork and exec, on one and on two threads.
pub(crate) fn throughput(sandboxes: &SandboxBench, tool: &Path, starter: &Path) {
    for threads in [1, 2] {
        println!("\nstarts a second, {threads} at a time, {TURNS} turns of {TURN:?} each");
        println!("{:<14} {:>12} {:>12} {:>9}", "vfork and exec", "posix_spawn", "ours, cold", "");
        let mut bare: Vec<_> = (0..threads)
            .map(|_| Starter::new(Command::new(starter).arg("vfork").arg(tool)))
            .collect();
        let mut ratios = Vec::new();
        for _ in 0..TURNS {
            let vfork = rate_of_starters(&mut bare);
            let cold = rate(threads, || sandboxes.run_cold());
            let spawned = rate(threads, || spawn(&mut Command::new(tool)));
            println!("{vfork:>14.0} {spawned:>12.0} {cold:>12.0} {:>8.3}x", cold / vfork);
            ratios.push(cold / vfork);
        }
        let what = format!("cold starts, {threads} at a time, to vfork and exec: median");
        let ratio = median(ratios);
        if threads == 2 {
            goal(&what, ratio, Bound::AtLeast(0.2));
        } else {
            println!("{what:<60} {ratio:>6.2}");
        }
    }
}

fn rate_of_starters(starters: &mut [Starter]) -> f64 {
    let ms = u32::try_from(TURN.as_millis()).unwrap();
    starters.iter_mut().for_each(|starter| starter.ask(ms));
    let count: u64 = starters.iter_mut().map(Starter::answer).sum();
    count as f64 / TURN.as_secs_f64()
}

fn rate(threads: usize, act: impl Fn() + Sync) -> f64 {
    let (begun, done) = (Instant::now(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while begun.elapsed() < TURN {
                    act();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    done.into_inner() as f64 / begun.elapsed().as_secs_f64()
}
