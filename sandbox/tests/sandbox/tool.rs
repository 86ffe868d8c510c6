//! The tool's view and rights inside a sandbox, and the outcomes of its run.

use std::fs;
use std::os::fd::AsFd;

use model::{LauncherMode, Outcome};
use sandbox::client::BuildError;
use sandbox::plan::{Limits, Plan, ProcView};

use crate::support::*;

#[test]
fn reads_in_and_writes_out() {
    let script = "import os; print(open('/in/input.txt').read().strip(), os.getcwd()); \
                  os.makedirs('/out/sub'); open('/out/sub/a','w').write('A'*5)";
    let ran = check(script, LIMITS, Outcome::Ok);
    assert_eq!(ran.stdout, "given /in\n");
    let kept = &ran.finished.collected;
    assert!(kept.complete);
    assert_eq!(kept.artifacts.len(), 1);
    assert_eq!((kept.artifacts[0].path.as_str(), kept.artifacts[0].size_bytes), ("sub/a", 5));
    assert_eq!(fs::read(ran.result.join("artifacts/sub/a")).unwrap(), b"AAAAA");
}

#[test]
fn the_kernel_reports_the_confinement() {
    let ran = run("print(open('/proc/self/status').read())");
    let line = |name: &str| {
        let found = ran.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        found.split_whitespace().nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(line("NoNewPrivs:"), "1");
    assert_eq!(line("Seccomp:"), "2");
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(line(set), "0000000000000000", "{set}");
    }
    let c = &ran.confinement;
    assert!(c.no_new_privs && c.seccomp_mode == 2 && c.landlock_abi >= 1, "{c:#?}");
    assert_eq!(c.namespaces.len(), 7);
    assert!(c.limits.iter().all(|limit| limit.effective > 0), "{c:#?}");
}

