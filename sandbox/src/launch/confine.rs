//! Drops rights, in the one order that works, and reads back the result. Every step is final for
//! this process and all it executes. A step without effect ends the sandbox before the tool starts.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use caps::CapSet;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
    PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use model::{LauncherMode, Layer, LimitName, Mechanism};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use sha2::{Digest, Sha256};

use super::filter::MemoryWatch;
use super::mount::{DEVICES, WRITABLE};
use super::{Failed, device, probe, programs};
use crate::plan::{
    Limits, PROXY_PORT, ProcView, SandboxDevice, SandboxNetwork, SandboxSpec, TmpUse,
};
use crate::report::{CapabilitySets, EffectiveLimit};

/// The newest Landlock ABI that the crate supports; the kernel's own ABI decides what is enforced.
const NEWEST: ABI = ABI::V9;

/// Buffer size for the files of `/proc` that are read here, a few thousand bytes each.
const PROC_FILE_BYTES: usize = 32 * 1024;

pub(super) struct EffectiveLandlock {
    pub(super) abi: u32,
    pub(super) handled: Vec<String>,
}

/// Sets the resource limits that are the same for every tool. They are lowered, never raised.
pub(super) fn fixed_rlimits() -> Result<(), Failed> {
    // 1 and not 0: a `|pipe` core_pattern ignores 0 and is disabled by exactly 1 (coredump.c).
    let table = [
        (Resource::RLIMIT_CORE, 1),
        (Resource::RLIMIT_MEMLOCK, 64 * 1024),
        (Resource::RLIMIT_MSGQUEUE, 800 * 1024),
        // Timers count as well.
        (Resource::RLIMIT_SIGPENDING, 256),
        (Resource::RLIMIT_RTPRIO, 0),
        (Resource::RLIMIT_NICE, 0),
    ];
    for (resource, wanted) in table {
        lower(resource, wanted).map_err(Failed::at(&format!("set {resource:?}")))?;
    }
    Ok(())
}

/// Returns `wanted`, or the hard limit if that is lower.
fn allowed(resource: Resource, wanted: u64) -> io::Result<u64> {
    let (_, hard) = getrlimit(resource)?;
    Ok(wanted.min(hard))
}

fn lower(resource: Resource, wanted: u64) -> io::Result<()> {
    let value = allowed(resource, wanted)?;
    setrlimit(resource, value, value)?;
    match getrlimit(resource)? {
        held if held == (value, value) => Ok(()),
        _ => Err(io::Error::other("the kernel did not apply the value")),
    }
}

/// The most open files of a tool with its caller's uid. That user can have as many in flight, plus
/// those of one message (253): together fewer than the 1,024 that other programs have.
pub(super) const SHARED_USER_FILES_MAX: u64 = 512;

/// Raises this process's limit of open descriptors, also of those in flight, to its hard limit.
pub(super) fn raise_open_files() -> io::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?)
}

/// Sets the resource limits of the plan. It runs in the tool's own process, because descriptors
/// that init has in flight to the daemon count against init's limit.
pub(super) fn exec_rlimits(
    limits: &Limits,
    mode: LauncherMode,
    memory: MemoryWatch,
) -> io::Result<()> {
    for (_, resource, wanted) in per_process_limits(limits) {
        lower(resource, enforced_value(resource, mode, wanted)?)?;
    }
    if memory == MemoryWatch::Sampled {
        lower(Resource::RLIMIT_NPROC, u64::from(limits.pids_max) + INIT_PROCESSES)?;
        // A backup for sampling, against a process that exceeds its time between two samples.
        lower(Resource::RLIMIT_CPU, limits.cpu_ms_max.div_ceil(1000) + 1)?;
    }
    Ok(())
}

/// Returns the limits of each process of the tool. A write beyond the file size limit raises
/// SIGXFSZ, or fails with EFBIG if the process ignores the signal.
fn per_process_limits(limits: &Limits) -> [(LimitName, Resource, u64); 2] {
    [
        (LimitName::OpenFiles, Resource::RLIMIT_NOFILE, u64::from(limits.open_files_max)),
        (LimitName::FileBytes, Resource::RLIMIT_FSIZE, limits.file_bytes_max),
    ]
}

