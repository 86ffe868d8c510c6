//! Means to make a process stuck: a frozen control group, a signal, a file system without answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use toolexec_tests::{Process, kill};

const FREEZER: &str = "/sys/fs/cgroup/freezer";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StopMeans {
    /// A group of the v1 freezer: uninterruptible sleep, in which a process receives no signal.
    Freezer,
    /// SIGSTOP, which every host has.
    Stop,
}

/// Returns every means that this host and this user have.
#[must_use]
pub(crate) fn available_means() -> Vec<StopMeans> {
    // Concurrent tests must not use each other's group.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("toolexec-try-{}-{number}", std::process::id());
    let group = Path::new(FREEZER).join(name);
    let can_freeze = fs::create_dir(&group).is_ok();
    if can_freeze {
        fs::remove_dir(&group).unwrap();
    }
    if can_freeze { vec![StopMeans::Freezer, StopMeans::Stop] } else { vec![StopMeans::Stop] }
}

/// Processes that are stopped until this is dropped.
pub(crate) struct StoppedProcesses {
    means: StopMeans,
    group: PathBuf,
    stopped: Vec<Process>,
}

impl StoppedProcesses {
    #[must_use]
    pub(crate) fn new(means: StopMeans) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-test-{}-{number}", std::process::id());
        let group = Path::new(FREEZER).join(name);
        if means == StopMeans::Freezer {
            fs::create_dir(&group).unwrap();
            fs::write(group.join("freezer.state"), "FROZEN").unwrap();
            // An ordinary user's process may move itself into the group too.
            let writable = std::os::unix::fs::PermissionsExt::from_mode(0o666);
            fs::set_permissions(group.join("cgroup.procs"), writable).unwrap();
        }
        Self { means, group, stopped: Vec::new() }
    }

    pub(crate) fn stop(&mut self, processes: &[Process]) {
        for process in processes {
            match self.means {
                StopMeans::Freezer => {
                    fs::write(self.group.join("cgroup.procs"), process.0.to_string()).unwrap();
                }
                StopMeans::Stop => kill("STOP", *process),
            }
            self.stopped.push(*process);
        }
        for process in processes {
            wait_until("a process stands still", || matches!(state_of(*process), Some('D' | 'T')));
        }
    }

    /// Makes a program of ours stop before its first instruction.
    pub(crate) fn stop_at_start(&self, program: &Path) {
        let real = program.with_extension("real");
        fs::rename(program, &real).unwrap();
        let stop = match self.means {
            StopMeans::Freezer => format!("echo $$ > {}/cgroup.procs", self.group.display()),
            StopMeans::Stop => "kill -STOP $$".to_owned(),
        };
        let script = format!("#!/bin/sh\n{stop}\nexec {} \"$@\"\n", real.display());
        fs::write(program, script).unwrap();
        let mode = fs::metadata(&real).unwrap().permissions();
        fs::set_permissions(program, mode).unwrap();
    }

    /// Resumes all stopped processes that still exist.
    pub(crate) fn resume(&mut self) {
        for process in self.stopped.drain(..) {
            if self.means == StopMeans::Stop && state_of(process).is_some() {
                kill("CONT", process);
            }
        }
        if self.means == StopMeans::Freezer && self.group.exists() {
            let state = self.group.join("freezer.state");
            fs::write(&state, "THAWED").unwrap();
            let inside = || fs::read_to_string(self.group.join("cgroup.procs")).unwrap();
            for pid in inside().lines() {
                // A process that ends in the meantime leaves the group by itself.
                fs::write(Path::new(FREEZER).join("cgroup.procs"), pid).unwrap_or_default();
            }
            wait_until("the group is empty", || inside().is_empty());
            wait_until("the group can go", || fs::remove_dir(&self.group).is_ok());
        }
    }
}

impl Drop for StoppedProcesses {
    fn drop(&mut self) {
        self.resume();
    }
}

/// Returns the state letter of proc_pid_stat(5); `None` for a dead or missing process.
#[must_use]
pub(crate) fn state_of(process: Process) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.0)).ok()?;
    let state = stat.rsplit_once(") ")?.1.chars().next()?;
    (!matches!(state, 'Z' | 'X')).then_some(state)
}

#[must_use]
pub(crate) fn children_of(process: Process) -> Vec<Process> {
    let path = format!("/proc/{0}/task/{0}/children", process.0);
    let children = fs::read_to_string(path).unwrap_or_default();
    children.split_whitespace().map(|pid| Process(pid.parse().unwrap())).collect()
}

#[track_caller]
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(15), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A mounted file system that never answers a process with a certain name.
pub(crate) struct SilentFileSystem {
    server: Child,
    place: PathBuf,
}

/// A minimal `/dev/fuse` server: an empty directory.
const SERVER: &str = r#"
import ctypes, os, struct, sys
place, mute = sys.argv[1:]
fuse = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
if libc.mount(b"mute", place.encode(), b"fuse", 0, options):
    sys.exit(os.strerror(ctypes.get_errno()))
print("mounted", flush=True)
while True:
    try: request = os.read(fuse, 1 << 20)
    except OSError: break
    _, code, unique, _, _, _, pid = struct.unpack_from("<IIQQIII", request)
    try: name = open(f"/proc/{pid}/comm").read().strip()
    except OSError: name = ""
    if code in (2, 36, 42): continue
    if name == mute and code != 26: continue
    error, answer = 0, b""
    if code == 26:
        answer = struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 16, 12, 4096, 1, 1, 0, 0)
    elif code == 3:
        answer = struct.pack("<QII6Q10I", 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
    elif code in (27, 29): answer = struct.pack("<QII", 0, 0, 0)[:16 if code == 27 else 0]
    elif code == 28: answer = b""
    else: error = -38
    os.write(fuse, struct.pack("<IiQ", 16 + len(answer), error, unique) + answer)
"#;

impl SilentFileSystem {
    /// Mounts the file system, or returns the reason why this host cannot do so.
    pub(crate) fn mount(to_whom: &str) -> Result<Self, String> {
        // A policy may not mount a directory of /tmp. The launcher looks at one outside of its
        // usual list.
        let place = PathBuf::from(format!("/srv/toolexec-mute-{}-{to_whom}", std::process::id()));
        fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
        let mut command = Command::new("/usr/bin/python3");
        command.arg("-c").arg(SERVER).arg(&place).arg(to_whom);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = match command.spawn() {
            Ok(server) => server,
            Err(error) => {
                fs::remove_dir(&place).unwrap();
                return Err(format!("/usr/bin/python3: {error}"));
            }
        };
        let mut line = String::new();
        let mut stdout = std::io::BufReader::new(server.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
        if line != "mounted\n" {
            let output = server.wait_with_output().unwrap();
            fs::remove_dir(&place).unwrap();
            // The last line of a Python traceback names the error.
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(stderr.lines().last().unwrap_or_default().to_owned());
        }
        Ok(Self { server, place })
    }

    #[must_use]
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }
}

impl Drop for SilentFileSystem {
    fn drop(&mut self) {
        // When the server ends, all waiting processes get an error.
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        let unmounted = Command::new("umount").arg("-l").arg(&self.place).status().unwrap();
        assert!(unmounted.success() || std::thread::panicking());
        fs::remove_dir(&self.place).unwrap();
    }
}
