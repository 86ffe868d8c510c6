//! A tool's own view of its sandbox, and its end at each limit, as root and as ordinary user.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::path::Path;
use std::time::Duration;

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, CliOutput, Record, RequestText, skip};

toolexec_tests::as_both!(
    no_interface_is_up,
    the_kernel_says_that_it_is_confined,
    no_host_path_is_there,
    writes_stay_in_out_and_tmp,
    two_hundred_forks_meet_the_pids_limit,
    two_gibibytes_meet_the_memory_limit,
    a_full_tmp_is_no_way_around_the_memory_limit,
    a_sleeper_meets_the_wall_limit,
    a_spinner_meets_its_cpu_limit,
    a_flood_meets_the_output_limit,
    nothing_is_inherited,
    orphans_die_with_the_run,
    node_runs_too,
);

/// Runs a script that must succeed, and returns its output.
#[track_caller]
fn output_of(bench: &Bench, script: &str) -> String {
    let (_, record) = bench.run_recorded(&RequestText::python(script));
    record.assert_outcome("ok");
    record.stdout()
}

/// Runs a request that its limit must end.
#[track_caller]
fn assert_ends_as(bench: &Bench, outcome: &str, request: &RequestText) -> (CliOutput, Record) {
    let (output, record) = bench.run_recorded(request);
    record.assert_outcome(outcome);
    output.assert_code(1);
    bench.assert_nothing_left();
    (output, record)
}

fn no_interface_is_up(bench: &Bench) {
    let script = "
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(1, 256):
    try: name = fcntl.ioctl(s, 0x8910, struct.pack('16si12x', b'', i))[:16].rstrip(b'\\0')
    except OSError: continue
    flags = struct.unpack('16sh14x', fcntl.ioctl(s, 0x8913, struct.pack('16s16x', name)))[1]
    print(name.decode(), 'up' if flags & 1 else 'down')
for where in [('127.0.0.1', 9), ('1.1.1.1', 443)]:
    try: socket.create_connection(where, 1); print('connected', where)
    except OSError: pass
";
    assert_eq!(output_of(bench, script), "lo down\n");
}

fn the_kernel_says_that_it_is_confined(bench: &Bench) {
    let (_, record) =
        bench.run_recorded(&RequestText::python("print(open('/proc/self/status').read())"));
    let stdout = record.stdout();
    let value = |key: &str| {
        let line = stdout.lines().find(|line| line.starts_with(key)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(value(set), "0000000000000000", "{set}");
    }
    assert_eq!((value("NoNewPrivs:").as_str(), value("Seccomp:").as_str()), ("1", "2"));
    if bench.is_root() {
        // A uid of its own: neither root's nor ours.
        assert!(value("Uid:").parse::<u32>().unwrap() >= 2_000_000_000);
    }
    // The record states the values of the kernel.
    assert_eq!(record.front_matter_value("no_new_privs"), "true");
    assert_eq!(record.front_matter_value("effective"), "0000000000000000");
    assert_eq!(record.front_matter_value("bounding"), "0000000000000000");
    for namespace in ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"] {
        assert!(record.text.contains(&format!("- kind: \"{namespace}\"")), "{namespace}");
    }
}

