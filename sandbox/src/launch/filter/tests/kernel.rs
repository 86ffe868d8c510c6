//! Tests the programs in the kernel of this machine. A filter binds the thread that loads it and
//! its children, so each test confines a thread of its own.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};

use super::*;
use crate::sys::{self, Attempt, attempt, errno_of};

/// The token, which most tests here do not use.
const TOKEN: u64 = 0x0123_4567_89ab_cdef;

/// Confines the calling thread as a sandbox is; the listener is notified of its denied calls.
fn confine(policy: &SeccompPolicy) -> OwnedFd {
    confine_as(policy, Profile::Of(Language::Python))
}

fn confine_as(policy: &SeccompPolicy, profile: Profile) -> OwnedFd {
    nix::sys::prctl::set_no_new_privs().unwrap();
    sys::load_seccomp(&policy.outer().with_token(ProbeToken::new(TOKEN))).unwrap();
    let (memory, access) = (MemoryWatch::Kernel, FilterAccess::Nothing);
    let last = policy.last(profile, memory, access, DenialMode::ByListener);
    sys::load_seccomp_listening(&last.with_token(ProbeToken::new(TOKEN))).unwrap()
}

/// Returns the errno of each attempt, made with this token.
fn attempts(word: u64) -> [i32; Attempt::ALL.len()] {
    let code = |done: io::Result<()>| done.err().map_or(0, |error| errno_of(&error));
    std::array::from_fn(|at| code(attempt(Attempt::ALL[at], word)))
}

/// Answers until no caller is left. Returns the number of notifications per call.
fn answer_all(policy: &SeccompPolicy, listener: &OwnedFd) -> BTreeMap<&'static str, u32> {
    let mut counts = BTreeMap::new();
    loop {
        let mut waited = [PollFd::new(listener, PollFlags::IN)];
        poll(&mut waited, None).unwrap();
        if !waited[0].revents().contains(PollFlags::IN) {
            assert!(waited[0].revents().contains(PollFlags::HUP), "{waited:?}");
            return counts;
        }
        let Some(notification) = sys::receive_notification(listener.as_fd()).unwrap() else {
            continue;
        };
        let (name, denial) = policy.denied(notification.call).unwrap();
        *counts.entry(name).or_default() += 1;
        sys::answer_notification(listener.as_fd(), notification.id, denial.errno()).unwrap();
    }
}

#[test]
fn the_listener_answers_each_denied_call() {
    let (hand_over, handed) = mpsc::channel();
    let tool = thread::spawn(move || {
        hand_over.send(confine(&policy())).unwrap();
        let codes = [attempts(0), attempts(TOKEN), attempts(1)];
        // Absent calls are not notified, and allowed ones work.
        (codes, rustix::process::getpid().as_raw_nonzero().get())
    });
    let counts = answer_all(&policy(), &handed.recv().unwrap());
    let (codes, pid) = tool.join().unwrap();
    let (family, escape) = (libc::EAFNOSUPPORT, libc::EPERM);
    assert_eq!(codes, [[family, family, escape, escape, escape, escape, escape]; 3]);
    assert_eq!(pid.unsigned_abs(), std::process::id());
    let calls = ["io_uring_setup", "keyctl", "mount", "ptrace", "socket", "unshare"];
    // Twice each; `socket` covers two families. Calls with the token are not notified.
    let count = |call| if call == "socket" { 4 } else { 2 };
    assert_eq!(counts, calls.map(|call| (call, count(call))).into());
}

#[test]
fn without_a_listener_nothing_is_let_through() {
    let tool = thread::spawn(|| {
        drop(confine(&policy()));
        attempts(0)
    });
    assert_eq!(tool.join().unwrap(), [libc::ENOSYS; 7]);
}

