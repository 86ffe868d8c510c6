//! The time from an approved file to its published, signed and durable record: `cargo build
//! --release --workspace && cargo bench -p toolexec-tests --bench pipeline`. The tool is a static
//! program that does nothing. Each round measures every row once, so that the ratios hold on a
//! shared machine; absolute times do not. The script `by_hand.sh`, as a careful user would write
//! it, runs on the same disk for comparison.
//!
//! Environment: `ROUNDS`, `COLD_US` (the time of a cold sandbox; default: measured by `cargo bench
//! -p sandbox --bench launch`), `TOOLEXEC_PROOF_CONFIG` (more lines of configuration). Must leave
//! nothing behind, and never measure its own preparation.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench that cannot run must stop"
)]

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use toolexec_tests::crash_support::{
    CountedTool, SocketLauncher, configure_for_crash_tests, count_calls, signal_tracee,
    strace_command, strace_works,
};
use toolexec_tests::timing::{PreparedRequests, Times, env_number};
use toolexec_tests::{Bench, Service, SmallDisk, list, workspace};

const BURST: usize = 100;
const SYNCS: &str = "trace=fsync,fdatasync,syncfs,sync_file_range,sync,msync";
/// Requests at once and bursts in a round: one, two and eight at once.
const AT_ONCE: [(usize, usize); 4] = [(1, 10), (2, 5), (4, 4), (8, 3)];
const TMPFS_KIB: u32 = 2 * 1024 * 1024;

fn main() {
    let rounds = env_number("ROUNDS", 10);
    let Some(tool) = CountedTool::build("bench pipeline") else { return };
    let cold_us = cold_sandbox_us();
    let bench = Bench::new();
    let service = start(&bench, &tool);
    let memory_bench = Bench::new();
    let disk = SmallDisk::mount(&memory_bench.home(), TMPFS_KIB);
    let memory = disk.as_ref().map(|_| start(&memory_bench, &tool));
    let hand_bench = Bench::new();
    let hand = ManualScript::start(&hand_bench, &tool);

    let mut ours = PipelineRow::of(&service.spool());
    let mut in_memory = memory.as_ref().map(|service| PipelineRow::of(&service.spool()));
    let mut by_hand = hand.as_ref().map(|hand| PipelineRow::of(&hand.spool));
    let (mut fsync, mut commit) = (Times::default(), Times::default());
    for row in [Some(&mut ours), in_memory.as_mut(), by_hand.as_mut()].into_iter().flatten() {
        // The first runs find no prewarmed sandbox.
        row.requests.submit_warm_up(5);
    }
    for _ in 0..rounds {
        for row in [Some(&mut ours), in_memory.as_mut(), by_hand.as_mut()].into_iter().flatten() {
            row.one_round();
        }
        disk_alone(&bench.home(), &mut fsync, &mut commit);
    }
    println!("{rounds} rounds; milliseconds from the drop to the original's leaving approved/");
    println!("{:<52} {:>8} {:>8}", "", "p50", "p99");
    ours.print("ours, on disk");
    if let Some(row) = &in_memory {
        row.print("ours, on tmpfs");
    }
    if let Some(row) = &by_hand {
        row.print("by_hand.sh, on disk");
    }
    line("the disk: fdatasync of 4 KiB more", &fsync);
    line("the disk: a commit (file, fsync, rename, fsync)", &commit);
    goals(&ours, by_hand.as_ref(), cold_us, &commit);
    assert_eq!(list(&service.path("quarantine")), Vec::<String>::new(), "something was refused");
    drop((service, memory, hand));
    count_syncs(&tool);
}

fn start<'a>(bench: &'a Bench, tool: &CountedTool) -> Service<'a> {
    let mut service = Service::prepare(bench, &tool.service_config(bench));
    configure_for_crash_tests(&service);
    service.spawn();
    service
}

/// One way to process requests, and its times.
struct PipelineRow {
    requests: PreparedRequests,
    at_once: [Times; AT_ONCE.len()],
    /// The time of a whole burst.
    burst: Times,
}

impl PipelineRow {
    fn of(spool: &Path) -> Self {
        let (at_once, burst) = Default::default();
        Self { requests: PreparedRequests::for_spool(spool), at_once, burst }
    }

    fn one_round(&mut self) {
        for ((at_once, times), kept) in AT_ONCE.into_iter().zip(&mut self.at_once) {
            for _ in 0..times {
                kept.extend(self.requests.submit_timed(at_once).0);
            }
        }
        self.burst.add(self.requests.submit_timed(BURST).1);
    }

    fn print(&self, name: &str) {
        for ((at_once, _), times) in AT_ONCE.iter().zip(&self.at_once) {
            line(&format!("{name}, {at_once} at once"), times);
        }
        let what = format!("{name}, all of a burst of {BURST}");
        line(&what, &self.burst);
        println!("{:<52} {:>8.0}", "  of it in a second", self.per_second());
    }

    fn per_second(&self) -> f64 {
        f64::from(u32::try_from(BURST).unwrap()) / self.burst.ms_at(50) * 1e3
    }
}

fn line(name: &str, times: &Times) {
    println!("{name:<52} {:>8.2} {:>8.2}", times.ms_at(50), times.ms_at(99));
}