fn no_host_path_is_there(bench: &Bench) {
    let script = "
import os
def attempt(path):
    try: print(path, os.listdir(path) if os.path.isdir(path) else open(path).read(20))
    except OSError as error: print(path, type(error).__name__)
for path in ['/', '/root', '/home', '/var', '/sys', '/boot', '/srv', '/etc/shadow', '/etc/ssh',
             '/proc/1/root/etc/shadow', '/dev/mem', '/run', '/proc/sys/kernel/hostname']:
    attempt(path)
print('etc', *sorted(name for name in ['passwd', 'group', 'hosts', 'nsswitch.conf', 'localtime',
      'hostname', 'resolv.conf', 'machine-id', 'ssl'] if os.path.exists('/etc/' + name)))
print('mounts', *sorted({line.split()[1] for line in open('/proc/self/mounts')}))
";
    let output = output_of(bench, script);
    let of = |path: &str| {
        let line = output.lines().find(|line| line.split(' ').next() == Some(path));
        line.unwrap().split_once(' ').unwrap().1.to_owned()
    };
    assert_eq!(of("/"), "PermissionError");
    for path in ["/root", "/home", "/var", "/sys", "/boot", "/srv", "/etc/shadow", "/etc/ssh"] {
        assert_eq!(of(path), "FileNotFoundError", "{path}");
    }
    for path in ["/proc/1/root/etc/shadow", "/dev/mem", "/run", "/proc/sys/kernel/hostname"] {
        assert!(of(path).ends_with("Error"), "{path}: {}", of(path));
    }
    assert_eq!(of("etc"), "group hosts localtime nsswitch.conf passwd");
    let allowed = ["/", "/in", "/out", "/tmp", "/proc", "/usr", "/dev", "/etc"];
    // Empty directories over the host's own settings and sources.
    let covers = ["/usr/etc", "/usr/local/etc", "/usr/local/src"];
    let stray = |mount: &&str| {
        let known = allowed.contains(mount) || covers.contains(mount);
        !known && !mount.starts_with("/dev/") && !mount.starts_with("/etc/")
    };
    assert_eq!(of("mounts").split(' ').find(stray), None, "{output}");
    assert!(!output.contains(bench.scratch().path().to_str().unwrap()), "{output}");
}

fn writes_stay_in_out_and_tmp(bench: &Bench) {
    let script = "
import os
for place in ['/', '/in', '/usr', '/usr/bin', '/etc', '/dev', '/proc', '/out', '/tmp']:
    try: open(os.path.join(place, 'written'), 'w').write('x'); print(place)
    except OSError: pass
for path in ['/in/script.py', '/etc/passwd', '/usr/bin/env']:
    for mode in ['a', 'r+']:
        try: open(path, mode); print('opened', path)
        except OSError: pass
";
    let (_, record) = bench.run_recorded(&RequestText::python(script).output("written"));
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "/out\n/tmp\n");
    assert!(!Path::new("/tmp/written").exists(), "/tmp in the sandbox is not the host's");
}

fn two_hundred_forks_meet_the_pids_limit(bench: &Bench) {
    let script =
        "import os, time\nfor i in range(200):\n  if os.fork() == 0: time.sleep(30); os._exit(0)";
    let (output, record) = assert_ends_as(bench, "pids_limit", &RequestText::python(script));
    assert!(output.elapsed < Duration::from_secs(10) * time_factor(), "{output:#?}");
    let peak = record.front_matter_value("pids_peak");
    assert!(peak == "unknown" || peak.parse::<u32>().unwrap() <= 64, "{peak}");
}

fn two_gibibytes_meet_the_memory_limit(bench: &Bench) {
    let request = RequestText::python("x = bytearray(2 << 30); print(len(x))").memory_mb(256);
    let (_, record) = assert_ends_as(bench, "memory_limit", &request);
    assert_eq!(record.stdout(), "");
    let peak: u64 = record.front_matter_value("memory_peak_bytes").parse().unwrap();
    assert!((200 << 20..2 << 30).contains(&peak), "{peak}");
}

fn a_full_tmp_is_no_way_around_the_memory_limit(bench: &Bench) {
    let script = "
import errno
done = 0
try:
    with open('/tmp/big', 'wb') as f:
        for _ in range(512): f.write(bytes(1 << 20)); f.flush(); done += 1
except OSError as error: print(errno.errorcode[error.errno], done < 128)
";
    assert_eq!(output_of(bench, script), "ENOSPC True\n");
}

fn a_sleeper_meets_the_wall_limit(bench: &Bench) {
    let request = RequestText::python("import time; time.sleep(60)").time_sec(2);
    let (output, record) = assert_ends_as(bench, "wall_limit", &request);
    assert!(output.elapsed < Duration::from_secs(10) * time_factor(), "{output:#?}");
    let runtime: f64 = record.front_matter_value("runtime_sec").parse().unwrap();
    assert!((2.0..5.0).contains(&runtime), "{runtime}");
}

