//! Runs of every kind through one launcher, completed or aborted between any two messages. Each run
//! removes what its client made, so that the rest belongs to the launcher.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::Language;
use sandbox::client::{BuildError, Launcher, LauncherAddress, LauncherProgram, PreparedSandbox};
use sandbox::plan::{
    ConfinementRequirements, ExecSpec, Limits, Plan, ProcView, RuntimeSpec, SandboxNetwork,
    SandboxSpec, StagingSlot, StagingSlotId, TmpUse,
};

const MIB: u64 = 1024 * 1024;
/// Concurrent sandboxes, and so the worker slots that are created once and kept.
pub(crate) const MAX_SANDBOXES: usize = 4;

#[derive(Clone, Copy)]
enum Course {
    /// Complete, with this argument for the tool and this outcome.
    Whole(&'static str, &'static str),
    /// Complete, in a sandbox with a network of its own.
    Networked,
    /// The client disconnects before the sandbox exists.
    Requested,
    /// A sandbox that never gets a command.
    Prepared,
    /// A command that is never started.
    Ordered,
    /// The client disconnects while the tool runs.
    Running,
    Cancelled,
    /// A plan that the launcher refuses.
    Refused,
}

/// The repeated sequence: mostly runs that end by themselves, and each other course at least once.
const COURSES: [Course; 36] = {
    use Course::{Cancelled, Networked, Ordered, Prepared, Refused, Requested, Running, Whole};
    const OK: Course = Whole("ends", "ok");
    const FAILS: Course = Whole("fails", "exit_nonzero");
    const FILES: Course = Whole("files", "ok");
    [
        OK,
        FAILS,
        FILES,
        OK,
        Prepared,
        OK,
        Whole("waits", "wall_limit"),
        OK,
        FAILS,
        Requested,
        OK,
        Whole("crashes", "signal"),
        Running,
        OK,
        FILES,
        Ordered,
        Whole("spins", "cpu_limit"),
        OK,
        Networked,
        FAILS,
        Whole("allocates", "memory_limit"),
        OK,
        Whole("orphans", "ok"),
        Prepared,
        Whole("forks", "pids_limit"),
        FILES,
        OK,
        Whole("floods", "output_limit"),
        Requested,
        FAILS,
        Whole("leaves", "seccomp_violation"),
        OK,
        Whole("odd", "output_rejected"),
        Refused,
        Cancelled,
        OK,
    ]
};

const LIMITS: Limits = Limits {
    wall_ms_max: 20_000,
    cpu_ms_max: 20_000,
    memory_bytes_max: 16 * MIB,
    pids_max: 24,
    open_files_max: 64,
    file_bytes_max: 64 * MIB,
    out_bytes_max: 4 * MIB,
    tmp_bytes_max: 2 * MIB,
    out_inodes_max: 64,
    stream_bytes_max: 65_536,
    artifacts_max: 16,
    artifact_depth_max: 4,
    ..Limits::SMALL
};

pub(crate) struct Runs {
    top: PathBuf,
    tool: PathBuf,
    launcher: Launcher,
    count: AtomicUsize,
}

impl Runs {
    /// Puts all files below `top`, this test's own directory.
    pub(crate) fn new(launcher: &Path, top: &Path, tool: PathBuf) -> Self {
        let (staging, results) = (top.join("staging"), top.join("results"));
        fs::create_dir(&staging).unwrap();
        fs::create_dir(results).unwrap();
        let program = top.join("launcher");
        let log = top.join("log");
        let [launcher, log] = [launcher, &log].map(Path::display);
        let script = format!("#!/bin/sh\nexec '{launcher}' \"$@\" 2>'{log}'\n");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let max_sandboxes = u32::try_from(MAX_SANDBOXES).unwrap();
        let mounts_allowed = vec![tool.parent().unwrap().to_owned()];
        let program = LauncherProgram::new(program, staging);
        let program = LauncherProgram { mounts_allowed, max_sandboxes, ..program };
        let launcher = Launcher::new(LauncherAddress::Spawn(program));
        let top = top.to_owned();
        Self { top, tool, launcher, count: AtomicUsize::new(0) }
    }

