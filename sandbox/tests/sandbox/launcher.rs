//! The launcher itself: many clients, also invalid ones, and isolation between sandboxes.

use std::fs;
use std::os::fd::AsFd;

use model::Outcome;
use rustix::net::{SendFlags, send};
use sandbox::client::BuildError;
use sandbox::plan::{Limits, Plan, SandboxNetwork, SandboxSpec};
use sandbox::report::Confinement;

use crate::support::*;

#[test]
fn behind_a_listening_socket_it_serves_many() {
    let service = LauncherService::start(&[]);
    for _ in 0..5 {
        assert_eq!(service.line("print('here')"), "here");
    }
}

/// More sessions than slots, so that each slot must have been reused.
#[test]
fn invalid_sessions_leak_no_slot() {
    let service = LauncherService::start(&["--sandboxes-max", "2"]);
    for _ in 0..8 {
        drop(service.connect());
        for nonsense in [&b"x"[..], &[1, 2, 3, 4, 5, 6], &[0; 4096]] {
            let connection = service.connect();
            send(&connection, nonsense, SendFlags::empty()).unwrap();
        }
    }
    assert_eq!(service.line("print('here')"), "here");
}

#[test]
fn network_counters_are_not_passed_on() {
    // One slot, which both sandboxes use.
    let service = LauncherService::start(&["--sandboxes-max", "1"]);
    let used = "import socket
for _ in range(99):
  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
  try: s.connect(('192.0.2.1', 9))
  except OSError: pass
print(open('/proc/self/net/snmp').read().replace(chr(10), ' '))";
    let first = service.line(used);
    let second = service.line("print(open('/proc/self/net/snmp').read().replace(chr(10), ' '))");
    let third = service.line("print(open('/proc/self/net/snmp').read().replace(chr(10), ' '))");
    assert!(first.starts_with("Ip: "), "{first}");
    assert_eq!(second, third);
    // Otherwise nothing was counted, and the test proves nothing.
    assert_ne!(first, second);
}

/// So little memory that a sandbox's init may die of it, at any step.
#[test]
fn a_run_that_may_have_started_is_not_refused() {
    let scratch = SandboxScratch::new();
    let staging = scratch.0.join("staging");
    fs::create_dir(&staging).unwrap();
    let launcher = launcher(&staging);
    let (mut started, mut refused) = (0, 0);
    for number in 0..60 {
        let pages = 40 + number * 4;
        let bytes = pages * 4096;
        let limits = Limits {
            memory_bytes_max: bytes,
            out_bytes_max: bytes / 2,
            tmp_bytes_max: bytes / 4,
            shm_bytes_max: bytes / 8,
            ..LIMITS
        };
        let mut plan = plan(&staging, "", limits);
        plan.sandbox.runtime.binary = fs::canonicalize("/bin/sh").unwrap();
        plan.exec.argv = ["sh", "-c", "echo here"].map(str::to_owned).to_vec();
        let result = scratch.0.join(number.to_string());
        fs::create_dir(&result).unwrap();
        let directory = fs::File::open(&result).unwrap();
        let ready = match launcher.build(plan) {
            Ok(ready) => ready,
            Err(BuildError::SetupFailed(_)) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{pages} pages: {error}"),
        };
        match ready.start(directory.as_fd()) {
            Ok(running) => {
                started += 1;
                let outcome = running.finish(|| false).unwrap().outcome();
                let expected = [Outcome::Ok, Outcome::MemoryLimit, Outcome::Indeterminate];
                assert!(expected.contains(&outcome), "{pages} pages: {outcome:?}");
            }
            // An error of execve that init has seen, or a start request that was not yet passed on.
            Err(BuildError::SetupFailed(unable)) => {
                let before = unable.to_string().contains("receive the start request");
                assert!(before || unable.errno != 0, "{pages}: {unable}");
            }
            Err(error) => panic!("{pages} pages: {error}"),
        }
    }
    println!("{started} started, {refused} refused");
    assert!(started > 0);
}