#[test]
fn no_escape_is_possible() {
    let script = r#"
import os, socket, ctypes
def attempt(name, act):
    try: act(); print(name, 'DONE')
    except OSError as e: print(name, e.errno and os.strerror(e.errno))
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    if libc.syscall(number, *args) < 0: raise OSError(ctypes.get_errno(), '')
attempt('write /in', lambda: open('/in/x', 'w'))
attempt('write /', lambda: open('/x', 'w'))
attempt('write /usr', lambda: open('/usr/x', 'w'))
attempt('write /etc', lambda: open('/etc/passwd', 'a'))
attempt('read shadow', lambda: open('/etc/shadow'))
attempt('read root home', lambda: os.listdir('/root'))
attempt('list /', lambda: os.listdir('/'))
attempt('connect', lambda: socket.create_connection(('127.0.0.1', 9), 1))
attempt('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('clone3', lambda: call(435, None, 0))
attempt('io_uring', lambda: call(425, 8, None))
attempt('kill init', lambda: os.kill(1, 9) or os.kill(1, 0))
attempt('mknod', lambda: os.mknod('/out/node', 0o600 | 0o020000, os.makedev(1, 3)))
attempt('exec from /tmp', lambda: (open('/tmp/x','w').write('#!/usr/bin/python3\n'), os.chmod('/tmp/x', 0o755), os.execv('/tmp/x', ['/tmp/x'])))
import fcntl
print('interfaces', socket.if_nameindex())
"#;
    let ran = run(script);
    assert!(!ran.stdout.replace("kill init DONE", "").contains("DONE"), "{}", ran.stdout);
    assert!(ran.stdout.contains("write /in Read-only file system"), "{}", ran.stdout);
    assert!(ran.stdout.contains("io_uring Operation not permitted"), "{}", ran.stdout);
    assert!(ran.stdout.contains("clone3 Function not implemented"), "{}", ran.stdout);
    let denied = &ran.finished.denied;
    let count = |name: &str| denied.iter().find(|call| call.name == name).map(|call| call.count);
    assert_eq!(count("io_uring_setup"), Some(1), "{denied:?}");
    assert!(count("socket") >= Some(2), "{denied:?}");
    assert_eq!(ran.finished.violation, None);
}

#[test]
fn an_attempt_to_leave_ends_the_run_with_its_name() {
    let attempts = [
        ("mount", "165, b'none', b'/tmp', b'tmpfs', 0, None"),
        ("unshare", "272, 0x10000000"),
        ("clone", "56, 0x10000011, 0, 0, 0, 0"),
        ("ptrace", "101, 16, 1, 0, 0"),
        ("bpf", "321, 0, None, 0"),
        ("keyctl", "250, 0, 0"),
    ];
    for (name, call) in attempts {
        let script = format!(
            "import ctypes, time\nctypes.CDLL(None).syscall({call})\ntime.sleep(20)\nprint('on')"
        );
        let ran = check(&script, LIMITS, Outcome::SeccompViolation);
        assert_eq!(ran.finished.violation.as_deref(), Some(name));
        assert_eq!(ran.stdout, "", "{name}");
    }
}

#[test]
fn a_violation_always_has_a_cause() {
    let script = "import os, time\nos.kill(os.getpid(), 31)\ntime.sleep(20)";
    let ran = check(script, LIMITS, Outcome::SeccompViolation);
    let cause = ran.finished.violation.unwrap_or_default();
    assert!(cause.starts_with("SIGSYS: "), "{cause:?}");
}

#[test]
fn ten_thousand_denied_calls_are_enough() {
    let script = "import ctypes\nlibc = ctypes.CDLL(None)\n\
                  for _ in range(20000): libc.syscall(425, 8, None)\nprint('on')";
    // An emulated machine needs more time for ten thousand answers.
    let limits = Limits { wall_ms_max: 300_000, cpu_ms_max: 300_000, ..LIMITS };
    let ran = check(script, limits, Outcome::SeccompViolation);
    assert_eq!(ran.finished.violation.as_deref(), Some("more than 10000 denied calls"));
    assert_eq!(ran.stdout, "");
}

#[test]
fn two_gibibytes_end_as_memory_limit() {
    let ran = check("x = bytearray(2 << 30)\nprint(len(x))", LIMITS, Outcome::MemoryLimit);
    assert!(ran.finished.accounting.memory_peak_bytes.unwrap() > 200 * MIB);
}

#[test]
fn a_sleeper_ends_as_wall_limit_in_time() {
    let limits = Limits { wall_ms_max: 2000, ..LIMITS };
    let ran = check("import time; time.sleep(60)", limits, Outcome::WallLimit);
    // Far from the limit, because the launcher may be paused, and far from the tool's own end.
    assert!(ran.finished.accounting.wall_us.unwrap() < 15_000_000);
}

#[test]
fn a_spinner_ends_as_cpu_limit() {
    let limits = Limits { cpu_ms_max: 500, ..LIMITS };
    check("while True: pass", limits, Outcome::CpuLimit);
}

#[test]
fn two_hundred_children_meet_the_pids_limit() {
    let script = "import os, time\nfor i in range(200):\n  if os.fork() == 0: time.sleep(30)\n";
    let ran = check(script, LIMITS, Outcome::PidsLimit);
    assert!(ran.finished.accounting.pids_peak.unwrap() <= 64, "{:?}", ran.finished.accounting);
}

#[test]
fn a_flood_on_stdout_is_cut_and_ended() {
    let ran = check("while True: print('x'*1000)", LIMITS, Outcome::OutputLimit);
    assert_eq!(ran.finished.stdout.kept_bytes, MIB);
    assert!(ran.finished.stdout.produced_bytes > MIB);
}

#[test]
fn a_full_out_is_output_limit() {
    let script = "f = open('/out/big','wb')\nwhile True: f.write(b'x'*65536); f.flush()";
    check(script, LIMITS, Outcome::OutputLimit);
}

#[test]
fn exits_and_signals_are_distinguished() {
    check("import sys; sys.exit(7)", LIMITS, Outcome::ExitNonzero(7));
    check("import os; os.kill(os.getpid(), 15)", LIMITS, Outcome::Signal(15));
    check("import os; os.abort()", LIMITS, Outcome::Signal(6));
    let orphan = "import os, time\nif os.fork() == 0:\n  os.setsid()\n  time.sleep(300)\n";
    let ran = check(orphan, LIMITS, Outcome::Ok);
    assert!(ran.finished.accounting.wall_us.unwrap() < 10_000_000);
}

#[test]
fn an_unnamed_signal_is_reported() {
    check("import os; os.kill(os.getpid(), 34)", LIMITS, Outcome::Signal(34));
}

#[test]
fn the_sandbox_init_cannot_be_disturbed() {
    let script = r"
import os, resource
open('/out/kept','w').write('k')
for act in (lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0)),
            lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
            lambda: os.kill(1, 9), lambda: os.kill(1, 19)):
    try: act()
    except OSError: pass