fn a_spinner_meets_its_cpu_limit(bench: &Bench) {
    // Two seconds on one core use two seconds of CPU time: of both limits, the wall limit wins.
    let (_, record) = bench.run_recorded(&RequestText::python("while True: pass").time_sec(2));
    record.assert_outcome("wall_limit");

    // With less CPU time than wall time, only the CPU limit is reached.
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let changed = policy.replacen("cpu_seconds_max: null", "cpu_seconds_max: 1", 1);
    assert_ne!(changed, policy);
    let policy = bench.scratch().file("policy.yaml", changed);
    let request = bench.save(&RequestText::python("while True: pass"));
    let output = CliOutput::of(
        bench
            .command("toolexec")
            .arg("run")
            .arg(&request.path)
            .arg("--policy")
            .arg(policy)
            .args(["--format", "json"]),
    );
    output.assert_code(1);
    Record::of(&output).assert_outcome("cpu_limit");
    // Before its wall limit of 20 s.
    assert!(output.elapsed < Duration::from_secs(18), "{output:#?}");
}

fn a_flood_meets_the_output_limit(bench: &Bench) {
    for stream in ["stdout", "stderr"] {
        let script = format!("import sys\nwhile True: print('x' * 9999, file=sys.{stream})");
        let (_, record) = assert_ends_as(bench, "output_limit", &RequestText::python(&script));
        let kept = std::fs::metadata(record.path.join(stream)).unwrap().len();
        assert_eq!(kept, 16 << 20, "{stream}");
        assert!(record.text.len() < 256 * 1024, "the record shows the beginning only");
    }
}

fn nothing_is_inherited(bench: &Bench) {
    let script = "
import os, signal
print(*sorted(int(fd) for fd in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + fd)))
print(os.readlink('/proc/self/fd/0'), os.isatty(1))
try: open('/dev/tty'); print('a terminal')
except OSError: pass
print(*sorted(os.environ))
print(*(s.name for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN))
print(*signal.pthread_sigmask(signal.SIG_BLOCK, []))
";
    let request = bench.save(&RequestText::python(script));
    let run =
        format!("trap '' HUP USR1 URG\ntoolexec run {} --format json", request.path.display());
    let mut command = bench.shell(&run);
    command.env("SECRET_TOKEN", "of the host").env("LD_PRELOAD", "");
    let output = CliOutput::of(&mut command);
    let stdout = Record::of(&output).stdout();
    let lines: Vec<_> = stdout.lines().collect();
    assert_eq!((lines[0], lines[1]), ("0 1 2", "/dev/null False"), "{stdout}");
    assert_eq!(lines.len(), 5, "{stdout}");
    assert!(!lines[2].contains("SECRET_TOKEN") && !lines[2].contains("LD_PRELOAD"), "{stdout}");
    // Python itself ignores these two.
    assert_eq!((lines[3], lines[4]), ("SIGPIPE SIGXFSZ", ""), "{stdout}");
}

fn orphans_die_with_the_run(bench: &Bench) {
    let word = format!("orphan-of-{}", RequestText::python("").id);
    // The tool ends when the program of its child has started.
    let orphan = "import os, time; os.write(0, b\"started\"); time.sleep(300)";
    let script = format!(
        "import os, sys\nfrom_child, to_parent = os.pipe()\nif os.fork() == 0:\n  os.setsid()\n  \
         os.dup2(to_parent, 0)\n  \
         os.execv(sys.executable, ['python', '-c', '{orphan}', '{word}'])\n\
         print(os.read(from_child, 7).decode())"
    );
    let (output, record) = bench.run_recorded(&RequestText::python(&script));
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "started\n", "{}", record.stderr());
    assert!(output.elapsed < Duration::from_secs(10) * time_factor(), "{output:#?}");
    toolexec_tests::wait_for_no_process(&word);
}

fn node_runs_too(bench: &Bench) {
    let user = if bench.is_root() { "as_root" } else { "as_an_ordinary_user" };
    if !["/usr/bin/node", "/usr/local/bin/node"].iter().any(|path| Path::new(path).is_file()) {
        return skip(&format!("{user}::node_runs_too"), "node is not installed");
    }
    let script = "const fs = require('fs'); fs.writeFileSync('/out/sum.json', \
                  JSON.stringify({sum: [1, 2, 39].reduce((a, b) => a + b)}));";
    let request = RequestText::of("node", "node script.js").input("script.js", script);
    let (_, record) = bench.run_recorded(&request.output("sum.json"));
    record.assert_outcome("ok");
    let sum = std::fs::read_to_string(record.path.join("artifacts/sum.json")).unwrap();
    assert_eq!(sum, "{\"sum\":42}");
}
