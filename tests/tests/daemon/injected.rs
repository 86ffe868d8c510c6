//! Injected faults: `strace` makes one system call of the daemon fail (no space, I/O error,
//! interruption) or kills the daemon in it, at the first call, the second, and so on. The next
//! daemon must always recover, and the checks after a kill must hold. Must never inject a fault
//! into the launcher: it is started separately, behind its socket. `cargo test -p toolexec-tests
//! --test daemon injected -- --nocapture` prints the number of faults. By default a fixed sample is
//! injected, with `TOOLEXEC_INJECTED=full` all; `TOOLEXEC_INJECTED_ONLY=<call>` selects one call.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use toolexec_tests::crash_support::{
    CountedTool, CrashFileKind, CrashScene, HostCondition, SocketLauncher,
    configure_for_crash_tests, faults_after_crash, highest_thread_counts, recovery_faults,
    signal_tracee, strace_command, strace_works,
};
use toolexec_tests::hostile::two_at_a_time;
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, Service};

/// Calls that change the disk, make it durable, or open a file.
const CALLS: [&str; 13] = [
    "openat",
    "openat2",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "syncfs",
    "fallocate",
    "renameat2",
    "linkat",
    "mkdirat",
    "unlinkat",
    "ftruncate",
];
const FAULTS: [&str; 4] = ["error=EIO", "error=ENOSPC", "error=EINTR", "signal=KILL"];
const KINDS: [CrashFileKind; 2] = [CrashFileKind::Success, CrashFileKind::Refused];
/// As many cases as fit into two minutes.
const CASES: usize = 120;
/// A daemon that neither ends nor continues after its fault is stopped after this time.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(4);

/// Longest time for a daemon that has had no fault yet.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest time to end. The daemon drains for one second.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of calls varies: the last calls of the counted daemon may be missing in another.
const NOT_INJECTED: &str = "the fault was not injected";

struct InjectedFault {
    call: &'static str,
    fault: &'static str,
    nth: u32,
}