os.chmod('/out', 0)
";
    let ran = check(script, LIMITS, Outcome::Ok);
    assert_eq!(ran.finished.collected.artifacts.len(), 1, "{:?}", ran.finished.collected);
}

#[test]
fn memory_in_any_disguise_meets_the_limit() {
    let shared = "import mmap; m = mmap.mmap(-1, 1 << 30)\n\
        for at in range(0, 1 << 30, 4096): m[at] = 1\nprint('had it all')";
    let ran = run(shared);
    assert_ne!(ran.finished.outcome(), Outcome::Ok, "{}", ran.stdout);
    let memfd = "import os; f = os.memfd_create('m'); b = b'x' * (1 << 20)\n\
        for _ in range(1024): os.write(f, b)\nprint('had it all')";
    let ran = run(memfd);
    assert_ne!(ran.finished.outcome(), Outcome::Ok, "{}", ran.stdout);
    let files = "b = b'x' * (1 << 20)\n\
        fs = [open(p, 'wb') for p in ('/out/f', '/tmp/f', '/dev/shm/f')]\n\
        keep = bytearray(200 << 20)\n\
        for f in fs:\n  for _ in range(15): f.write(b); f.flush()\nprint('had it all')";
    let ran = run_with(files, Limits { memory_bytes_max: 220 * MIB, ..LIMITS });
    assert_eq!(ran.finished.outcome(), Outcome::MemoryLimit, "{}", ran.stdout);
}

#[test]
fn pages_that_forked_children_share_are_counted_once() {
    let script = "import os, time\nkeep = bytearray(60 << 20)\nkids = []\n\
        for _ in range(8):\n  pid = os.fork()\n  if pid == 0:\n    time.sleep(0.5); os._exit(0)\n  kids.append(pid)\n\
        for pid in kids: os.waitpid(pid, 0)";
    check(script, LIMITS, Outcome::Ok);
}

#[test]
fn time_of_orphans_is_counted() {
    let script = "import os, time\n\
        for _ in range(8):\n  pid = os.fork()\n  if pid == 0:\n    if os.fork() == 0:\n      t = time.process_time()\n      while time.process_time() - t < 0.3: pass\n    os._exit(0)\n  os.waitpid(pid, 0)\n  time.sleep(0.4)\ntime.sleep(12)";
    check(script, Limits { cpu_ms_max: 1200, ..LIMITS }, Outcome::CpuLimit);
}

#[test]
fn a_tool_sees_its_own_process() {
    let script = "import sys, subprocess; print(subprocess.run([sys.executable, '-c', 'print(6*7)'], capture_output=True, text=True).stdout)";
    assert_eq!(run(script).stdout.trim(), "42");
}

#[test]
fn without_proc_there_is_no_proc() {
    let scratch = SandboxScratch::new();
    let launcher = launcher(&scratch.0);
    let script = "import os\ntry: print(os.listdir('/proc'))\nexcept OSError as e: print(e.errno)";
    let mut order = plan(&scratch.0, script, LIMITS);
    order.sandbox.runtime.proc_view = ProcView::None;
    let result = scratch.0.join("result");
    fs::create_dir(&result).unwrap();
    let directory = fs::File::open(&result).unwrap();
    let ready = launcher.build(order).unwrap();
    let finished = ready.start(directory.as_fd()).unwrap().finish(|| false).unwrap();
    assert_eq!(finished.outcome(), Outcome::Ok);
    assert_eq!(fs::read_to_string(result.join("stdout")).unwrap(), "13\n");
}

#[test]
fn a_missing_kernel_layer_is_named() {
    let scratch = SandboxScratch::new();
    let launcher = launcher(&scratch.0);
    let mut order = plan(&scratch.0, "pass", LIMITS);
    order.sandbox.requirements.landlock_abi_min = 99;
    let Err(BuildError::SetupFailed(unable)) = launcher.build(order).map(drop) else {
        panic!("a sandbox was built");
    };
    assert_eq!(unable.layer, Some(model::Layer::Landlock), "{unable}");
}

