//! Limits that the kernel counts per user, shared by all runs of a user whose tools have that uid.
//! Eight runs, or eight processes of one, take all they can; other programs must not notice.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolexec_tests::hostile::{
    BuiltCase, CaseDirectory, CaseMode, CaseRun, CaseRunner, HostTargets, HostileCase,
};
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, CliOutput, RUN_UIDS, RequestText, skip, with_user_range};

const MIB: u64 = 1 << 20;
/// Memory limit of the attacks, from the request.
const LIMIT_MIB: u64 = 256;

/// A program of the same user: passes a descriptor, waits with epoll, sets a timer, fills a socket.
const OWN_PROGRAM: &str = "
import array, resource, select, signal, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
a, b = socket.socketpair()
a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0]))])
poll = select.epoll(); poll.register(b); assert poll.poll(1)
signal.setitimer(signal.ITIMER_REAL, 60)
assert a.send(bytes(100000)) == 100000
print('undisturbed')
";

/// Each attack measures the whole host and the counts of one user, so two must not run at once.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Open files of the user's own program. The kernel lets it pass descriptors while its user has no
/// more than this number in flight.
const USUAL_FILES: u32 = 1024;

/// Runs a case with its number of sandboxes, beside other runs and programs of the same user.
fn run_attack(test: &str, name: &str, files: u32) -> Option<(Vec<CaseRun>, u64)> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(place), Some(bench), Some(other)) =
        (CaseDirectory::new(), Bench::as_ordinary_user(test), Bench::as_ordinary_user(test))
    else {
        skip(test, "needs root, to start runs as an ordinary user, and user namespaces");
        return None;
    };
    let case = HostileCase::all().into_iter().find(|case| case.name == name).unwrap();
    let built = BuiltCase::all(std::slice::from_ref(&case), &place).remove(0);
    if let BuiltCase::Unavailable(why) = &built {
        skip(test, why);
        return None;
    }
    let host = HostTargets::new();
    let runner = CaseRunner::new(CaseMode::User, bench, &host);
    runner.warm_up();
    let before = available_mib();
    let (over, lowest, neighbours) =
        (AtomicBool::new(false), AtomicU64::new(before), AtomicU64::new(0));
    let got = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                lowest.fetch_min(available_mib(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                neighbour(&other, files);
                neighbours.fetch_add(1, Ordering::Relaxed);
            }
        });
        let got = runner.run(&case, &built);
        over.store(true, Ordering::Relaxed);
        got
    });
    let fell = before - lowest.load(Ordering::Relaxed);
    let neighbours = neighbours.load(Ordering::Relaxed);
    println!("{name}: MemAvailable fell by {fell} MiB; {neighbours} neighbours undisturbed");
    for run in &got {
        println!("  {}", run.brief());
    }
    assert!(neighbours > 0);
    Some((got, fell))
}

/// Runs one request and one program of the same user.
fn neighbour(bench: &Bench, files: u32) {
    let (_, record) = bench.run_recorded(&RequestText::python("print('undisturbed')"));
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "undisturbed\n");
    let program = OWN_PROGRAM.replace("FILES", &files.to_string());
    let output = CliOutput::of(bench.command("/usr/bin/python3").args(["-c", &program]));
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "undisturbed\n"),
        "{}",
        output.stderr
    );
}

