//! Each limit alone: it is enforced, read back, and distinguished from the others by the outcome.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;

use model::{LimitName, Mechanism, Outcome};
use sandbox::client::{BuildError, Launcher, LauncherAddress, LauncherProgram};
use sandbox::plan::Limits;
use sandbox::report::EffectiveLimit;

use crate::support::*;

/// Returns the mechanism and value that enforce this limit.
#[track_caller]
fn in_force(ran: &RunOutput, name: LimitName) -> (Mechanism, u64) {
    let row = ran.confinement.limits.iter().find(|limit| limit.name == name);
    row.map(|limit| (limit.mechanism, limit.effective)).unwrap()
}

#[test]
fn every_limit_is_read_back() {
    let limits = Limits { file_bytes_max: 5 * MIB, ..LIMITS };
    let ran = check("pass", limits, Outcome::Ok);
    for &name in LimitName::ALL {
        let row = ran.confinement.limits.iter().find(|limit| limit.name == name);
        let row = row.unwrap_or_else(|| panic!("{} is not there", name.as_str()));
        assert!(row.effective > 0 && row.effective <= row.requested, "{row:?}");
    }
    assert_eq!(in_force(&ran, LimitName::FileBytes), (Mechanism::Rlimit, 5 * MIB));
    assert_eq!(in_force(&ran, LimitName::OpenFiles), (Mechanism::Rlimit, 256));
    let sizes = [LimitName::OutBytes, LimitName::TmpBytes, LimitName::ShmBytes];
    assert_eq!(sizes.map(|name| in_force(&ran, name).1), [64 * MIB, 32 * MIB, 16 * MIB]);
}

#[test]
fn a_tool_can_raise_none_of_its_own() {
    let script = "import resource as r\n\
        for name in ('CORE', 'FSIZE', 'NOFILE'):\n\
        \x20 which = getattr(r, 'RLIMIT_' + name); print(name, *r.getrlimit(which))\n\
        \x20 try: r.setrlimit(which, (r.RLIM_INFINITY, r.RLIM_INFINITY)); print('raised')\n\
        \x20 except (ValueError, OSError): pass";
    let limits = Limits { file_bytes_max: 5 * MIB, ..LIMITS };
    let ran = check(script, limits, Outcome::Ok);
    assert_eq!(ran.stdout, "CORE 1 1\nFSIZE 5242880 5242880\nNOFILE 256 256\n");
}

#[test]
fn the_signal_of_a_file_too_long_is_output_limit() {
    // Python ignores the signal; a program that it executes need not.
    let script = "import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n\
        f = os.open('/tmp/f', os.O_WRONLY | os.O_CREAT)\n\
        while True: os.write(f, b'x' * (1 << 20))";
    let limits = Limits { file_bytes_max: 5 * MIB, ..LIMITS };
    let ran = check(script, limits, Outcome::OutputLimit);
    assert_eq!(ran.finished.facts.tool.map(|end| end.exit_code()), Some(128 + 25));
    assert!(!ran.finished.facts.out_full && ran.finished.facts.killed.is_none());
}

#[test]
fn a_file_too_long_is_output_limit_without_the_signal() {
    let script = "f = open('/out/f', 'wb', 0)\nwhile True: f.write(b'x' * 100000)";
    let limits = Limits { file_bytes_max: 5 * MIB, ..LIMITS };
    let ran = check(script, limits, Outcome::OutputLimit);
    assert!(ran.stderr.contains("File too large"), "{}", ran.stderr);
    assert!(!ran.finished.facts.out_full);
    assert_eq!(ran.finished.collected.artifacts[0].size_bytes, 5 * MIB);
    // Only the failure makes it this outcome: the maximum length itself is permitted.
    let script = "open('/out/f', 'wb').write(b'x' * (5 << 20))";
    check(script, limits, Outcome::Ok);
}

#[test]
fn a_hole_beyond_the_file_limit_is_refused() {
    let script = "f = open('/out/f', 'wb')\n\
        try: f.truncate(6 << 20)\nexcept OSError as e: print(e.errno)";
    let ran = check(script, Limits { file_bytes_max: 5 * MIB, ..LIMITS }, Outcome::Ok);
    assert_eq!(ran.stdout, "27\n");
}

#[test]
fn a_flood_on_stderr_is_cut_and_ended() {
    let script = "import sys\nwhile True: print('x' * 1000, file=sys.stderr)";
    let ran = check(script, LIMITS, Outcome::OutputLimit);
    assert_eq!((ran.finished.stderr.kept_bytes, ran.finished.stdout.kept_bytes), (MIB, 0));
}