    /// Makes `count` runs, two at a time.
    pub(crate) fn go(&self, count: usize) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            break;
                        }
                        self.one(COURSES[number % COURSES.len()]);
                    }
                });
            }
        });
    }

    /// Takes every slot at once, which fails if one was given up.
    pub(crate) fn take_all_slots(&self) {
        let slots: Vec<_> = (0..MAX_SANDBOXES).map(|_| self.slot()).collect();
        let sandboxes: Vec<PreparedSandbox> = slots
            .iter()
            .map(|slot| {
                self.launcher.prepare(self.sandbox_spec(slot, SandboxNetwork::Nothing)).unwrap()
            })
            .collect();
        drop(sandboxes);
        slots.iter().for_each(|slot| self.remove(slot));
    }

    /// Returns the launcher's complaints, except that a client was gone: some courses cause that.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = fs::read_to_string(self.top.join("log")).unwrap();
        let expected = |line: &str| {
            line == "toolexec-launch: daemon: disconnected before the run ended"
                || line.starts_with("toolexec-launch: session: Broken pipe")
        };
        log.lines().filter(|line| !expected(line)).map(str::to_owned).collect()
    }

    pub(crate) fn staged(&self) -> usize {
        fs::read_dir(self.top.join("staging")).unwrap().count()
    }

    fn one(&self, course: Course) {
        let slot = self.slot();
        let plan = || self.sandbox_spec(&slot, SandboxNetwork::Nothing);
        match course {
            Course::Whole(word, outcome) => {
                self.whole(&slot, word, outcome, SandboxNetwork::Nothing)
            }
            Course::Networked => self.whole(&slot, "ends", "ok", SandboxNetwork::Proxy),
            Course::Requested => {
                drop(self.launcher.request(plan(), Duration::from_secs(30)).unwrap());
            }
            Course::Prepared => drop(self.launcher.prepare(plan()).unwrap()),
            Course::Ordered => {
                let order = exec_spec("ends", LIMITS);
                drop(self.launcher.build(Plan { sandbox: plan(), exec: order }).unwrap());
            }
            Course::Running => self.start(&slot, "waits", drop),
            Course::Cancelled => self.start(&slot, "floods", |running| {
                let finished = running.finish(|| true).unwrap();
                let outcome = finished.outcome().as_str();
                assert!(["cancelled", "output_limit"].contains(&outcome), "{finished:?}");
            }),
            Course::Refused => {
                let mut sandbox = plan();
                sandbox.slot.inode += 1;
                let refused = self.launcher.prepare(sandbox).map(drop);
                assert!(matches!(refused, Err(BuildError::SetupFailed(_))), "{refused:?}");
            }
        }
        self.remove(&slot);
    }

    fn whole(&self, slot: &Path, word: &str, outcome: &str, network: SandboxNetwork) {
        let limits = match outcome {
            "wall_limit" => Limits { wall_ms_max: 15, ..LIMITS },
            "cpu_limit" => Limits { cpu_ms_max: 10, ..LIMITS },
            _ => LIMITS,
        };
        let plan =
            Plan { sandbox: self.sandbox_spec(slot, network), exec: exec_spec(word, limits) };
        let mut ready = self.launcher.build(plan).unwrap();
        assert_eq!(ready.take_proxy().is_some(), network == SandboxNetwork::Proxy);
        let finished = self.in_result(slot, |result| {
            ready.start(result.as_fd()).unwrap().finish(|| false).unwrap()
        });
        // With sampled limits, a tool that fails between two samples may only have a nonzero exit.
        let sampled = finished.accounting.memory_peak_sampled && outcome == "pids_limit";
        let expected = if sampled { &["pids_limit", "exit_nonzero"][..] } else { &[outcome] };
        assert!(expected.contains(&finished.outcome().as_str()), "{word}: {finished:?}");
    }

    fn start(&self, slot: &Path, word: &str, then: impl FnOnce(sandbox::client::RunningSandbox)) {
        let plan = Plan {
            sandbox: self.sandbox_spec(slot, SandboxNetwork::Nothing),
            exec: exec_spec(word, LIMITS),
        };
        let ready = self.launcher.build(plan).unwrap();
        self.in_result(slot, |result| then(ready.start(result.as_fd()).unwrap()));
    }

    /// Calls `act` with a directory for the result, and removes it.
    fn in_result<T>(&self, slot: &Path, act: impl FnOnce(fs::File) -> T) -> T {
        let result = self.top.join("results").join(slot.file_name().unwrap());
        fs::create_dir(&result).unwrap();
        let answer = act(fs::File::open(&result).unwrap());
        fs::remove_dir_all(&result).unwrap();
        answer
    }

    fn slot(&self) -> PathBuf {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let slot = self.top.join("staging").join(format!("{number:032x}"));
        fs::create_dir(&slot).unwrap();
        fs::set_permissions(&slot, fs::Permissions::from_mode(0o755)).unwrap();
        slot
    }

    /// Fails if the launcher still uses or has filled the directory.
    fn remove(&self, slot: &Path) {
        fs::remove_dir(slot).unwrap();
    }

    fn sandbox_spec(&self, slot: &Path, network: SandboxNetwork) -> SandboxSpec {
        let found = fs::metadata(slot).unwrap();
        let id = StagingSlotId::new(slot.file_name().unwrap().to_str().unwrap()).unwrap();
        SandboxSpec {
            slot: StagingSlot { id, device: found.dev(), inode: found.ino() },
            runtime: RuntimeSpec {
                language: Language::Python,
                root: None,
                binary: self.tool.clone(),
                mounts: vec![self.tool.parent().unwrap().to_owned()],
                caches: Vec::new(),
                tmp: TmpUse::Data,
                proc_view: ProcView::Pid,
            },
            network,
            device: sandbox::plan::SandboxDevice::Nothing,
            requirements: ConfinementRequirements { landlock_abi_min: 1, cgroup_exception: true },
        }
    }
}

fn exec_spec(word: &str, limits: Limits) -> ExecSpec {
    let argv = ["ends", word].map(str::to_owned).to_vec();
    ExecSpec { argv, env: Vec::new(), limits, work: None }
}
