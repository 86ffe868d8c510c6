//! What a run used, and what really confined it: evidence read back, never what was asked for.
//!
//! Everything here is data for the record. What the kernel cannot tell is `None`, never zero.

use model::{LimitName, Mechanism, Mode, Outcome, RejectReason};

use crate::outcome::{Facts, decide};

model::closed_set! {
    /// A moment in the making of a cell, in the order in which they come. The launcher tells it by its
    /// position.
    pub enum Step {
        /// The launcher has read the plan.
        Asked = "asked",
        /// What the plan names is opened, and init is told.
        Furnished = "furnished",
        /// Init has read the plan.
        Heard = "heard",
        /// Everything is mounted.
        Mounted = "mounted",
        /// Init is the tool's user and has no capability.
        Stripped = "stripped",
        /// What is in force so far is read back.
        Witnessed = "witnessed",
        /// The Landlock rules are in force.
        Landlocked = "landlocked",
        /// The filters are loaded.
        Filtered = "filtered",
        /// All probes have run, and the launcher is told.
        Probed = "probed",
    }
}

/// When a step of making a cell was done, in nanoseconds of `CLOCK_MONOTONIC`: for benches, in no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub step: Step,
    pub at_ns: u64,
}

impl Mark {
    /// This moment.
    #[must_use]
    pub fn now(step: Step) -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let part = |n: i64| u64::try_from(n).unwrap_or(0);
        Self { step, at_ns: part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec) }
    }
}

/// One limit in force: what was asked, and what was read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitInForce {
    pub name: LimitName,
    pub mechanism: Mechanism,
    pub asked: u64,
    pub in_force: u64,
}

impl LimitInForce {
    /// A limit that holds exactly as asked.
    pub(crate) fn exact(name: LimitName, mechanism: Mechanism, value: u64) -> Self {
        Self { name, mechanism, asked: value, in_force: value }
    }
}

/// The five capability sets of the tool's process, as bit masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapabilitySets {
    pub inheritable: u64,
    pub permitted: u64,
    pub effective: u64,
    pub bounding: u64,
    pub ambient: u64,
}

/// What was really in force when the tool's program was executed. Read by the cell's init from its
/// own `/proc` entries after the last step, so it is inherited, unchanged, by the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    pub mode: Mode,
    /// The tool's uid as the host sees it.
    pub uid: u32,
    /// Its supplementary groups as the host sees them: none in system mode, the caller's in user mode, who
    /// may not give them up.
    pub groups: Vec<u32>,
    /// Namespace kind and inode number: `("pid", 4026532281)`.
    pub namespaces: Vec<(String, u64)>,
    pub landlock_abi: u32,
    /// Names of the Landlock rights that the ruleset handles, and so denies but for its rules.
    pub landlock_handled: Vec<String>,
    /// SHA-256 of each seccomp program, in the order they were loaded.
    pub seccomp_sha256: Vec<[u8; 32]>,
    /// The kernel's `Seccomp:` line (2 is filter).
    pub seccomp_mode: u32,
    pub no_new_privs: bool,
    pub capabilities: CapabilitySets,
    /// SHA-256 of the cell's own `mountinfo`.
    pub mounts_sha256: [u8; 32],
    pub limits: Vec<LimitInForce>,
    /// Layers that the policy allowed to be missing and that were: named exceptions.
    pub degraded: Vec<String>,
}

/// Resources used by the tool's whole tree. `None` where nobody can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// From exec to the end of the tool, microseconds.
    pub wall_us: Option<u64>,
    pub cpu_user_us: Option<u64>,
    pub cpu_system_us: Option<u64>,
    /// Highest memory use of the tree, bytes.
    pub memory_peak_bytes: Option<u64>,
    /// Whether `memory_peak_bytes` was sampled, and so may have been higher between two looks.
    pub memory_peak_sampled: bool,
    pub oom_kills: Option<u64>,
    pub pids_peak: Option<u64>,
    /// How often a fork or clone was refused for the pids limit.
    pub pids_refused: Option<u64>,
    /// Context switches of processes that were waited for.
    pub switches_voluntary: Option<u64>,
    pub switches_forced: Option<u64>,
    /// 512-byte blocks read and written by processes that were waited for.
    pub blocks_in: Option<u64>,
    pub blocks_out: Option<u64>,
    /// Bytes that `/out` held when the tool ended.
    pub out_bytes: Option<u64>,
}

/// What the tool's whole tree uses at one moment of its run, for whoever looks on; no record is made of
/// it. `None` where nobody can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// As it counts against the limit.
    pub memory_bytes: Option<u64>,
    /// Time on processors since the start, microseconds.
    pub cpu_us: Option<u64>,
}

/// A system call that was answered with an error because the cell's filter denies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedCall {
    pub name: String,
    /// How often, by all processes of the run together.
    pub count: u64,
}

/// One of the tool's two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Bytes kept in the file.
    pub kept_bytes: u64,
    /// Bytes that the tool wrote, as far as they were read before the end.
    pub produced_bytes: u64,
    /// SHA-256 of the bytes kept.
    pub sha256: [u8; 32],
}

/// A file of `/out` that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Relative to `/out`.
    pub path: String,
    pub size_bytes: u64,
    /// Permission bits as the tool left them.
    pub mode: u32,
    pub sha256: [u8; 32],
}

/// An object of `/out` that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Relative to `/out`, escaped to printable text.
    pub path: String,
    pub reason: RejectReason,
}

/// What came out of `/out`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    pub artifacts: Vec<Artifact>,
    pub rejected: Vec<Rejected>,
    /// Whether the walk of `/out` came to its end; if not, files may be missing here.
    pub complete: bool,
}

/// A run that started, from exec to the last file.
#[derive(Clone, Debug)]
pub struct Finished {
    pub facts: Facts,
    /// Denied system calls, by name.
    pub denied: Vec<DeniedCall>,
    /// The call, or what else, for which the run was ended as a violation.
    pub violation: Option<String>,
    pub accounting: Accounting,
    pub stdout: Stream,
    pub stderr: Stream,
    pub collected: Collected,
    /// Why the end of the run is not known, if it is not.
    pub lost: Option<String>,
}

impl Finished {
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        decide(&self.facts)
    }
}