#[test]
fn whatever_call_fails_nothing_is_lost_or_run_twice() {
    let test = "whatever_call_fails_nothing_is_lost_or_run_twice";
    if !strace_works(test) {
        return;
    }
    let Some(tool) = CountedTool::build(test) else { return };
    let (faults, counts) = inject(&tool, &format!("trace={}", CALLS.join(",")));
    assert!(faults.is_empty(), "without a fault:\n{}", faults.join("\n"));
    let all = cases(&counts);
    let full = std::env::var("TOOLEXEC_INJECTED").is_ok_and(|value| value == "full");
    let stride = if full { 1 } else { all.len().div_ceil(CASES).max(1) };
    // Odd, so that it divides neither the number of faults nor that of calls.
    let stride = if stride.is_multiple_of(2) { stride + 1 } else { stride };
    let chosen: Vec<_> = all.iter().step_by(stride).collect();
    let begun = Instant::now();
    let mut found = two_at_a_time(&chosen, |case| {
        let InjectedFault { call, fault, nth } = case;
        inject(&tool, &format!("inject={call}:{fault}:when={nth}")).0
    });
    let missed = found.iter().flatten().filter(|fault| *fault == NOT_INJECTED).count();
    found.iter_mut().for_each(|faults| faults.retain(|fault| fault != NOT_INJECTED));
    assert!(missed * 10 <= chosen.len(), "{missed} of {} were not injected", chosen.len());
    println!("{:<12} {:>8} {:>10} {:>8}", "call", "calls", "injected", "faults");
    for (call, calls) in &counts {
        let of_it = || chosen.iter().zip(&found).filter(|(case, _)| case.call == call);
        let wrong: usize = of_it().map(|(_, faults)| faults.len()).sum();
        println!("{call:<12} {calls:>8} {:>10} {wrong:>8}", of_it().count());
    }
    let seconds = begun.elapsed().as_secs();
    let injected = chosen.len() - missed;
    println!("{injected} of {} faults injected, in {seconds} s", all.len());
    let wrong: Vec<_> = chosen
        .iter()
        .zip(&found)
        .flat_map(|(case, faults)| {
            let InjectedFault { call, fault, nth } = case;
            faults.iter().map(move |it| format!("{call} {fault} at {nth}: {it}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), chosen.len(), wrong.join("\n"));
    assert!(counts.contains_key("renameat2") && counts.contains_key("write"), "{counts:?}");
}

fn cases(counts: &BTreeMap<String, u32>) -> Vec<InjectedFault> {
    let only = std::env::var("TOOLEXEC_INJECTED_ONLY").ok();
    let mut cases = Vec::new();
    for call in CALLS.into_iter().filter(|call| only.as_ref().is_none_or(|only| only == call)) {
        let calls = counts.get(call).copied().unwrap_or_default();
        for nth in 1..=calls {
            cases.extend(FAULTS.into_iter().map(|fault| InjectedFault { call, fault, nth }));
        }
    }
    cases
}

/// Runs a daemon with at most one fault, and one that recovers. Returns the faults found and, for
/// each call, the highest count of one thread. `strace` counts for each thread.
fn inject(tool: &CountedTool, expression: &str) -> (Vec<String>, BTreeMap<String, u32>) {
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &tool.service_config(&bench));
    configure_for_crash_tests(&service);
    let _launcher = SocketLauncher::start(&bench, &service);
    let counted = tool.count();
    let scene = CrashScene::submit(&service, &counted, &KINDS);
    // A kill is not a failure of the host.
    let fails = expression.contains(":error=");
    let scene = if fails { CrashScene { host: HostCondition::Faulty, ..scene } } else { scene };
    let log = bench.scratch().path().join("trace");
    let command = strace_command(&service, &["--seccomp-bpf", "-e", expression], &log);
    service.spawn_as(command);
    let mut faults = Vec::new();
    faults.extend(wait_for_end(&mut service, &scene, &log));
    if panics(&service.log()) {
        faults.push(format!("it panics: {}", service.log()));
    }
    let injected = was_injected(&log);
    if !injected && !scene.is_settled(&service) {
        faults.push(format!("it had no fault and did not settle: {}", service.log()));
    }
    faults.extend(faults_after_crash(&service, &scene, &counted.counts()));
    let command = service.command();
    faults.extend(recovery_faults(&mut service, command, &scene, &counted));
    if !injected && expression.starts_with("inject=") {
        faults.push(NOT_INJECTED.to_owned());
    }
    (faults, highest_thread_counts(&log))
}

/// Returns true if the trace shows the fault, or a kill, which ends the trace.
fn was_injected(log: &Path) -> bool {
    let output = std::fs::read_to_string(log).unwrap_or_default();
    output.contains("(INJECTED)") || output.contains("SIGKILL")
}

/// Returns true if the daemon itself panics. The file-watching library treats a failure to wake its
/// thread as a bug, because no kernel returns one. The checks of the files must hold regardless.
fn panics(log: &str) -> bool {
    log.lines().any(|line| line.contains("panicked at") && !line.contains("/notify-"))
}

/// Waits until the daemon is done, ended or stuck, then stops it. It is a fault if it does not end.
fn wait_for_end(service: &mut Service<'_>, scene: &CrashScene, log: &Path) -> Option<String> {
    let begun = Instant::now();
    let (mut injected_at, mut signalled_at) = (None::<Instant>, None::<Instant>);
    let mut fault = None;
    while service.exit_status().is_none() {
        if injected_at.is_none() && was_injected(log) {
            injected_at = Some(Instant::now());
        }
        let stuck = match injected_at {
            Some(at) => at.elapsed() > PROGRESS_TIMEOUT * time_factor(),
            None => begun.elapsed() > SETTLE_TIMEOUT * time_factor(),
        };
        let done = || service.log().contains("ready") && scene.is_settled(service);
        if signalled_at.is_none() && (stuck || done()) {
            signal_tracee(service, "TERM");
            signalled_at = Some(Instant::now());
        }
        if signalled_at.is_some_and(|at| at.elapsed() > END_TIMEOUT * time_factor())
            && fault.is_none()
        {
            fault = Some(format!("told to stop it does not: {}", service.log()));
            signal_tracee(service, "KILL");
        }
        // Each round reads the trace.
        std::thread::sleep(Duration::from_millis(20));
    }
    fault
}
