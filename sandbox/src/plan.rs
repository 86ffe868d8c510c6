//! The plan of one run: everything the launcher needs to know.
//!
//! A [`Plan`] has two halves, because a sandbox can be built before it has a command. A plan grants
//! nothing: the launcher checks it against its own limits. It must never carry a path of the host
//! that the request's author chose: each of those comes from the policy.

use std::path::PathBuf;
use std::time::Duration;

use model::Language;

pub use crate::work::{CHANGES_MAX, WORK_DEPTH_MAX, WORK_FILE_BYTES_MAX, WorkCopy, WorkFolder};

/// The id of a staging slot: 32 lower-case hexadecimal digits, the name of a directory directly
/// below the staging root. Messages name slots by this id and never by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagingSlotId(String);

impl StagingSlotId {
    /// Accepts exactly 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 32 && text.bytes().all(hex)).then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The staging slot with the inputs, and the identity of its directory when the daemon filled it.
/// The launcher opens the slot by name beneath its staging root and compares device and inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagingSlot {
    /// The name of the directory.
    pub id: StagingSlotId,
    /// Its device number.
    pub device: u64,
    /// Its inode number.
    pub inode: u64,
}

model::closed_set! {
    /// The part of `/proc` that the tool may see. Messages encode it by position.
    pub enum ProcView {
        /// No `/proc` at all.
        None = "none",
        /// The tool's own processes only (`subset=pid`, `hidepid=invisible`).
        Pid = "pid",
        /// Also kernel files about processors, memory, load and version; other files are empty.
        Full = "full",
    }
}

model::closed_set! {
    /// The permitted use of `/tmp`. Messages encode it by position.
    pub enum TmpUse {
        /// Files to read and write; none is executed.
        Data = "data",
        /// Also programs that the tool builds and executes, such as a compiler's output.
        Programs = "programs",
    }
}

model::closed_set! {
    /// The network access of a sandbox. Messages encode it by position.
    pub enum SandboxNetwork {
        /// Nothing: no interface is up.
        Nothing = "nothing",
        /// [`PROXY_PORT`] of the sandbox's own loopback: a listening socket that is made with the
        /// sandbox and passed to the caller. It has no other route.
        Proxy = "proxy",
    }
}

model::closed_set! {
    /// A device of the host that a sandbox has besides those of every sandbox. Messages encode it
    /// by position.
    pub enum SandboxDevice {
        /// None.
        Nothing = "nothing",
        /// The processor's virtualisation: `/dev/kvm`. Only a sandbox without a network has it, and
        /// only one whose memory a control group counts.
        Kvm = "kvm",
    }
}

/// The port of 127.0.0.1 at which a sandbox with a network reaches its proxy. Nothing else listens
/// in its network namespace.
pub const PROXY_PORT: u16 = 3128;

/// The directory in the sandbox below which caches are mounted. It contains nothing else.
pub const CACHES: &str = "/cache";

/// A host directory that is built once for all runs and mounted read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Path on the host.
    pub source: PathBuf,
    /// Path in the sandbox, below [`CACHES`].
    pub target: PathBuf,
}

/// The most seconds that a ready sandbox waits for the start, while the daemon's intent becomes
/// durable and a fleet permits it.
pub const READY_SEC_MAX: u64 = 300;

/// The default directories that a launcher allows as runtime mounts: they hold programs and nothing
/// private on any Linux host.
pub const MOUNTS_BY_DEFAULT: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/var/cache/toolexec",
    "/var/lib/toolexec/environments",
];

/// The interpreter and the read-only directories it needs, as the policy names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeSpec {
    /// The kind of runtime, which selects the list of system calls.
    pub language: Language,
    /// Absolute path of the program in the sandbox; without `root`, the same file as on the host.
    pub binary: PathBuf,
    /// A host directory that is a root file system of its own (an unpacked image). Its `usr`,
    /// `bin`, `lib` and similar directories are mounted read-only in place of the host's.
    pub root: Option<PathBuf>,
    /// Host directories mounted read-only at the same path in the sandbox.
    pub mounts: Vec<PathBuf>,
    /// Caches to mount.
    pub caches: Vec<Cache>,
    /// The permitted use of `/tmp`.
    pub tmp: TmpUse,
    /// The visible part of `/proc`.
    pub proc_view: ProcView,
}

/// The largest `out_inodes_max`: each inode costs kernel memory, and time to walk and to free.
pub const OUT_INODES_MAX: u32 = 65_536;