fn enforced_value(resource: Resource, mode: LauncherMode, wanted: u64) -> io::Result<u64> {
    let value = allowed(resource, wanted)?;
    if (resource, mode) != (Resource::RLIMIT_NOFILE, LauncherMode::User) {
        return Ok(value);
    }
    let (_, hard) = getrlimit(resource)?;
    Ok(value.min(SHARED_USER_FILES_MAX).min(hard / 2))
}

/// Returns the per-process limits that will be enforced; otherwise the tool is not started.
pub(super) fn effective_limits(
    limits: &Limits,
    mode: LauncherMode,
) -> io::Result<Vec<EffectiveLimit>> {
    let row = |(name, resource, requested)| {
        let mechanism = Mechanism::Rlimit;
        Ok(EffectiveLimit {
            name,
            mechanism,
            requested,
            effective: enforced_value(resource, mode, requested)?,
        })
    };
    per_process_limits(limits).into_iter().map(row).collect()
}

/// Init has the tool's uid and counts with the tool's processes.
const INIT_PROCESSES: u64 = 1;

/// Returns the most processes that the tool can have where only a resource limit counts them. It is
/// at most the launcher's own limit, whose soft value becomes that of the sandbox's user namespace.
pub(super) fn processes(limits: &Limits) -> io::Result<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NPROC)?;
    Ok(soft
        .min(hard)
        .min(u64::from(limits.pids_max) + INIT_PROCESSES)
        .saturating_sub(INIT_PROCESSES))
}

/// Empties the bounding set, so that no executed program can gain a capability again.
pub(super) fn drop_bounding_set() -> Result<(), Failed> {
    for capability in caps::runtime::thread_all_supported() {
        caps::drop(None, CapSet::Bounding, capability)
            .map_err(io::Error::other)
            .map_err(Failed::without(Layer::Capabilities, "empty the capability bounding set"))?;
    }
    Ok(())
}

pub(super) fn drop_capabilities() -> Result<(), Failed> {
    for set in [CapSet::Ambient, CapSet::Effective, CapSet::Permitted, CapSet::Inheritable] {
        caps::clear(None, set)
            .map_err(io::Error::other)
            .map_err(Failed::without(Layer::Capabilities, "drop capabilities"))?;
    }
    Ok(())
}

/// Handles every right that kernel and crate know, granted only beneath the view's directories.
pub(super) struct LandlockRules(RulesetCreated);

impl LandlockRules {
    /// Creates the rules of every sandbox, independent of its plan; runs in the sandbox's root.
    pub(super) fn begin() -> Result<Self, Failed> {
        let begun = || -> Result<_, landlock::RulesetError> {
            // Rights that an older kernel lacks are omitted here and named in the record. The
            // sandbox's mounts and namespaces give the same protection.
            let mut rules = Ruleset::default()
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_all(NEWEST))?
                .handle_access(AccessNet::from_all(NEWEST))?
                .scope(Scope::from_all(NEWEST))?
                .create()?;
            rules = beneath(rules, Path::new("/etc"), read())?;
            for place in WRITABLE {
                rules = beneath(rules, &Path::new("/").join(place), write())?;
            }
            let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
            for node in DEVICES {
                rules = beneath(rules, &Path::new("/dev").join(node), device)?;
            }
            Ok(rules)
        };
        begun().map(Self).map_err(unable_to_restrict)
    }

    pub(super) fn enforce(self, plan: &SandboxSpec) -> Result<EffectiveLandlock, Failed> {
        let status = self.restrict(plan).map_err(unable_to_restrict)?;
        let missing = |step: &str, errno| {
            Err(Failed { layer: Some(Layer::Landlock), step: step.to_owned(), errno })
        };
        let effective_abi = match status.landlock {
            LandlockStatus::Available { effective_abi, .. } => effective_abi,
            LandlockStatus::NotEnabled => {
                return missing("Landlock is disabled in this kernel", libc::EOPNOTSUPP);
            }
            LandlockStatus::NotImplemented => {
                return missing("this kernel has no Landlock", libc::ENOSYS);
            }
        };
        let abi = abi_number(effective_abi);
        let wanted = plan.requirements.landlock_abi_min;
        if abi < wanted || status.ruleset == RulesetStatus::NotEnforced {
            let step = format!("this kernel has Landlock ABI {abi}, landlock_abi_min is {wanted}");
            return Err(Failed { layer: Some(Layer::Landlock), step, errno: 0 });
        }
        Ok(EffectiveLandlock { abi, handled: handled(effective_abi) })
    }

    fn restrict(self, plan: &SandboxSpec) -> Result<RestrictionStatus, landlock::RulesetError> {
        let mut rules = self.0;
        if plan.network == SandboxNetwork::Proxy {
            rules = rules.add_rule(NetPort::new(PROXY_PORT, AccessNet::ConnectTcp))?;
        }
        for place in programs::tool_dirs(&plan.runtime) {
            rules = beneath(rules, &place, read() | AccessFs::Execute)?;
        }
        rules = beneath(rules, Path::new("/in"), read())?;
        if plan.runtime.proc_view != ProcView::None {
            rules = beneath(rules, Path::new("/proc"), read())?;
        }
        if plan.runtime.tmp == TmpUse::Programs {
            rules = beneath(rules, Path::new("/tmp"), AccessFs::Execute.into())?;
        }
        if plan.device == SandboxDevice::Kvm {
            let requests = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
            rules = beneath(rules, Path::new(device::KVM), requests)?;
        }
        rules.restrict_self()
    }
}