fn available_mib() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find(|line| line.starts_with("MemAvailable:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
fn descriptors_in_flight_disturb_no_other_run() {
    let test = "shared_user::descriptors_in_flight_disturb_no_other_run";
    let name = "limits/descriptors_in_flight";
    let Some((got, _)) = run_attack(test, name, USUAL_FILES) else { return };
    for run in &got {
        let refused = run.stdout.lines().any(|line| line == "sendmsg ETOOMANYREFS");
        assert!(refused, "{}", run.brief());
    }
    let all: u64 = got.iter().map(|run| printed_number(run, "in flight ")).sum();
    assert!(all > 0, "no descriptor was in flight");
}

/// Returns the number that a case printed behind these words.
fn printed_number(run: &CaseRun, words: &str) -> u64 {
    let found = run.stdout.lines().find_map(|line| line.strip_prefix(words));
    let found = found.unwrap_or_else(|| panic!("no {words:?}: {}", run.brief()));
    found.parse().unwrap()
}

#[test]
fn epoll_watches_disturb_no_other_run() {
    let test = "shared_user::epoll_watches_disturb_no_other_run";
    let Some((got, _)) = run_attack(test, "limits/epoll_watches", USUAL_FILES) else { return };
    let all: u64 = got.iter().map(|run| printed_number(run, "watches ")).sum();
    assert!(all > 0, "no watch was added");
    let of_user = fs::read_to_string("/proc/sys/fs/epoll/max_user_watches").unwrap();
    assert!(all <= of_user.trim().parse::<u64>().unwrap() / 4, "{all} of {of_user}");
}

#[test]
fn socket_buffers_are_held_to_the_memory_limit() {
    let test = "shared_user::socket_buffers_are_held_to_the_memory_limit";
    let Some((got, fell)) = run_attack(test, "limits/socket_buffers", USUAL_FILES) else { return };
    for run in &got {
        assert_eq!(run.outcome, "memory_limit", "{}", run.brief());
        let peak =
            run.page.lines().find_map(|line| line.trim().strip_prefix("memory_peak_bytes: "));
        let peak = peak.unwrap().parse::<u64>().unwrap() / MIB;
        assert!(peak <= LIMIT_MIB * 3 / 2, "{peak} MiB of {LIMIT_MIB}");
    }
    // Allows for other work on this machine: without a limit it is 16 GiB.
    assert!(fell <= LIMIT_MIB * 3 / 2 + 2048, "{fell} MiB");
}

/// Descriptors that one run can have in flight. The kernel refuses a message of 253 only if more
/// than its limit of 512 are in flight already.
const IN_FLIGHT_OF_ONE: u64 = 3 * 253;

#[test]
fn with_subordinate_uids_each_run_has_its_own_descriptors_in_flight() {
    let test = "shared_user::with_subordinate_uids_each_run_has_its_own_descriptors_in_flight";
    let name = "limits/descriptors_in_flight";
    // Far fewer than one run has in flight.
    let Some(Some((got, _))) = with_user_range(test, || run_attack(test, name, 64)) else { return };
    for run in &got {
        assert_eq!(printed_number(run, "in flight "), IN_FLIGHT_OF_ONE, "{}", run.brief());
    }
}

#[test]
fn with_subordinate_uids_two_runs_differ_in_their_uids() {
    let test = "shared_user::with_subordinate_uids_two_runs_differ_in_their_uids";
    with_user_range(test, || {
        let bench = Bench::as_ordinary_user(test).unwrap();
        let request =
            || bench.save(&RequestText::python("import time; time.sleep(3600)").time_sec(300));
        let start = || {
            let request = request();
            let mut command = bench.command("toolexec");
            command
                .arg("run")
                .arg(&request.path)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
        };
        let mut runs = [start().unwrap(), start().unwrap()];
        let deadline = Instant::now() + Duration::from_secs(60) * time_factor();
        let mut seen = BTreeSet::new();
        while seen.len() < 2 && Instant::now() < deadline {
            seen = uids_of_tools();
            std::thread::sleep(Duration::from_millis(20));
        }
        for run in &mut runs {
            CliOutput::of(Command::new("kill").arg(run.id().to_string())).assert_code(0);
            run.wait().unwrap();
        }
        assert_eq!(seen.len(), 2, "{seen:?}");
    });
}

#[test]
fn with_subordinate_uids_files_and_the_record_are_the_users_own() {
    use std::os::unix::fs::MetadataExt;
    let test = "shared_user::with_subordinate_uids_files_and_the_record_are_the_users_own";
    with_user_range(test, || {
        let bench = Bench::as_ordinary_user(test).unwrap();
        let script = "import os; os.mkdir('/out/d', 0o700); open('/out/d/f', 'w').write('x'); os.chmod('/out/d/f', 0)";
        let (_, record) = bench.run_recorded(&RequestText::python(script));
        record.assert_outcome("ok");
        let uid = record.front_matter_value("uid").parse().unwrap();
        assert!(RUN_UIDS.contains(&uid), "{uid}");
        let file = record.path.join("artifacts/d/f");
        assert_eq!(fs::metadata(&file).unwrap().uid(), bench.uid());
        let words = ["-rf".as_ref(), record.path.as_os_str()];
        CliOutput::of(bench.command("rm").args(words)).assert_code(0);
        bench.assert_nothing_left();
    });
}

/// Returns the uids of the range, as the host sees them, that run Python now.
fn uids_of_tools() -> BTreeSet<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let statuses = processes.filter_map(|it| fs::read_to_string(it.path().join("status")).ok());
    let uid = |status: String| {
        let field = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()
        };
        field("Name:").filter(|name| name.starts_with("python"))?;
        field("Uid:")?.parse().ok()
    };
    statuses.filter_map(uid).filter(|uid| RUN_UIDS.contains(uid)).collect()
}