/// Calls a macro with the registry of limits in wire order: name, type, value in a small sandbox.
macro_rules! each_limit {
    ($then:ident) => {
        $then! {
            /// From the start of the tool to the end of its tree, milliseconds of the monotonic
            /// clock.
            wall_ms_max: u64 = 1000,
            /// User plus system time of the whole tree, milliseconds.
            cpu_ms_max: u64 = 1000,
            /// Processor bandwidth, thousandths of one core.
            cpu_milli: u32 = 1000,
            /// Memory of the whole tree, including `/out`, `/tmp` and `/dev/shm`, bytes.
            memory_bytes_max: u64 = 32 << 20,
            /// Processes and threads of the tool.
            pids_max: u32 = 8,
            /// Open files of each process.
            open_files_max: u32 = 16,
            /// Size of any one file, bytes.
            file_bytes_max: u64 = 1 << 20,
            /// Size of `/out`, bytes.
            out_bytes_max: u64 = 1 << 20,
            /// Size of `/tmp`, bytes.
            tmp_bytes_max: u64 = 1 << 20,
            /// Size of `/dev/shm`, bytes.
            shm_bytes_max: u64 = 1 << 20,
            /// Files and directories in `/out`.
            out_inodes_max: u32 = 16,
            /// Bytes kept of each of stdout and stderr; exceeding it ends the run.
            stream_bytes_max: u64 = 1 << 20,
            /// Files collected from `/out`.
            artifacts_max: u32 = 1,
            /// Directory depth of the files collected from `/out`.
            artifact_depth_max: u32 = 1,
        }
    };
}
pub(crate) use each_limit;

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $number:ident = $small:expr,)+) => {
        /// Limits of one run. All are enforced; none may be zero.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Limits {
            $($(#[$doc])* pub $name: $number,)+
        }

        impl Limits {
            /// A small sandbox, allowed by every launcher: for host probes and as a base for tests.
            pub const SMALL: Self = Self { $($name: $small,)+ };

            /// The name and the value of each limit, in the order of the registry.
            #[must_use]
            pub fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), u64::from(self.$name)),)+]
            }
        }
    };
}

each_limit!(limits);

/// The most time to collect an empty `/out`, or to compare a work copy.
const COLLECT_TIME_MIN: Duration = Duration::from_secs(120);
/// The rate at which a slow disk takes the files of `/out`, bytes a second.
const SLOW_DISK_RATE: u64 = 16 << 20;

impl Limits {
    /// Returns the most time that collecting may take.
    #[must_use]
    pub fn collect_time_max(&self) -> Duration {
        let writing = Duration::from_secs(self.out_bytes_max / SLOW_DISK_RATE);
        COLLECT_TIME_MIN.saturating_add(writing)
    }
}

/// The policy's demands on the confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfinementRequirements {
    /// The lowest acceptable Landlock ABI, 1 or more: Landlock itself is never optional.
    pub landlock_abi_min: u32,
    /// True if the policy names `cgroup` as an exception. Where no cgroup is writable, rlimits, a
    /// user namespace and sampling then enforce the limits.
    pub cgroup_exception: bool,
}

/// The specification of a sandbox, before its command is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSpec {
    /// The inputs.
    pub slot: StagingSlot,
    /// The interpreter and its mounts.
    pub runtime: RuntimeSpec,
    /// The network access.
    pub network: SandboxNetwork,
    /// The further device.
    pub device: SandboxDevice,
    /// The minimum confinement.
    pub requirements: ConfinementRequirements,
}

/// The command of one run, with its environment and limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecSpec {
    /// The arguments of the command; the first is the tool's own name.
    pub argv: Vec<String>,
    /// The whole environment of the tool; it inherits nothing.
    pub env: Vec<(String, String)>,
    /// The limits to enforce.
    pub limits: Limits,
    /// The folder of which the tool gets a writable copy, in which it starts, if any.
    pub work: Option<WorkCopy>,
}

/// The sandbox and the command of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The sandbox to build.
    pub sandbox: SandboxSpec,
    /// The command to run in it.
    pub exec: ExecSpec,
}

#[cfg(test)]
mod tests {
    use model::LimitName;

    use super::Limits;

    #[test]
    fn each_effective_limit_is_a_requested_one() {
        let entries = Limits::SMALL.entries();
        for name in LimitName::TEXTS {
            assert!(entries.iter().any(|(limit, _)| limit == name), "{name}");
        }
    }
}