#[test]
fn a_quick_tool_took_time() {
    let ran = run("pass");
    let (wall, cpu) = (ran.finished.accounting.wall_us, ran.finished.accounting.cpu_user_us);
    // Python needs more time than that to start.
    assert!(wall.unwrap() > 1000, "{wall:?} {cpu:?}");
}

#[test]
fn a_prepared_sandbox_waits_for_command_and_inputs() {
    let scratch = SandboxScratch::new();
    let (staging, result) = (scratch.0.join("staging"), scratch.0.join("result"));
    fs::create_dir(&staging).unwrap();
    fs::create_dir(&result).unwrap();
    let launcher = launcher(&staging);
    let Plan { sandbox, exec: order } = plan(&staging, "print(open('/in/late').read())", LIMITS);
    let slot = staging.join(sandbox.slot.id.as_str());
    let prepared = launcher.prepare(sandbox).unwrap();
    assert!(prepared.confinement().limits.is_empty());
    fs::write(slot.join("late"), "given late").unwrap();
    let ready = prepared.assign(order).unwrap();
    assert!(!ready.confinement().limits.is_empty());
    let directory = fs::File::open(&result).unwrap();
    let finished = ready.start(directory.as_fd()).unwrap().finish(|| false).unwrap();
    assert_eq!(finished.outcome(), Outcome::Ok);
    assert_eq!(fs::read(result.join("stdout")).unwrap(), b"given late\n");
}

/// Returns the network namespace of a prepared sandbox.
fn network_of(confinement: &Confinement) -> u64 {
    confinement.namespaces.iter().find(|(kind, _)| kind == "net").unwrap().1
}

/// The launcher has two waiting slots, which are reused; a network with a proxy is not.
#[test]
fn a_proxy_network_is_used_by_one_sandbox() {
    let scratch = SandboxScratch::new();
    let staging = scratch.0.join("staging");
    fs::create_dir(&staging).unwrap();
    let launcher = launcher(&staging);
    let mut seen = Vec::new();
    for _ in 0..3 {
        let prepare = |network| {
            let plan = plan(&staging, "", LIMITS);
            launcher.prepare(SandboxSpec { network, ..plan.sandbox }).unwrap()
        };
        // At the same time, so that inode numbers cannot be reused either.
        let sandboxes =
            [SandboxNetwork::Proxy, SandboxNetwork::Proxy, SandboxNetwork::Nothing].map(prepare);
        let [one, other, without] =
            sandboxes.each_ref().map(|sandbox| network_of(sandbox.confinement()));
        assert_ne!(one, other);
        assert_ne!(one, without);
        assert_ne!(other, without);
        seen.push((without, [one, other]));
    }
    // A network that was once up is not in any slot.
    let slots: Vec<u64> = seen.iter().map(|(without, _)| *without).collect();
    assert!(seen.iter().all(|(_, up)| up.iter().all(|it| !slots.contains(it))), "{seen:?}");
}

#[test]
fn only_a_sandbox_with_a_proxy_has_its_socket() {
    let scratch = SandboxScratch::new();
    let staging = scratch.0.join("staging");
    fs::create_dir(&staging).unwrap();
    let launcher = launcher(&staging);
    let mut without = launcher.build(plan(&staging, "", LIMITS)).unwrap();
    assert!(without.take_proxy().is_none());
    let Plan { sandbox, exec: order } = plan(&staging, "", LIMITS);
    let sandbox = SandboxSpec { network: SandboxNetwork::Proxy, ..sandbox };
    let mut with = launcher.build(Plan { sandbox, exec: order }).unwrap();
    let socket = std::net::TcpListener::from(with.take_proxy().unwrap());
    let place = socket.local_addr().unwrap();
    assert!(place.ip().is_loopback() && place.port() == sandbox::plan::PROXY_PORT, "{place}");
    assert!(with.take_proxy().is_none());
    // It listens inside the sandbox only. Another program may listen there on the host.
    socket.set_nonblocking(true).unwrap();
    drop(std::net::TcpStream::connect(place));
    assert_eq!(socket.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}
