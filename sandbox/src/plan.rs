//! What one run is allowed to be: the daemon's decision, in the launcher's words.
//!
//! A [`Plan`] is plain data in two halves, because a cell can be made before there is an order for it.
//! Building one grants nothing: the launcher checks it against ceilings of its own. It must never carry
//! a path that the request's author chose; the only paths here come from the policy.

use std::path::PathBuf;

use model::Language;

/// A staging slot: 32 lower-case hexadecimal digits, the name of a directory directly below the
/// staging root. Orders name slots by this id and never by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotId(String);

impl SlotId {
    /// Accepts exactly 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 32 && text.bytes().all(hex)).then(|| Self(text.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Which staging slot holds the inputs, and which directory it was when the daemon filled it.
/// The launcher opens the slot by name beneath its staging root and compares device and inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub id: SlotId,
    pub device: u64,
    pub inode: u64,
}

model::closed_set! {
    /// How much of `/proc` the tool may see. Plans tell it by its position.
    pub enum ProcView {
        /// No `/proc` at all.
        None = "none",
        /// The tool's own processes only (`subset=pid`, `hidepid=invisible`).
        Pid = "pid",
        /// The same, and what the kernel says of processors, memory, load and itself; every other file
        /// is empty.
        Full = "full",
    }
}

model::closed_set! {
    /// What `/tmp` holds. Plans tell it by its position.
    pub enum TmpUse {
        /// Files to read and write; none is executed.
        Data = "data",
        /// Also programs that the tool makes and executes: a compiler's.
        Programs = "programs",
    }
}

model::closed_set! {
    /// Whether anything outside the cell can be reached. Plans tell it by its position.
    pub enum Network {
        /// Nothing: no interface is up.
        Nothing = "nothing",
        /// Whatever listens at [`PROXY_PORT`] of the cell's own loopback: a socket that is made with the
        /// cell and handed to whoever asked for it. There is no other way out.
        Proxy = "proxy",
    }
}

/// Where a cell with a network finds its proxy: this port of 127.0.0.1, in a network namespace where
/// nothing else listens.
pub const PROXY_PORT: u16 = 3128;

/// The directory of the cell below which caches are bound; nothing else is there.
pub const CACHES: &str = "/cache";

/// A host directory with what was made once for all runs, bound read-only at a place of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// On the host.
    pub source: PathBuf,
    /// In the cell, below [`CACHES`].
    pub target: PathBuf,
}

/// Directories that hold programs and nothing private on any Linux host: what a launcher lets orders
/// bind that was told nothing else.
pub const MOUNTS_BY_DEFAULT: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/var/cache/toolexec"];

/// The interpreter and the read-only directories it needs, as the policy names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// The kind of runtime, and so the list of system calls.
    pub language: Language,
    /// Absolute path of the program that is executed, as the cell sees it; without a root of its own
    /// the same file as on the host.
    pub binary: PathBuf,
    /// A directory of the host that is a root file system of its own (an unpacked image): its `usr`,
    /// `bin`, `lib` and their like are bound read-only where the host's would be.
    pub root: Option<PathBuf>,
    /// Host directories bound read-only at the same path in the cell.
    pub mounts: Vec<PathBuf>,
    pub caches: Vec<Cache>,
    pub tmp: TmpUse,
    pub proc_view: ProcView,
}

/// Most files and directories that `/out` can be given: each costs kernel memory, and the time to walk it
/// and to let it go.
pub const OUT_INODES_MAX: u32 = 65_536;

/// Calls a macro with the registry of limits: one line for each, in the order in which they are sent.
macro_rules! each_limit {
    ($then:ident) => {
        $then! {
            /// From the word to start the tool to the last breath of its tree, milliseconds of the monotonic clock.
            wall_ms_max: u64,
            /// User plus system time of the whole tree, milliseconds.
            cpu_ms_max: u64,
            /// Processor bandwidth, thousandths of one core.
            cpu_milli: u32,
            /// Memory of the whole tree with `/out`, `/tmp` and `/dev/shm` counted, bytes.
            memory_bytes_max: u64,
            /// Processes and threads of the tool.
            pids_max: u32,
            /// Open files of each process.
            open_files_max: u32,
            /// Size of one file, bytes, wherever it is.
            file_bytes_max: u64,
            /// Size of `/out`, bytes.
            out_bytes_max: u64,
            /// Size of `/tmp`, bytes.
            tmp_bytes_max: u64,
            /// Size of `/dev/shm`, bytes.
            shm_bytes_max: u64,
            /// Files and directories in `/out`.
            out_inodes_max: u32,
            /// Bytes kept of each of stdout and stderr; the run is ended when one is exceeded.
            stream_bytes_max: u64,
            /// Files collected out of `/out`.
            artifacts_max: u32,
            /// Directory depth of what is collected out of `/out`.
            artifact_depth_max: u32,
        }
    };
}
pub(crate) use each_limit;

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $number:ident,)+) => {
        /// Limits of one run. All are enforced; none may be zero.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Limits {
            $($(#[$doc])* pub $name: $number,)+
        }
    };
}

each_limit!(limits);

/// What the policy demands of the confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demands {
    /// The lowest Landlock ABI that will do (1 or more: Landlock itself is never optional).
    pub landlock_abi_min: u32,
    /// Whether the policy names `cgroup` as an exception: limits are then given by rlimits, a user
    /// namespace and sampling where no cgroup can be written.
    pub cgroup_exception: bool,
}

/// What a cell is built from before anybody knows what will run in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellPlan {
    pub slot: Slot,
    pub runtime: Runtime,
    pub network: Network,
    pub demands: Demands,
}

/// What one run adds to a finished cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The words of the command; the first is what the tool sees as its own name.
    pub argv: Vec<String>,
    /// The whole environment of the tool; nothing is inherited.
    pub env: Vec<(String, String)>,
    pub limits: Limits,
}

/// Everything that one run is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub cell: CellPlan,
    pub order: Order,
}

#[cfg(test)]
mod tests {
    use model::LimitName;

    macro_rules! names {
        ($($(#[$doc:meta])* $name:ident: $number:ident,)+) => {
            &[$(stringify!($name)),+]
        };
    }

    #[test]
    fn each_limit_in_force_is_one_of_an_order() {
        let names: &[&str] = each_limit!(names);
        for name in LimitName::TEXTS {
            assert!(names.contains(name), "{name}");
        }
    }
}