#[test]
fn a_tool_out_of_inodes_is_output_limit() {
    let script = "for n in range(5000): open('/out/%d' % n, 'w').close()";
    let ran = check(script, LIMITS, Outcome::OutputLimit);
    assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
    // A full /out without a failure is not this outcome.
    let script = "try:\n  for n in range(5000): open('/out/%d' % n, 'w').close()\n\
        except OSError: pass\nimport os\nfor n in range(4000): os.unlink('/out/%d' % n)";
    check(script, LIMITS, Outcome::Ok);
}

#[test]
fn files_beyond_the_most_that_are_kept_are_rejected() {
    let script = "for n in range(101): open('/out/%03d' % n, 'w').close()";
    let ran = check(script, LIMITS, Outcome::OutputRejected);
    let kept = &ran.finished.collected;
    assert_eq!((kept.artifacts.len(), kept.rejected.len()), (100, 1));
    assert_eq!(
        (kept.rejected[0].path.as_str(), kept.rejected[0].reason.as_str()),
        ("100", "too-many")
    );
}

#[test]
fn open_files_end_where_they_should() {
    let script = "import os\nheld = []\n\
        try:\n  while True: held.append(os.open('/dev/null', os.O_RDONLY))\n\
        except OSError as e: print(e.errno, max(held))";
    assert_eq!(check(script, LIMITS, Outcome::Ok).stdout, "24 255\n");
}

#[test]
fn a_spinner_whose_parent_will_not_wait_meets_the_cpu_limit() {
    let script = "import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
        if os.fork() == 0:\n  while True: pass\nsignal.pause()";
    let limits = Limits { cpu_ms_max: 500, ..LIMITS };
    check(script, limits, Outcome::CpuLimit);
}

#[test]
fn memory_in_files_is_memory() {
    // 48 MiB of files and as much of memory: each fits alone, both together do not.
    let script = "b = b'x' * (1 << 20)\nf = open('/out/f', 'wb')\n\
        for _ in range(48): f.write(b)\nf.flush()\nkeep = bytearray(48 << 20)\nprint('had it all')";
    let limits = Limits { memory_bytes_max: 80 * MIB, ..LIMITS };
    let ran = check(script, limits, Outcome::MemoryLimit);
    assert_eq!(ran.stdout, "");
}

#[test]
fn an_oom_kill_ends_the_whole_tree() {
    // The parent only waits; an OOM killer that kills one process would leave it alive.
    let script = "import os, time\nif os.fork() == 0: x = bytearray(1 << 30)\n\
        try: os.wait()\nexcept OSError: pass\ntime.sleep(10)\nprint('outlived it')";
    let ran = check(script, LIMITS, Outcome::MemoryLimit);
    assert_eq!(ran.stdout, "");
    assert!(ran.finished.accounting.wall_us.unwrap() < 15_000_000);
}

#[test]
fn too_many_inodes_are_refused() {
    let scratch = SandboxScratch::new();
    let launcher = launcher(&scratch.0);
    for change in [
        (|limits: &mut Limits| limits.out_inodes_max = sandbox::plan::OUT_INODES_MAX + 1)
            as fn(&mut Limits),
        |limits| limits.file_bytes_max = 0,
    ] {
        let mut plan = plan(&scratch.0, "pass", LIMITS);
        change(&mut plan.exec.limits);
        assert!(matches!(launcher.build(plan).map(drop), Err(BuildError::SetupFailed(_))));
    }
}

/// The user may have less than the plan requests: that is recorded, and counts as the limit.
#[test]
fn a_lower_process_limit_is_recorded() {
    let scratch = SandboxScratch::new();
    let (staging, result) = (scratch.0.join("staging"), scratch.0.join("result"));
    fs::create_dir(&staging).unwrap();
    fs::create_dir(&result).unwrap();
    let program = scratch.0.join("launch");
    let binary = env!("CARGO_BIN_EXE_toolexec-launch");
    fs::write(&program, format!("#!/bin/sh\nexec prlimit --nproc=2000:2000 {binary} \"$@\"\n"))
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = LauncherProgram::new(program, staging.clone());
    let launcher = Launcher::new(LauncherAddress::Spawn(program));
    let limits = Limits { pids_max: 4000, ..LIMITS };
    let script = "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[1])";
    let ready = launcher.build(plan(&staging, script, limits)).unwrap();
    let row = |it: &&EffectiveLimit| it.name == LimitName::Pids;
    let pids = *ready.confinement().limits.iter().find(row).unwrap();
    let directory = fs::File::open(&result).unwrap();
    let finished = ready.start(directory.as_fd()).unwrap().finish(|| false).unwrap();
    assert_eq!(finished.outcome(), Outcome::Ok);
    if pids.mechanism == Mechanism::Rlimit {
        assert_eq!((pids.requested, pids.effective), (4000, 1999));
        assert_eq!(fs::read_to_string(result.join("stdout")).unwrap(), "2000\n");
    } else {
        // A control group holds them, which no limit of the launcher's lowers.
        assert_eq!(pids.effective, 4000);
    }
}
