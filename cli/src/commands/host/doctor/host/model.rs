//! Everything that is read of a host before anything is judged: plain data, so that a test can be any
//! host. Nothing here may hold an opinion, or a byte of a private key.

use std::path::{Path, PathBuf};

use model::UtcTime;
use sandbox::subordinate::NoSubordinate;

/// Where the package has the launcher; the AppArmor profile that comes with it names it.
pub(super) const PACKAGED_LAUNCHER: &str = "/usr/libexec/toolexec/toolexec-launch";

/// Where the units expect it; a host that has it is a service's.
pub(super) const PACKAGED_CONFIG: &str = "/etc/toolexec/toolexecd.yaml";

/// Whose host is looked at.
pub(super) enum DoctorTarget {
    Embedded { state: PathBuf },
    Service { config: PathBuf },
}

/// What was read, or why it could not be.
pub(super) type ReadResult<T> = Result<T, String>;

/// One host, as far as it could be looked at.
#[derive(Clone, Debug)]
pub(super) struct Readings {
    pub(super) looker: Looker,
    pub(super) subject: Subject,
    pub(super) kernel: Kernel,
    pub(super) cgroups: ReadResult<Cgroups>,
    /// Whether the launcher's unit has its groups to itself; only of a service.
    pub(super) delegated: Option<ReadResult<bool>>,
    pub(super) programs: Vec<Program>,
    pub(super) runtimes: Vec<RuntimeSeen>,
    pub(super) sandbox: Sandbox,
    /// The number of subordinate ids of an ordinary user. `None` for root and for a service, whose
    /// launcher does not need them.
    pub(super) uids: Option<Result<u32, NoSubordinate>>,
    pub(super) rules: RuleFiles,
    pub(super) sockets: Vec<Socket>,
    pub(super) keys: Option<KeyCustody>,
    pub(super) places: Vec<PromisedDirectory>,
    /// What `doctor --spool` would list; none where there is no spool yet.
    pub(super) survey: Option<ReadResult<usize>>,
    pub(super) disks: Vec<Disk>,
    pub(super) clock: Clock,
    pub(super) log: Option<LogSeen>,
}

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Looker {
    pub(super) uid: u32,
}

impl Looker {
    pub(super) fn is_root(self) -> bool {
        self.uid == 0
    }
}

/// Whose host it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// `toolexec run` of whoever looks.
    Embedded { state: PathBuf },
    /// A daemon; its places as far as its configuration could be read.
    Service { config: PathBuf, spool: Option<PathBuf>, state: Option<PathBuf> },
}

impl Subject {
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
    /// The active security modules, as the kernel lists them.
    pub(super) lsm: ReadResult<String>,
    pub(super) landlock_abi: ReadResult<u32>,
    /// What filters may answer, as the kernel lists it.
    pub(super) seccomp_actions: ReadResult<String>,
    pub(super) namespaces: Namespaces,
}

/// Who may make user namespaces. A switch that this kernel does not have is none.
#[derive(Clone, Debug)]
pub(super) struct Namespaces {
    pub(super) max: Option<u64>,
    pub(super) unprivileged_clone: Option<u64>,
    pub(super) apparmor_restricts: Option<u64>,
    /// A profile of AppArmor on this host lets the launcher have them.
    pub(super) apparmor_profile: bool,
    /// Whether one could be made just now; none if it was not tried.
    pub(super) tried: Option<ReadResult<()>>,
}

/// Controllers that limits need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cgroups {
    None,
    V1 { missing: Vec<String>, writable: bool, bare_v2: bool },
    V2 { missing: Vec<String>, writable: bool },
}

#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) found: ReadResult<PathBuf>,
    pub(super) version: ReadResult<String>,
}

#[derive(Clone, Debug)]
pub(super) struct RuntimeSeen {
    pub(super) name: String,
    /// The program, or why the policy's rule found none.
    pub(super) found: Result<PathBuf, Option<String>>,
    pub(super) version: ReadResult<String>,
}

/// Whether the launcher can start a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sandbox {
    /// One was built, with these layers.
    Starts(String),
    /// None can be built; in the words of a refusal.
    Fails {
        what: String,
        help: String,
    },
    NotTried {
        why: String,
        remedy: String,
    },
}

/// What decides: configuration, policy, trust.
#[derive(Clone, Debug)]
pub(super) struct RuleFiles {
    /// Of a service only.
    pub(super) config: Option<Judged>,
    pub(super) policy: Judged,
    /// What the policy asks of a host, where it could be read.
    pub(super) demands: Option<Demands>,
    pub(super) trust: Vec<Judged>,
}

/// A file that its own reader has judged.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    /// What it is, in the configuration's word.
    pub(super) name: &'static str,
    pub(super) said: Reader,
}

/// What the reader of a file said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    Good(String),
    Bad(String),
    /// It is not for whoever looks.
    Unseen(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Demands {
    pub(super) cgroup_exception: bool,
    pub(super) landlock_abi_min: u32,
}

/// A socket that a unit listens on.
#[derive(Clone, Debug)]
pub(super) struct Socket {
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    pub(super) is_there: ReadResult<bool>,
}

/// Where private keys are, and whose they must be.
#[derive(Clone, Debug)]
pub(super) struct KeyCustody {
    pub(super) source: KeyPlace,
    /// The user that signs.
    pub(super) owner: u32,
    pub(super) directory: Entry,
    /// The two private files; none where an agent has them.
    pub(super) files: Vec<Entry>,
    /// Keys whose public half is there, by name.
    pub(super) halves: Vec<&'static str>,
    /// A change that began and did not end, by the name of its key.
    pub(super) unfinished: Vec<&'static str>,
    /// What the public halves are, or why they cannot be used; none where there is no key yet.
    pub(super) public: Option<ReadResult<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyPlace {
    Files(PathBuf),
    /// systemd lends them to the service.
    Lent(PathBuf),
    Agent {
        socket: PathBuf,
        /// Whether it answers, and has both.
        has: ReadResult<Vec<(String, bool)>>,
    },
}

/// Something in a directory, links not followed.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) found: EntryState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryState {
    Missing,
    Unseen(String),
    There { kind: Kind, mode: u32, uid: u32, gid: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    File,
    Other,
}

/// A directory with the modes and owners that are promised of it.
#[derive(Clone, Debug)]
pub(super) struct PromisedDirectory {
    pub(super) entry: Entry,
    pub(super) mode: u32,
    pub(super) user: Owner,
    /// None where its group does not matter.
    pub(super) group: Option<Owner>,
}

/// A user or a group by its promised name.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) name: String,
    /// None where this host has none of that name.
    pub(super) id: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Disk {
    /// What lies there.
    pub(super) of: &'static str,
    pub(super) path: PathBuf,
    pub(super) room: ReadResult<DiskSpace>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DiskSpace {
    pub(super) bytes_free: u64,
    pub(super) bytes_total: u64,
    pub(super) inodes_free: u64,
    /// 0 where the file system does not count them.
    pub(super) inodes_total: u64,
    pub(super) volatile: bool,
    pub(super) read_only: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Clock {
    pub(super) now: UtcTime,
    pub(super) kept: ReadResult<bool>,
    /// The newest result by its name.
    pub(super) newest: Option<(UtcTime, PathBuf)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LogSeen {
    NotYet,
    Good { origin: String, entries: u64 },
    Bad { why: String, directory: PathBuf, key: PathBuf },
    Unseen(String),
}
