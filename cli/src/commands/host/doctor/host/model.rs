//! All readings of a host, before any evaluation: plain data, so that a test can construct any
//! host. This module must not contain an evaluation or a byte of a private key.

use std::path::{Path, PathBuf};

use model::UtcTime;
use sandbox::subordinate::NoSubordinateIds;

/// The packaged path of the launcher, which the packaged AppArmor profile names.
pub(super) const PACKAGED_LAUNCHER: &str = "/usr/libexec/toolexec/toolexec-launch";

/// The configuration path of the systemd units. A host that has it runs the service.
pub(super) const PACKAGED_CONFIG: &str = "/etc/toolexec/toolexecd.yaml";

pub(super) enum DoctorTarget {
    Embedded { state: PathBuf },
    Service { config: PathBuf },
}

/// A value, or the reason why it could not be read.
pub(super) type ReadResult<T> = Result<T, String>;

#[derive(Clone, Debug)]
pub(super) struct HostReadings {
    pub(super) user: DoctorUser,
    pub(super) subject: DoctorSubject,
    pub(super) kernel: Kernel,
    pub(super) cgroups: ReadResult<Cgroups>,
    /// The delegation of control groups to the launcher's unit by systemd; only for a service.
    pub(super) delegated: Option<ReadResult<bool>>,
    pub(super) programs: Vec<ProgramReading>,
    pub(super) runtimes: Vec<RuntimeReading>,
    /// Those of the policy, besides the sandbox alone.
    pub(super) backends: Vec<BackendReading>,
    pub(super) sandbox: SandboxProbe,
    /// The subordinate ids of an ordinary user. `None` for root and for a service.
    pub(super) uids: Option<Result<u32, NoSubordinateIds>>,
    pub(super) rules: RuleFiles,
    pub(super) sockets: Vec<Socket>,
    pub(super) keys: Option<KeyReadings>,
    pub(super) directories: Vec<ExpectedDirectory>,
    /// The number of findings of `doctor --spool`. `None` without a spool.
    pub(super) spool_findings: Option<ReadResult<usize>>,
    pub(super) disks: Vec<DiskReading>,
    pub(super) clock: ClockReading,
    pub(super) log: Option<LogReading>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DoctorUser {
    pub(super) uid: u32,
}

impl DoctorUser {
    pub(super) fn is_root(self) -> bool {
        self.uid == 0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DoctorSubject {
    /// Embedded runs of the present user.
    Embedded { state: PathBuf },
    /// A daemon. Its directories are known if its configuration could be read.
    Service { config: PathBuf, spool: Option<PathBuf>, state: Option<PathBuf> },
}

impl DoctorSubject {
    pub(super) fn is_service(&self) -> bool {
        matches!(self, Self::Service { .. })
    }

    pub(super) fn state(&self) -> Option<&Path> {
        match self {
            Self::Embedded { state } => Some(state),
            Self::Service { state, .. } => state.as_deref(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) release: String,
    pub(super) machine: String,
    /// The kernel's list of active security modules.
    pub(super) lsm: ReadResult<String>,
    pub(super) landlock_abi: ReadResult<u32>,
    /// The kernel's list of seccomp actions.
    pub(super) seccomp_actions: ReadResult<String>,
    pub(super) namespaces: Namespaces,
}

/// The settings for user namespaces. A setting that this kernel lacks is `None`.
#[derive(Clone, Debug)]
pub(super) struct Namespaces {
    pub(super) max: Option<u64>,
    pub(super) unprivileged_clone: Option<u64>,
    pub(super) apparmor_restricts: Option<u64>,
    /// An AppArmor profile of this host grants user namespaces to the launcher.
    pub(super) apparmor_profile: bool,
    /// The result of creating one. `None` if it was not tried.
    pub(super) tried: Option<ReadResult<()>>,
}

/// The controllers that limits need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cgroups {
    None,
    V1 { missing: Vec<String>, writable: bool, bare_v2: bool },
    V2 { missing: Vec<String>, writable: bool },
}

#[derive(Clone, Debug)]
pub(super) struct ProgramReading {
    pub(super) name: &'static str,
    pub(super) found: ReadResult<PathBuf>,
    pub(super) version: ReadResult<String>,
}

#[derive(Clone, Debug)]
pub(super) struct RuntimeReading {
    pub(super) name: String,
    /// The program, or the reason why the policy's rule found none.
    pub(super) found: Result<PathBuf, Option<String>>,
    pub(super) version: ReadResult<String>,
}

#[derive(Clone, Debug)]
pub(super) struct BackendReading {
    pub(super) name: String,
    /// The result of the backend in a sandbox.
    pub(super) probe: SandboxProbe,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SandboxProbe {
    /// One was built, with these layers.
    Starts(String),
    /// None can be built, for this reason of refusal.
    Fails {
        what: String,
        help: String,
    },
    NotTried {
        why: String,
        remedy: String,
    },
}

#[derive(Clone, Debug)]
pub(super) struct RuleFiles {
    /// Only for a service.
    pub(super) config: Option<RuleFileReading>,
    pub(super) policy: RuleFileReading,
    /// The requirements of the policy, if it could be read.
    pub(super) demands: Option<PolicyRequirements>,
    pub(super) trust: Vec<RuleFileReading>,
}

/// A file and the result of its reader.
#[derive(Clone, Debug)]
pub(super) struct RuleFileReading {
    /// The name of the file's key in the configuration.
    pub(super) name: &'static str,
    pub(super) state: RuleFileState,
}

/// The result of a file's reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RuleFileState {
    Good(String),
    Bad(String),
    /// The present user may not read it.
    Unreadable(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PolicyRequirements {
    pub(super) cgroup_exception: bool,
    pub(super) landlock_abi_min: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Socket {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    pub(super) is_there: ReadResult<bool>,
}

/// The location and the required owner of the private keys.
#[derive(Clone, Debug)]
pub(super) struct KeyReadings {
    pub(super) source: KeyLocation,
    /// The user that signs.
    pub(super) owner: u32,
    pub(super) directory: FileReading,
    /// The two private key files. Empty if an agent holds the keys.
    pub(super) files: Vec<FileReading>,
    /// The names of the keys whose public half exists.
    pub(super) halves: Vec<&'static str>,
    /// The names of the keys whose rotation was interrupted.
    pub(super) unfinished: Vec<&'static str>,
    /// The public halves, or the reason why they are unusable. `None` if no key exists yet.
    pub(super) public: Option<ReadResult<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyLocation {
    Files(PathBuf),
    /// Systemd credentials of the service.
    Credentials(PathBuf),
    Agent {
        socket: PathBuf,
        /// The answer of the agent: each key's fingerprint, and whether the agent has it.
        has: ReadResult<Vec<(String, bool)>>,
    },
}

/// A file or directory; symbolic links are not followed.
#[derive(Clone, Debug)]
pub(super) struct FileReading {
    pub(super) path: PathBuf,
    pub(super) state: FileState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileState {
    Missing,
    Unreadable(String),
    Present { kind: FileKind, mode: u32, uid: u32, gid: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Directory,
    File,
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct ExpectedDirectory {
    pub(super) entry: FileReading,
    pub(super) mode: u32,
    pub(super) user: ExpectedOwner,
    /// `None` if the group does not matter.
    pub(super) group: Option<ExpectedOwner>,
}

#[derive(Clone, Debug)]
pub(super) struct ExpectedOwner {
    pub(super) name: String,
    /// `None` if this host has no such name.
    pub(super) id: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct DiskReading {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    pub(super) space: ReadResult<DiskSpace>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DiskSpace {
    pub(super) bytes_free: u64,
    pub(super) bytes_total: u64,
    pub(super) inodes_free: u64,
    /// 0 if the file system does not count inodes.
    pub(super) inodes_total: u64,
    pub(super) volatile: bool,
    pub(super) read_only: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ClockReading {
    pub(super) now: UtcTime,
    pub(super) synchronized: ReadResult<bool>,
    /// The result with the latest time in its name.
    pub(super) newest: Option<(UtcTime, PathBuf)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LogReading {
    NotYet,
    Good { origin: String, entries: u64 },
    Bad { why: String, directory: PathBuf, key: PathBuf },
    Unreadable(String),
}