fn unable_to_restrict(error: landlock::RulesetError) -> Failed {
    Failed::without(Layer::Landlock, "restrict files with Landlock")(io::Error::other(error))
}

fn read() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::ReadDir
}

fn write() -> BitFlags<AccessFs> {
    let nodes = AccessFs::MakeChar | AccessFs::MakeBlock;
    AccessFs::from_all(NEWEST) & !(nodes | AccessFs::IoctlDev | AccessFs::Execute)
}

/// Removes every right to any file system, except reading beneath these directories.
pub(super) fn landlock_only(directories: &[BorrowedFd<'_>]) -> Result<(), Failed> {
    let restrict = || {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))?
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?
            .create()?;
        for directory in directories {
            rules = rules.add_rule(PathBeneath::new(*directory, read()))?;
        }
        rules.restrict_self()
    };
    restrict().map(drop).map_err(unable_to_restrict)
}

fn beneath(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    match PathFd::new(path) {
        Ok(opened) => rules.add_rule(PathBeneath::new(opened, access)),
        // A missing rule grants nothing; the tool then gets EACCES there.
        Err(_) => Ok(rules),
    }
}

fn abi_number(abi: ABI) -> u32 {
    match abi {
        ABI::Unsupported => 0,
        ABI::V1 => 1,
        ABI::V2 => 2,
        ABI::V3 => 3,
        ABI::V4 => 4,
        ABI::V5 => 5,
        ABI::V6 => 6,
        ABI::V7 => 7,
        ABI::V8 => 8,
        _ => 9,
    }
}

fn handled(abi: ABI) -> Vec<String> {
    let fs = AccessFs::from_all(abi).iter().map(|right| format!("fs:{right:?}"));
    let net = AccessNet::from_all(abi).iter().map(|right| format!("net:{right:?}"));
    let scope = Scope::from_all(abi).iter().map(|scope| format!("scope:{scope:?}"));
    fs.chain(net).chain(scope).collect()
}

/// The fields of `/proc/self/status` that prove confinement.
pub(super) struct ProcStatus {
    pub(super) seccomp_mode: u32,
    pub(super) no_new_privs: bool,
    pub(super) capabilities: CapabilitySets,
}

/// This process's own entries in `/proc`, opened while permitted and read after confinement: if a
/// tool may not see `/proc`, its init may not either.
pub(super) struct ProcSelfFiles {
    status: File,
    mounts: File,
    namespaces: Vec<(String, u64)>,
}