/// Programs that use much of each runtime's library: processes, threads, sockets, a resolver.
const RUNTIMES: [(Profile, &[&str]); 5] = [
    (
        Profile::Of(Language::Python),
        &[
            "/usr/bin/python3",
            "-c",
            "import asyncio, multiprocessing, socket, sqlite3, ssl, subprocess, tempfile, threading
subprocess.run(['true'], check=True); asyncio.run(asyncio.sleep(0)); socket.socketpair()
t = threading.Thread(target=print); t.start(); t.join(); tempfile.TemporaryFile().write(b'x')
multiprocessing.Pool(2).map(abs, [1]); sqlite3.connect(':memory:').execute('create table t(a)')
socket.getaddrinfo('localhost', 80)",
        ],
    ),
    (Profile::Of(Language::Node), &["node", "-e", NODE]),
    (Profile::Of(Language::Ts), &["node", "-e", NODE]),
    (
        Profile::Of(Language::Ruby),
        &[
            "ruby",
            "-e",
            "require 'socket'; require 'tempfile'; require 'timeout'; Thread.new { 1 }.join
Process.wait(fork { }); `true`; Timeout.timeout(5) { sleep 0 }; Tempfile.create { |f| f << 'x' }
s = TCPServer.new('127.0.0.1', 0); TCPSocket.new('127.0.0.1', s.addr[1]); s.accept; GC.start",
        ],
    ),
    (Profile::Of(Language::Go), &["go", "env", "GOROOT"]),
];
const NODE: &str = "const { Worker } = require('worker_threads'), fs = require('fs');
new Worker('1', { eval: true }); require('child_process').execSync('true');
fs.rmSync(fs.mkdtempSync(require('os').tmpdir() + '/n'), { recursive: true });
require('crypto').pbkdf2('a', 'b', 1, 20, 'sha1', () => {});
require('dns').lookup('localhost', () => {});
const s = require('http').createServer((q, r) => r.end()).listen(0, '127.0.0.1', () =>
  fetch('http://127.0.0.1:' + s.address().port).then(() => process.exit(0)));";

#[test]
fn no_runtime_makes_a_violating_call() {
    for (profile, words) in RUNTIMES {
        let (hand_over, handed) = mpsc::channel();
        let runtime = thread::spawn(move || {
            hand_over.send(confine_as(&policy(), profile)).unwrap();
            // The child inherits this thread's filters.
            std::process::Command::new(words[0]).args(&words[1..]).output()
        });
        let counts = answer_all(&policy(), &handed.recv().unwrap());
        let output = match runtime.join().unwrap() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                println!("skipped: {} does not exist", words[0]);
                continue;
            }
            output => output.unwrap(),
        };
        println!("{profile:?} was denied {counts:?}");
        assert!(output.status.success(), "{profile:?} {counts:?} {output:?}");
        for call in counts.keys() {
            let (_, denial) = policy().denied(number(call)).unwrap();
            assert_ne!(denial, CallDenial::Escape, "{profile:?} {call}");
        }
    }
}

#[test]
fn a_second_listener_is_refused() {
    let tool = thread::spawn(|| {
        let policy = policy();
        nix::sys::prctl::set_no_new_privs().unwrap();
        let answered = DenialMode::ByListener;
        let last = policy.last(
            Profile::Of(Language::Node),
            MemoryWatch::Sampled,
            FilterAccess::Hosts,
            answered,
        );
        // The kernel refuses the second listener, not the first filter, which allows seccomp(2).
        let first = sys::load_seccomp_listening(&policy.outer().with_token(ProbeToken::new(TOKEN)))
            .unwrap();
        let second = sys::load_seccomp_listening(&last.with_token(ProbeToken::new(TOKEN)));
        drop(first);
        second.map(drop).map_err(|error| errno_of(&error))
    });
    assert_eq!(tool.join().unwrap(), Err(libc::EBUSY));
}

#[test]
fn an_answer_is_never_success() {
    let file = std::fs::File::open("/dev/null").unwrap();
    assert!(sys::answer_notification(file.as_fd(), 1, 0).is_err());
    assert!(sys::answer_notification(file.as_fd(), 1, -1).is_err());
    let errno = sys::answer_notification(file.as_fd(), 1, 1).map_err(|error| errno_of(&error));
    assert_eq!(errno, Err(libc::ENOTTY));
}

#[cfg(target_arch = "x86_64")]
mod ways_in {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;
    use crate::sys::{SyscallEntry, pid_by_entry};

    const CHOICE: &str = "WAY_IN";

    /// Makes the call in a child process of this test, which must die.
    fn call_by(way: &str) {
        let way = if way == "x32" { SyscallEntry::X32 } else { SyscallEntry::I386 };
        let listener = confine(&policy());
        println!("asked and answered {}", pid_by_entry(way));
        drop(listener);
    }

    #[test]
    fn a_call_by_another_table_is_killed() {
        if let Ok(way) = std::env::var(CHOICE) {
            return call_by(&way);
        }
        for way in ["x32", "i386"] {
            let me = std::env::current_exe().unwrap();
            let name = "launch::filter::tests::kernel::ways_in::a_call_by_another_table_is_killed";
            let ran = Command::new(me)
                .args(["--exact", name, "--nocapture"])
                .env(CHOICE, way)
                .output()
                .unwrap();
            let stdout = String::from_utf8_lossy(&ran.stdout);
            assert!(stdout.contains("running 1 test") && !stdout.contains("answered"), "{stdout}");
            match ran.status.signal() {
                Some(libc::SIGSEGV) if way == "i386" => {
                    println!("skipped: this kernel has no {way} calls to filter");
                }
                signal => assert_eq!(signal, Some(libc::SIGSYS), "{way}: {stdout}"),
            }
        }
    }
}
