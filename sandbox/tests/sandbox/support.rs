//! Test support: a launcher, a plan, a run.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Language, Outcome};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use sandbox::client::{Launcher, LauncherAddress, LauncherProgram};
use sandbox::plan::{
    ConfinementRequirements, ExecSpec, Limits, Plan, ProcView, RuntimeSpec, SandboxDevice,
    SandboxNetwork, SandboxSpec, StagingSlot, StagingSlotId, TmpUse,
};
use sandbox::report::{Confinement, FinishedRun};

pub(crate) const MIB: u64 = 1024 * 1024;

/// A private directory that is removed with the test.
pub(crate) struct SandboxScratch(pub(crate) PathBuf);

impl SandboxScratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let unique = format!(
            "toolexec-sandbox-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(unique);
        let scratch = Self(path);
        scratch.dir("");
        scratch
    }

    /// Returns a directory that every user may enter.
    pub(crate) fn dir(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for SandboxScratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

pub(crate) struct RunOutput {
    pub(crate) finished: FinishedRun,
    pub(crate) confinement: Confinement,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) result: PathBuf,
    _scratch: SandboxScratch,
}

pub(crate) const LIMITS: Limits = Limits {
    wall_ms_max: 20_000,
    cpu_ms_max: 20_000,
    memory_bytes_max: 256 * MIB,
    pids_max: 64,
    open_files_max: 256,
    file_bytes_max: 64 * MIB,
    out_bytes_max: 64 * MIB,
    tmp_bytes_max: 32 * MIB,
    shm_bytes_max: 16 * MIB,
    out_inodes_max: 4096,
    artifacts_max: 100,
    artifact_depth_max: 8,
    ..Limits::SMALL
};

pub(crate) fn plan(staging: &Path, script: &str, limits: Limits) -> Plan {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let id = format!("{:016x}{count:016x}", std::process::id());
    let slot = staging.join(&id);
    fs::create_dir(&slot).unwrap();
    fs::write(slot.join("input.txt"), "given\n").unwrap();
    fs::set_permissions(&slot, fs::Permissions::from_mode(0o755)).unwrap();
    let found = fs::metadata(&slot).unwrap();
    let words = ["/usr/bin/python3", "-c", script];
    let sandbox = SandboxSpec {
        slot: StagingSlot {
            id: StagingSlotId::new(&id).unwrap(),
            device: found.dev(),
            inode: found.ino(),
        },
        runtime: RuntimeSpec {
            language: Language::Python,
            root: None,
            binary: fs::canonicalize("/usr/bin/python3").unwrap(),
            mounts: vec![PathBuf::from("/usr")],
            caches: Vec::new(),
            tmp: TmpUse::Data,
            proc_view: ProcView::Pid,
        },
        network: SandboxNetwork::Nothing,
        device: SandboxDevice::Nothing,
        requirements: ConfinementRequirements { landlock_abi_min: 1, cgroup_exception: true },
    };
    let order = ExecSpec {
        argv: words.map(str::to_owned).to_vec(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), "/tmp".into())],
        limits,
        work: None,
    };
    Plan { sandbox, exec: order }
}

pub(crate) fn launcher(staging: &Path) -> Launcher {
    let program = LauncherProgram::new(launcher_program(), staging.to_owned());
    Launcher::new(LauncherAddress::Spawn(LauncherProgram { max_sandboxes: 4, ..program }))
}

pub(crate) fn launcher_program() -> PathBuf {
    env!("CARGO_BIN_EXE_toolexec-launch").into()
}

pub(crate) fn run_with(script: &str, limits: Limits) -> RunOutput {
    run_changed(script, limits, |_, _| {})
}

/// Runs a plan after `change`, which also receives the slot.
pub(crate) fn run_changed(
    script: &str,
    limits: Limits,
    change: impl FnOnce(&mut Plan, &Path),
) -> RunOutput {
    let scratch = SandboxScratch::new();
    let (staging, result) = (scratch.0.join("staging"), scratch.0.join("result"));
    fs::create_dir(&staging).unwrap();
    fs::create_dir(&result).unwrap();
    let launcher = launcher(&staging);
    let mut plan = plan(&staging, script, limits);
    let slot = staging.join(plan.sandbox.slot.id.as_str());
    change(&mut plan, &slot);
    let ready = launcher.build(plan).unwrap();
    let confinement = ready.confinement().clone();
    let directory = fs::File::open(&result).unwrap();
    let finished = ready.start(directory.as_fd()).unwrap().finish(|| false).unwrap();
    let text = |name: &str| String::from_utf8_lossy(&fs::read(result.join(name)).unwrap()).into();
    let (stdout, stderr) = (text("stdout"), text("stderr"));
    RunOutput { finished, confinement, stdout, stderr, result, _scratch: scratch }
}

pub(crate) fn run(script: &str) -> RunOutput {
    run_with(script, LIMITS)
}

#[track_caller]
pub(crate) fn check(script: &str, limits: Limits, expected: Outcome) -> RunOutput {
    let ran = run_with(script, limits);
    let RunOutput { finished, stdout, stderr, .. } = &ran;
    assert_eq!(finished.outcome(), expected, "{finished:#?}\nstdout: {stdout}\nstderr: {stderr}");
    ran
}

/// A launcher behind a socket in the file system, as its unit starts it.
pub(crate) struct LauncherService {
    scratch: SandboxScratch,
    pub(crate) process: Child,
    socket: PathBuf,
}

impl LauncherService {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let scratch = SandboxScratch::new();
        let (staging, socket) = (scratch.0.join("staging"), scratch.0.join("launch.sock"));
        fs::create_dir(&staging).unwrap();
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
        let listener = socket_with(AddressFamily::UNIX, kind, flags, None).unwrap();
        bind(&listener, &SocketAddrUnix::new(&socket).unwrap()).unwrap();
        listen(&listener, 8).unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_toolexec-launch"))
            .args(arguments)
            .arg("--staging")
            .arg(&staging)
            .stdin(Stdio::from(listener))
            .spawn()
            .unwrap();
        Self { scratch, process, socket }
    }

    pub(crate) fn staging(&self) -> PathBuf {
        self.scratch.0.join("staging")
    }

    pub(crate) fn launcher(&self) -> Launcher {
        Launcher::new(LauncherAddress::Socket(self.socket.clone()))
    }

    pub(crate) fn connect(&self) -> OwnedFd {
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
        let connection = socket_with(AddressFamily::UNIX, kind, flags, None).unwrap();
        connect(&connection, &SocketAddrUnix::new(&self.socket).unwrap()).unwrap();
        connection
    }

    /// Returns the first line of output of a Python script.
    pub(crate) fn line(&self, script: &str) -> String {
        let ready = self.launcher().build(plan(&self.staging(), script, LIMITS)).unwrap();
        let result = self.scratch.0.join("result");
        fs::create_dir(&result).unwrap();
        let directory = fs::File::open(&result).unwrap();
        let finished = ready.start(directory.as_fd()).unwrap().finish(|| false).unwrap();
        assert_eq!(finished.outcome(), Outcome::Ok);
        let text = fs::read_to_string(result.join("stdout")).unwrap();
        fs::remove_dir_all(result).unwrap();
        text.lines().next().unwrap_or_default().to_owned()
    }
}

impl Drop for LauncherService {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.process.wait().unwrap().success());
    }
}