impl ProcSelfFiles {
    pub(super) fn open() -> Result<Self, Failed> {
        let status =
            File::open("/proc/self/status").map_err(Failed::at("open /proc/self/status"))?;
        let mounts =
            File::open("/proc/self/mountinfo").map_err(Failed::at("open /proc/self/mountinfo"))?;
        let namespaces = KINDS.iter().map(|kind| namespace(kind)).collect::<Result<_, _>>()?;
        Ok(Self { status, mounts, namespaces })
    }

    /// Returns kind and inode of every namespace of this process. The network and user namespaces
    /// are read again, because the sandbox may have entered its own since these files were opened.
    pub(super) fn namespaces(&mut self) -> Result<Vec<(String, u64)>, Failed> {
        let mut namespaces = std::mem::take(&mut self.namespaces);
        namespaces.retain(|(kind, _)| ![NETWORK, USER].contains(&kind.as_str()));
        namespaces.push(namespace(NETWORK)?);
        namespaces.push(namespace(USER)?);
        namespaces.sort();
        Ok(namespaces)
    }

    /// Returns the mount table, readable by the launcher at any later time.
    pub(super) fn mounts(&self) -> BorrowedFd<'_> {
        self.mounts.as_fd()
    }

    /// Reads the current status, independent of when the file was opened.
    pub(super) fn status(&mut self) -> Result<ProcStatus, Failed> {
        let text = read_at_once(&mut self.status).map_err(Failed::at("read /proc/self/status"))?;
        let text = String::from_utf8_lossy(&text);
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map(str::trim).ok_or_else(|| io::Error::other(format!("line '{name}' is missing")))
        };
        let mask = |name| u64::from_str_radix(field(name)?, 16).map_err(io::Error::other);
        let read = || -> io::Result<ProcStatus> {
            Ok(ProcStatus {
                seccomp_mode: field("Seccomp")?.parse().map_err(io::Error::other)?,
                no_new_privs: field("NoNewPrivs")? == "1",
                capabilities: CapabilitySets {
                    inheritable: mask("CapInh")?,
                    permitted: mask("CapPrm")?,
                    effective: mask("CapEff")?,
                    bounding: mask("CapBnd")?,
                    ambient: mask("CapAmb")?,
                },
            })
        };
        read().map_err(Failed::at("read /proc/self/status"))
    }
}

/// Fails unless the kernel confirms that no right can be gained again.
pub(super) fn require_confined(status: &ProcStatus) -> Result<(), Failed> {
    let missing = |layer, what: &str| {
        Err(Failed { layer: Some(layer), step: format!("{what}: did not take effect"), errno: 0 })
    };
    if status.capabilities != CapabilitySets::default() {
        return missing(Layer::Capabilities, "capability drop");
    }
    if !status.no_new_privs {
        return missing(Layer::Capabilities, "no_new_privs");
    }
    if status.seccomp_mode != 2 {
        return missing(Layer::Seccomp, "seccomp filter");
    }
    Ok(())
}

const NETWORK: &str = "net";
const USER: &str = "user";
const KINDS: [&str; 7] = ["cgroup", "ipc", "mnt", NETWORK, "pid", USER, "uts"];

fn namespace(kind: &str) -> Result<(String, u64), Failed> {
    let step = format!("read /proc/self/ns/{kind}");
    let link = fs::read_link(format!("/proc/self/ns/{kind}"))
        .map_err(Failed::without(Layer::Namespaces, &step))?;
    let text = link.to_string_lossy();
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_end_matches(']');
    let inode = digits.parse().map_err(io::Error::other).map_err(Failed::at(&step))?;
    Ok((kind.to_owned(), inode))
}

/// Reads a file of `/proc` at once: its reported size is 0, and each read generates it anew.
fn read_at_once(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(PROC_FILE_BYTES);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the SHA-256 of the mount table of the process that opened this file.
pub(super) fn mounts_digest(mut table: File) -> Result<[u8; 32], Failed> {
    let table = read_at_once(&mut table).map_err(Failed::at("read the sandbox's mount table"))?;
    probe::no_cgroupfs(&table)?;
    Ok(Sha256::digest(&table).into())
}
