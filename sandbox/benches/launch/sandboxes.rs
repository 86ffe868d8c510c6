//! Our own sandboxes: cold and prewarmed starts, and the time of each step as the client sees it.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use model::Language;
use sandbox::client::{Launcher, LauncherAddress, LauncherProgram, PreparedSandbox, ReadySandbox};
use sandbox::plan::{
    ConfinementRequirements, ExecSpec, Limits, Plan, ProcView, RuntimeSpec, SandboxDevice,
    SandboxNetwork, SandboxSpec, StagingSlot, StagingSlotId, TmpUse,
};
use sandbox::report::{BuildStep, Mark};

const MIB: u64 = 1024 * 1024;

/// The steps of a run: building steps as the launcher marks them, then those the client sees.
pub(crate) const STEPS: [&str; BUILDING + 5] = [
    "  sending the sandbox spec",
    "  opening inputs and runtime",
    "  sending the spec to init",
    "  mounts",
    "  the tool's user, no capability",
    "  pipes, descriptors, reading back",
    "  Landlock",
    "  the last seccomp filter",
    "  self-test",
    "  reporting to the client",
    "spec to prepared",
    "command to ready (limits active)",
    "start request to started",
    "started to ended (the launcher's clock)",
    "ended to collected",
];
/// From the plan to the first mark, between two marks, and from the last one to `Prepared`.
const BUILDING: usize = BuildStep::ALL.len() + 1;

/// The time of each of [`STEPS`]; a prewarmed sandbox has no building steps.
pub(crate) type Steps = [Duration; STEPS.len()];

pub(crate) struct SandboxBench {
    top: PathBuf,
    tool: PathBuf,
    launcher: Launcher,
    count: AtomicUsize,
}

impl SandboxBench {
    /// Uses one tool, and a directory of the bench's own.
    pub(crate) fn new(program: PathBuf, top: &Path, tool: &Path, max_sandboxes: u32) -> Self {
        let staging = top.join("staging");
        fs::create_dir_all(&staging).unwrap();
        let mounts_allowed = vec![tool.parent().unwrap().to_owned(), "/usr".into()];
        let program = LauncherProgram::new(program, staging);
        let program = LauncherProgram { mounts_allowed, max_sandboxes, ..program };
        let reach = LauncherAddress::Spawn(program);
        let (top, tool) = (top.to_owned(), tool.to_owned());
        Self { top, tool, launcher: Launcher::new(reach), count: AtomicUsize::new(0) }
    }

    /// Runs as the daemon does without a prewarmed sandbox: spec and command are sent together.
    pub(crate) fn run_cold(&self) {
        let plan = Plan { sandbox: self.plan(), exec: exec_spec() };
        self.finish(self.launcher.build(plan).unwrap());
    }

    pub(crate) fn prepare(&self) -> PreparedSandbox {
        self.launcher.prepare(self.plan()).unwrap()
    }

    pub(crate) fn run_ready(&self, sandbox: PreparedSandbox) -> Steps {
        let begun = Instant::now();
        let ready = sandbox.assign(exec_spec()).unwrap();
        let ordered = begun.elapsed();
        let mut steps = Steps::default();
        steps[BUILDING + 1] = ordered;
        steps[BUILDING + 2..].copy_from_slice(&self.finish(ready));
        steps
    }

    /// Runs in separate steps: one round trip to the launcher more than [`Self::run_cold`].
    pub(crate) fn run_in_steps(&self) -> Steps {
        let begun = Mark::now(BuildStep::SpecRead);
        let sandbox = self.prepare();
        let prepared = Mark::now(BuildStep::Probed);
        let marks: Vec<_> = [&[begun], sandbox.marks(), &[prepared]].concat();
        let between = |from: &Mark, to: &Mark| Duration::from_nanos(to.at_ns - from.at_ns);
        let mut steps = self.run_ready(sandbox);
        for (step, [from, to]) in steps.iter_mut().zip(marks.array_windows()) {
            *step = between(from, to);
        }
        steps[BUILDING] = between(&begun, &prepared);
        steps
    }

    fn finish(&self, ready: ReadySandbox) -> [Duration; 3] {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let result = self.top.join(format!("result-{number}"));
        fs::create_dir(&result).unwrap();
        let directory = fs::File::open(&result).unwrap();
        let begun = Instant::now();
        let running = ready.start(directory.as_fd()).unwrap();
        let started = begun.elapsed();
        let finished = running.finish(|| false).unwrap();
        let after = begun.elapsed() - started;
        assert_eq!(finished.outcome().as_str(), "ok", "{finished:?}");
        let ended = Duration::from_micros(finished.accounting.wall_us.unwrap());
        [started, ended, after.saturating_sub(ended)]
    }

    fn plan(&self) -> SandboxSpec {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let id = format!("{number:032x}");
        let slot = self.top.join("staging").join(&id);
        fs::create_dir(&slot).unwrap();
        let found = fs::metadata(&slot).unwrap();
        SandboxSpec {
            slot: StagingSlot {
                id: StagingSlotId::new(&id).unwrap(),
                device: found.dev(),
                inode: found.ino(),
            },
            runtime: RuntimeSpec {
                language: Language::Python,
                binary: self.tool.clone(),
                root: None,
                mounts: vec![self.tool.parent().unwrap().to_owned(), "/usr".into()],
                caches: Vec::new(),
                tmp: TmpUse::Data,
                proc_view: ProcView::Pid,
            },
            network: SandboxNetwork::Nothing,
            device: SandboxDevice::Nothing,
            requirements: ConfinementRequirements { landlock_abi_min: 1, cgroup_exception: true },
        }
    }
}

fn exec_spec() -> ExecSpec {
    ExecSpec {
        argv: vec!["true".into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        limits: Limits {
            wall_ms_max: 10_000,
            cpu_ms_max: 10_000,
            memory_bytes_max: 64 * MIB,
            pids_max: 64,
            open_files_max: 1024,
            file_bytes_max: 64 * MIB,
            out_bytes_max: 32 * MIB,
            tmp_bytes_max: 16 * MIB,
            shm_bytes_max: 8 * MIB,
            out_inodes_max: 65_536,
            artifacts_max: 1000,
            artifact_depth_max: 16,
            ..Limits::SMALL
        },
        work: None,
    }
}