#[test]
fn a_limit_above_the_maximum_is_refused() {
    let scratch = SandboxScratch::new();
    let launcher = launcher(&scratch.0);
    for change in [
        (|plan: &mut Plan| plan.exec.limits.pids_max = 1_000_000) as fn(&mut Plan),
        |plan| plan.exec.limits.cpu_milli = 2_000_000,
        |plan| plan.exec.limits.out_bytes_max = 0,
        |plan| plan.exec.limits.out_bytes_max = plan.exec.limits.memory_bytes_max + 1,
        |plan| plan.sandbox.runtime.mounts = vec!["/etc".into()],
        |plan| plan.sandbox.runtime.mounts = vec!["/usr/../etc".into()],
    ] {
        let mut order = plan(&scratch.0, "pass", LIMITS);
        change(&mut order);
        let Err(BuildError::SetupFailed(unable)) = launcher.build(order).map(drop) else {
            panic!("a sandbox was built");
        };
        let message = unable.to_string();
        assert!(
            message.starts_with("command: ") || message.starts_with("sandbox spec: "),
            "{message}"
        );
    }
}

#[test]
fn odd_objects_in_out_are_rejected_by_kind() {
    let script = "import os, socket\nos.chdir('/out')\n\
        os.symlink('/etc/shadow','link'); os.mkfifo('fifo'); open('a','w').write('a')\n\
        os.link('a','b'); s=socket.socket(socket.AF_UNIX); s.bind('sock')\n\
        open(b'\\xff','w'); open('new\\nline','w'); f=open('sparse','wb'); f.truncate(1<<40)\n\
        open('locked','w').write('L'); os.chmod('locked',0)\n\
        os.makedirs('/'.join('d'*10)); open('plain','w').write('p')";
    let limits = Limits { file_bytes_max: 1 << 41, ..LIMITS };
    let ran = check(script, limits, Outcome::OutputRejected);
    let words: Vec<_> = ran.finished.collected.rejected.iter().map(|r| r.reason.as_str()).collect();
    for reason in [
        "symlink",
        "fifo",
        "hardlink",
        "socket",
        "name-not-utf8",
        "name-control",
        "sparse",
        "too-deep",
    ] {
        assert!(words.contains(&reason), "{reason} not in {words:?}");
    }
    let kept: Vec<_> = ran.finished.collected.artifacts.iter().map(|a| a.path.as_str()).collect();
    assert_eq!(kept, ["locked", "plain"]);
}

#[test]
fn a_swapped_slot_is_refused() {
    let scratch = SandboxScratch::new();
    let launcher = launcher(&scratch.0);
    let mut order = plan(&scratch.0, "pass", LIMITS);
    order.sandbox.slot.inode += 1;
    let Err(BuildError::SetupFailed(unable)) = launcher.build(order).map(drop) else {
        panic!("a sandbox was built");
    };
    assert!(unable.to_string().contains("not the directory that was filled"), "{unable}");
}

#[test]
fn a_missing_binary_never_starts() {
    let scratch = SandboxScratch::new();
    let launcher = launcher(&scratch.0);
    let mut order = plan(&scratch.0, "pass", LIMITS);
    order.sandbox.runtime.binary = "/usr/bin/no-such-program".into();
    let result = scratch.0.join("result");
    fs::create_dir(&result).unwrap();
    let directory = fs::File::open(&result).unwrap();
    let started = launcher.build(order).unwrap().start(directory.as_fd()).map(drop);
    let Err(BuildError::SetupFailed(unable)) = started else {
        panic!("it started");
    };
    assert_eq!(unable.errno, 2, "{unable}");
}

#[test]
fn kept_groups_are_reported() {
    let ran = run("import os; print(len(os.getgroups()))");
    let kept = &ran.confinement.groups;
    assert_eq!(ran.stdout.trim(), kept.len().to_string());
    if ran.confinement.mode == LauncherMode::System {
        assert!(kept.is_empty(), "{kept:?}");
    } else {
        let mut own: Vec<u32> =
            rustix::process::getgroups().unwrap().iter().map(|it| it.as_raw()).collect();
        own.sort_unstable();
        own.dedup();
        assert_eq!(*kept, own);
    }
}
