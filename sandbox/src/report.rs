//! The resources a run used and the confinement it had, as read back from the kernel and put into
//! the record. A value that the kernel does not report is `None`, never zero.

use model::{LauncherMode, LimitName, Mechanism, Outcome, RejectReason};

use crate::outcome::{OutcomeFacts, decide};

model::closed_set! {
    /// A moment in the making of a sandbox, in chronological order. Messages encode it by position.
    pub enum BuildStep {
        /// The launcher has read the sandbox spec.
        SpecRead = "asked",
        /// The launcher has opened everything that the spec names and sent it to init.
        SpecOpened = "furnished",
        /// Init has read the spec.
        InitSpecRead = "heard",
        /// Everything is mounted.
        Mounted = "mounted",
        /// Init is the tool's user and has no capability.
        RightsDropped = "stripped",
        /// Init has read back the confinement so far.
        StateRead = "witnessed",
        /// The Landlock rules are enforced.
        Landlocked = "landlocked",
        /// The filters are loaded.
        Filtered = "filtered",
        /// All probes have run, and init has reported to the launcher.
        Probed = "probed",
    }
}

/// The time of a step, in nanoseconds of `CLOCK_MONOTONIC`; for benches only, never recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The step that is done.
    pub step: BuildStep,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    pub at_ns: u64,
}

impl Mark {
    /// Returns a mark with the current time.
    #[must_use]
    pub fn now(step: BuildStep) -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let part = |n: i64| u64::try_from(n).unwrap_or(0);
        Self { step, at_ns: part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec) }
    }
}

/// One limit as requested and as read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveLimit {
    /// The limit.
    pub name: LimitName,
    /// The mechanism that enforces it.
    pub mechanism: Mechanism,
    /// The requested value.
    pub requested: u64,
    /// The value that was read back.
    pub effective: u64,
}

impl EffectiveLimit {
    /// Returns a limit whose effective value equals the requested one.
    pub(crate) fn exact(name: LimitName, mechanism: Mechanism, value: u64) -> Self {
        Self { name, mechanism, requested: value, effective: value }
    }
}

/// The five capability sets of the tool's process, as bit masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapabilitySets {
    /// `CapInh` of proc_pid_status(5).
    pub inheritable: u64,
    /// `CapPrm`.
    pub permitted: u64,
    /// `CapEff`.
    pub effective: u64,
    /// `CapBnd`.
    pub bounding: u64,
    /// `CapAmb`.
    pub ambient: u64,
}

/// The confinement that was effective when the tool's program was executed. The sandbox's init
/// reads it from its own `/proc` entries after the last step, and the tool inherits it unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// System mode (root) or user mode.
    pub mode: LauncherMode,
    /// The tool's uid as seen from the host.
    pub uid: u32,
    /// Its supplementary groups as seen from the host: in system mode none, or the group of
    /// `/dev/kvm`. In user mode they are the caller's own, because an ordinary user cannot drop
    /// groups.
    pub groups: Vec<u32>,
    /// Namespace kind and inode number: `("pid", 4026532281)`.
    pub namespaces: Vec<(String, u64)>,
    /// The Landlock ABI in use.
    pub landlock_abi: u32,
    /// Names of the Landlock rights that the ruleset handles: denied unless a rule allows them.
    pub landlock_handled: Vec<String>,
    /// SHA-256 of each seccomp program, in the order they were loaded.
    pub seccomp_sha256: Vec<[u8; 32]>,
    /// The kernel's `Seccomp:` field (2 means filter mode).
    pub seccomp_mode: u32,
    /// The `no_new_privs` flag.
    pub no_new_privs: bool,
    /// The capability sets of the tool's process.
    pub capabilities: CapabilitySets,
    /// SHA-256 of the sandbox's own `mountinfo`.
    pub mounts_sha256: [u8; 32],
    /// The limits with their effective values.
    pub limits: Vec<EffectiveLimit>,
    /// Layers that are missing because the policy allows it as a named exception.
    pub degraded: Vec<String>,
}