fn goals(ours: &PipelineRow, by_hand: Option<&PipelineRow>, cold_us: Option<f64>, commit: &Times) {
    println!();
    if let Some(by_hand) = by_hand {
        let ratio = ours.per_second() / by_hand.per_second();
        goal("requests in a second, to by_hand.sh (goal at least 10)", ratio, ratio >= 10.0);
    }
    match cold_us {
        Some(cold_us) => {
            let sum = cold_us / 1e3 + 2.0 * commit.ms_at(50);
            println!("one cold sandbox {:.2} ms and two commits: {sum:.2} ms", cold_us / 1e3);
            let ratio = ours.at_once[0].ms_at(50) / sum;
            goal("p50 alone, to that sum (goal at most 3)", ratio, ratio <= 3.0);
        }
        None => {
            println!("SKIPPED the cold sandbox: cargo bench -p sandbox --bench launch says nothing")
        }
    }
}

fn goal(what: &str, figure: f64, met: bool) {
    println!("{what:<60} {figure:>6.2}  {}", if met { "met" } else { "MISSED" });
}

/// Measures the disk alone: appending 4 KiB to a file, and creating a file with its name.
fn disk_alone(place: &Path, fsync: &mut Times, commit: &mut Times) {
    let bytes = [7_u8; 4096];
    let (grown, new, named) = (place.join("grown"), place.join("new"), place.join("named"));
    for _ in 0..10 {
        let mut file = OpenOptions::new().append(true).create(true).open(&grown).unwrap();
        file.write_all(&bytes).unwrap();
        let begun = Instant::now();
        file.sync_data().unwrap();
        fsync.add(begun.elapsed());
        let begun = Instant::now();
        let mut file = File::create(&new).unwrap();
        file.write_all(&bytes).unwrap();
        file.sync_all().unwrap();
        fs::rename(&new, &named).unwrap();
        File::open(place).unwrap().sync_all().unwrap();
        commit.add(begun.elapsed());
    }
}

/// Returns the median time of a cold sandbox, from its own bench.
fn cold_sandbox_us() -> Option<f64> {
    if let Ok(output) = std::env::var("COLD_US") {
        return Some(output.parse().unwrap());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(cargo);
    cargo.args(["bench", "-q", "-p", "sandbox", "--bench", "launch"]).env("ROUNDS", "50");
    let output = cargo.current_dir(workspace()).stderr(Stdio::inherit()).output().ok()?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let row =
        output.lines().find_map(|line| line.strip_prefix("ours, cold sandbox: spec to end"))?;
    row.split_whitespace().next()?.parse().ok()
}

struct ManualScript {
    child: Child,
    spool: PathBuf,
}

impl ManualScript {
    fn start(bench: &Bench, tool: &CountedTool) -> Option<Self> {
        let spool = bench.home().join("spool");
        fs::create_dir_all(spool.join("approved")).unwrap();
        let key = bench.home().join("key");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&key)
            .status();
        let wrapped = Command::new("bwrap").arg("--version").stdout(Stdio::null()).status();
        if !made.is_ok_and(|it| it.success()) || !wrapped.is_ok_and(|it| it.success()) {
            println!("SKIPPED by_hand.sh: it needs ssh-keygen and bwrap");
            return None;
        }
        let mut script = Command::new(workspace().join("tests/benches/by_hand.sh"));
        script.arg(&spool).arg(key).arg(tool.program());
        Some(Self { child: script.spawn().unwrap(), spool })
    }
}

impl Drop for ManualScript {
    fn drop(&mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
    }
}

/// Counts the syncs of the daemon for one request, and for one request of a burst.
fn count_syncs(tool: &CountedTool) {
    if !strace_works("bench pipeline") {
        return;
    }
    println!("\nsyncs of toolexecd for one request, counted by strace");
    for (count, goal_max) in [(1, 4.0), (BURST, 1.0)] {
        let bench = Bench::new();
        let mut service = Service::prepare(&bench, &tool.service_config(&bench));
        configure_for_crash_tests(&service);
        let _launcher = SocketLauncher::start(&bench, &service);
        let log = bench.scratch().path().join("trace");
        let command = strace_command(&service, &["--seccomp-bpf", "-e", SYNCS], &log);
        service.spawn_as(command);
        service.wait_for("the daemon to be ready", |service| service.log().contains("ready"));
        let mut requests = PreparedRequests::of(&service);
        requests.submit_warm_up(1);
        // The work after a run is finished by then.
        std::thread::sleep(Duration::from_millis(500));
        let before: u32 = count_calls(&log).values().sum();
        assert_eq!(requests.submit_timed(count).0.len(), count);
        std::thread::sleep(Duration::from_millis(500));
        let kinds = count_calls(&log);
        let of_it = f64::from(kinds.values().sum::<u32>() - before);
        let each = of_it / f64::from(u32::try_from(count).unwrap());
        goal(&format!("{count} at once (goal at most {goal_max})"), each, each <= goal_max);
        println!("  all since the start: {kinds:?}");
        signal_tracee(&service, "TERM");
        service.wait();
    }
}