/// Resources used by the tool's whole tree. `None` where the kernel does not report a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// From exec to the end of the tool, microseconds.
    pub wall_us: Option<u64>,
    /// User time, microseconds.
    pub cpu_user_us: Option<u64>,
    /// System time, microseconds.
    pub cpu_system_us: Option<u64>,
    /// Highest memory use of the tree, bytes.
    pub memory_peak_bytes: Option<u64>,
    /// True if `memory_peak_bytes` was sampled and may miss a peak between two samples.
    pub memory_peak_sampled: bool,
    /// Number of processes that the kernel's OOM killer ended.
    pub oom_kills: Option<u64>,
    /// Highest number of processes and threads.
    pub pids_peak: Option<u64>,
    /// Number of forks and clones refused because of the pids limit.
    pub pids_refused: Option<u64>,
    /// Voluntary context switches of processes that were waited for.
    pub switches_voluntary: Option<u64>,
    /// Involuntary context switches of these processes.
    pub switches_forced: Option<u64>,
    /// 512-byte blocks read by processes that were waited for.
    pub blocks_in: Option<u64>,
    /// 512-byte blocks written by these processes.
    pub blocks_out: Option<u64>,
    /// Bytes that `/out` held when the tool ended.
    pub out_bytes: Option<u64>,
}

/// Current usage of the whole tree, for display only. `None`: not reported by the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Memory in bytes, counted as for the limit.
    pub memory_bytes: Option<u64>,
    /// Processor time since the start, microseconds.
    pub cpu_us: Option<u64>,
}

/// A system call that the sandbox's filter denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedCall {
    /// The name of the call.
    pub name: String,
    /// Number of denials, over all processes of the run.
    pub count: u64,
}

/// The tool's stdout or stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Bytes kept in the file.
    pub kept_bytes: u64,
    /// Bytes that the tool wrote, as far as they were read before the end.
    pub produced_bytes: u64,
    /// SHA-256 of the bytes kept.
    pub sha256: [u8; 32],
}

/// A collected file of `/out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectedArtifact {
    /// Path relative to `/out`.
    pub path: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Permission bits as the tool left them.
    pub mode: u32,
    /// SHA-256 of the file's content.
    pub sha256: [u8; 32],
}

/// An object of `/out` that was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedObject {
    /// Path relative to `/out`, escaped to printable text.
    pub path: String,
    /// The reason.
    pub reason: RejectReason,
}

/// A file of the work copy that is new, or differs from its original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Path relative to the folder.
    pub path: String,
    /// True if the file has an execute bit.
    pub executable: bool,
    /// Size in bytes.
    pub size_bytes: u64,
}

/// The differences between a folder and its work copy, each list in the order of arrival. No path
/// is in both lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkChanges {
    /// The files that are new or differ. The content of number n is the file `work/<n>` of the
    /// result.
    pub changed: Vec<ChangedFile>,
    /// The paths of files and links of the folder at which the work copy has no file.
    pub removed: Vec<String>,
}

/// The result of collecting `/out`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectedOutput {
    /// The files that were kept.
    pub artifacts: Vec<CollectedArtifact>,
    /// The objects that were rejected.
    pub rejected: Vec<RejectedObject>,
    /// The differences in the work copy, if the plan asked for one.
    pub work: Option<WorkChanges>,
    /// True if the walk of `/out` reached its end; otherwise files may be missing here.
    pub complete: bool,
}

/// A finished run, including its collected files.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// The facts that decide the outcome.
    pub facts: OutcomeFacts,
    /// Denied system calls, by name.
    pub denied: Vec<DeniedCall>,
    /// The call or other reason for which the run was ended as a violation.
    pub violation: Option<String>,
    /// The resources used.
    pub accounting: Accounting,
    /// The tool's stdout.
    pub stdout: Stream,
    /// The tool's stderr.
    pub stderr: Stream,
    /// The files of `/out`.
    pub collected: CollectedOutput,
    /// The reason why the outcome of the run is unknown, if it is.
    pub lost: Option<String>,
}

impl FinishedRun {
    /// Returns the outcome that the facts decide.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        decide(&self.facts)
    }
}
