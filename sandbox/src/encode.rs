//! How the things that frames carry are written and read: plans, what is in force, what was used.
//!
//! Every list has a ceiling and every name of a closed set is its place in that set. What is not
//! exactly as written here is an error; nothing is skipped or defaulted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use model::ClosedSet;

use crate::messages::{Ending, Furnishing, Unable};
use crate::outcome::ToolEnd;
use crate::plan::{Cache, CellPlan, Demands, Limits, Order, Runtime, Slot, SlotId, each_limit};
use crate::report::{
    Accounting, CapabilitySets, Confinement, DeniedCall, LimitInForce, Mark, Step,
};
use crate::wire::{Reader, WireError, Writer};

/// Most words of a command, and most variables of an environment.
const WORDS_MAX: usize = 16_384;
const VARIABLES_MAX: usize = 256;
const MOUNTS_MAX: usize = 32;
/// Mounts, caches, and the parts of a root file system.
const FURNISHINGS_MAX: usize = 96;
pub(crate) const PATH_BYTES_MAX: usize = 4096;
/// execve(2) refuses a word of 131,072 bytes.
const WORD_BYTES_MAX: usize = 131_071;
const NAMES_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 256;
/// Far more than anybody has; Linux has room for 65,536, which would be no frame and no record.
pub(crate) const GROUPS_MAX: usize = 4096;
/// There are fewer system calls than this.
const DENIED_MAX: usize = 1024;

/// Writes a value of a closed set as its position.
pub(crate) fn put_value<T: ClosedSet>(writer: &mut Writer, value: T) {
    let position = T::ALL.iter().position(|one| *one == value);
    writer.count(position.unwrap_or(usize::MAX));
}

/// Reads a value of a closed set by its position.
pub(crate) fn take_value<T: ClosedSet>(reader: &mut Reader<'_>) -> Result<T, WireError> {
    let position = reader.count(T::ALL.len())?;
    T::ALL.get(position).copied().ok_or(WireError::Range)
}

fn put_path(writer: &mut Writer, path: &Path) {
    writer.bytes(path.as_os_str().as_bytes());
}

fn take_path(reader: &mut Reader<'_>) -> Result<PathBuf, WireError> {
    Ok(PathBuf::from(OsStr::from_bytes(reader.bytes(PATH_BYTES_MAX)?)))
}

pub(crate) fn put_cell_plan(writer: &mut Writer, plan: &CellPlan) {
    writer.text(plan.slot.id.as_str()).u64(plan.slot.device).u64(plan.slot.inode);
    put_runtime(writer, &plan.runtime);
    put_value(writer, plan.network);
    writer.u32(plan.demands.landlock_abi_min).flag(plan.demands.cgroup_exception);
}

pub(crate) fn take_cell_plan(reader: &mut Reader<'_>) -> Result<CellPlan, WireError> {
    let id = SlotId::new(&reader.text(32)?).ok_or(WireError::Range)?;
    let slot = Slot { id, device: reader.u64()?, inode: reader.u64()? };
    let runtime = take_runtime(reader)?;
    let network = take_value(reader)?;
    let demands = Demands { landlock_abi_min: reader.u32()?, cgroup_exception: reader.flag()? };
    Ok(CellPlan { slot, runtime, network, demands })
}

pub(crate) fn put_furnishings(writer: &mut Writer, furnishings: &[Furnishing]) {
    writer.count(furnishings.len());
    for furnishing in furnishings {
        match furnishing {
            Furnishing::Directory(place) => put_path(writer.u8(0), place),
            Furnishing::File(place) => put_path(writer.u8(1), place),
            Furnishing::Link { place, target } => {
                put_path(writer.u8(2), place);
                put_path(writer, target);
            }
        }
    }
}

pub(crate) fn take_furnishings(reader: &mut Reader<'_>) -> Result<Vec<Furnishing>, WireError> {
    let count = reader.count(FURNISHINGS_MAX)?;
    let furnishing = |_| match reader.u8()? {
        0 => Ok(Furnishing::Directory(take_path(reader)?)),
        1 => Ok(Furnishing::File(take_path(reader)?)),
        2 => Ok(Furnishing::Link { place: take_path(reader)?, target: take_path(reader)? }),
        _ => Err(WireError::Range),
    };
    (0..count).map(furnishing).collect()
}

pub(crate) fn put_order(writer: &mut Writer, order: &Order) {
    writer.count(order.argv.len());
    for word in &order.argv {
        writer.text(word);
    }
    writer.count(order.env.len());
    for (name, value) in &order.env {
        writer.text(name).text(value);
    }
    put_limits(writer, &order.limits);
}

pub(crate) fn take_order(reader: &mut Reader<'_>) -> Result<Order, WireError> {
    let words = (0..reader.count(WORDS_MAX)?).map(|_| reader.text(WORD_BYTES_MAX));
    let argv = words.collect::<Result<Vec<_>, _>>()?;
    let variables = (0..reader.count(VARIABLES_MAX)?)
        .map(|_| Ok((reader.text(NAME_BYTES_MAX)?, reader.text(PATH_BYTES_MAX)?)));
    let env = variables.collect::<Result<Vec<_>, WireError>>()?;
    Ok(Order { argv, env, limits: take_limits(reader)? })
}

fn put_runtime(writer: &mut Writer, runtime: &Runtime) {
    put_value(writer, runtime.language);
    put_path(writer, &runtime.binary);
    writer.flag(runtime.root.is_some());
    if let Some(root) = &runtime.root {
        put_path(writer, root);
    }
    writer.count(runtime.mounts.len());
    for mount in &runtime.mounts {
        put_path(writer, mount);
    }
    writer.count(runtime.caches.len());
    for cache in &runtime.caches {
        put_path(writer, &cache.source);
        put_path(writer, &cache.target);
    }
    put_value(writer, runtime.tmp);
    put_value(writer, runtime.proc_view);
}

fn take_runtime(reader: &mut Reader<'_>) -> Result<Runtime, WireError> {
    let language = take_value(reader)?;
    let binary = take_path(reader)?;
    let own_root = reader.flag()?;
    let root = if own_root { Some(take_path(reader)?) } else { None };
    let mounts = (0..reader.count(MOUNTS_MAX)?).map(|_| take_path(reader));
    let mounts = mounts.collect::<Result<_, _>>()?;
    let caches = (0..reader.count(MOUNTS_MAX)?)
        .map(|_| Ok(Cache { source: take_path(reader)?, target: take_path(reader)? }));
    let caches = caches.collect::<Result<_, WireError>>()?;
    let tmp = take_value(reader)?;
    let proc_view = take_value(reader)?;
    Ok(Runtime { language, binary, root, mounts, caches, tmp, proc_view })
}

macro_rules! limits_codec {
    ($($(#[$doc:meta])* $name:ident: $number:ident,)+) => {
        fn put_limits(writer: &mut Writer, limits: &Limits) {
            $(writer.$number(limits.$name);)+
        }

        fn take_limits(reader: &mut Reader<'_>) -> Result<Limits, WireError> {
            Ok(Limits { $($name: reader.$number()?,)+ })
        }
    };
}

each_limit!(limits_codec);

pub(crate) fn put_unable(writer: &mut Writer, unable: &Unable) {
    writer.flag(unable.layer.is_some());
    if let Some(layer) = unable.layer {
        put_value(writer, layer);
    }
    writer.text(&unable.step).u32(u32::from_le_bytes(unable.errno.to_le_bytes()));
}

pub(crate) fn take_unable(reader: &mut Reader<'_>) -> Result<Unable, WireError> {
    let named = reader.flag()?;
    let layer = if named { Some(take_value(reader)?) } else { None };
    Ok(Unable { layer, step: reader.text(PATH_BYTES_MAX)?, errno: reader.i32()? })
}

pub(crate) fn put_ending(writer: &mut Writer, ending: &Ending) {
    writer.flag(ending.tool.is_some());
    if let Some(end) = ending.tool {
        put_tool_end(writer, end);
    }
    writer.flag(ending.killed.is_some());
    if let Some(killed) = ending.killed {
        put_value(writer, killed);
    }
    writer.flag(ending.pids_limit_hit).flag(ending.out_full);
    writer.count(ending.denied.len());
    for denied in &ending.denied {
        writer.text(&denied.name).u64(denied.count);
    }
    writer.flag(ending.violation.is_some());
    if let Some(violation) = &ending.violation {
        writer.text(violation);
    }
    put_accounting(writer, &ending.accounting);
}

pub(crate) fn take_ending(reader: &mut Reader<'_>) -> Result<Ending, WireError> {
    let known = reader.flag()?;
    let tool = if known { Some(take_tool_end(reader)?) } else { None };
    let ended = reader.flag()?;
    let killed = if ended { Some(take_value(reader)?) } else { None };
    let (pids_limit_hit, out_full) = (reader.flag()?, reader.flag()?);
    let denied = (0..reader.count(DENIED_MAX)?)
        .map(|_| Ok(DeniedCall { name: reader.text(NAME_BYTES_MAX)?, count: reader.u64()? }))
        .collect::<Result<_, WireError>>()?;
    let violated = reader.flag()?;
    let violation = if violated { Some(reader.text(NAME_BYTES_MAX)?) } else { None };
    let accounting = take_accounting(reader)?;
    Ok(Ending { tool, killed, pids_limit_hit, out_full, denied, violation, accounting })
}

pub(crate) fn put_tool_end(writer: &mut Writer, end: ToolEnd) {
    match end {
        ToolEnd::Exited(code) => writer.u8(0).u8(code).flag(false),
        ToolEnd::Signaled { signal, core_dumped } => writer.u8(1).u8(signal).flag(core_dumped),
    };
}

pub(crate) fn take_tool_end(reader: &mut Reader<'_>) -> Result<ToolEnd, WireError> {
    let (kind, number, core_dumped) = (reader.u8()?, reader.u8()?, reader.flag()?);
    match kind {
        0 => Ok(ToolEnd::Exited(number)),
        1 => Ok(ToolEnd::Signaled { signal: number, core_dumped }),
        _ => Err(WireError::Range),
    }
}

pub(crate) fn put_accounting(writer: &mut Writer, a: &Accounting) {
    writer.maybe_u64(a.wall_us).maybe_u64(a.cpu_user_us).maybe_u64(a.cpu_system_us);
    writer.maybe_u64(a.memory_peak_bytes).flag(a.memory_peak_sampled).maybe_u64(a.oom_kills);
    writer.maybe_u64(a.pids_peak).maybe_u64(a.pids_refused);
    writer.maybe_u64(a.switches_voluntary).maybe_u64(a.switches_forced);
    writer.maybe_u64(a.blocks_in).maybe_u64(a.blocks_out).maybe_u64(a.out_bytes);
}

pub(crate) fn take_accounting(reader: &mut Reader<'_>) -> Result<Accounting, WireError> {
    Ok(Accounting {
        wall_us: reader.maybe_u64()?,
        cpu_user_us: reader.maybe_u64()?,
        cpu_system_us: reader.maybe_u64()?,
        memory_peak_bytes: reader.maybe_u64()?,
        memory_peak_sampled: reader.flag()?,
        oom_kills: reader.maybe_u64()?,
        pids_peak: reader.maybe_u64()?,
        pids_refused: reader.maybe_u64()?,
        switches_voluntary: reader.maybe_u64()?,
        switches_forced: reader.maybe_u64()?,
        blocks_in: reader.maybe_u64()?,
        blocks_out: reader.maybe_u64()?,
        out_bytes: reader.maybe_u64()?,
    })
}

pub(crate) fn put_confinement(writer: &mut Writer, c: &Confinement) {
    put_value(writer, c.mode);
    writer.u32(c.uid).count(c.groups.len());
    for group in &c.groups {
        writer.u32(*group);
    }
    writer.count(c.namespaces.len());
    for (kind, inode) in &c.namespaces {
        writer.text(kind).u64(*inode);
    }
    writer.u32(c.landlock_abi).count(c.landlock_handled.len());
    for right in &c.landlock_handled {
        writer.text(right);
    }
    writer.count(c.seccomp_sha256.len());
    for digest in &c.seccomp_sha256 {
        writer.digest(digest);
    }
    writer.u32(c.seccomp_mode).flag(c.no_new_privs);
    let caps = &c.capabilities;
    writer.u64(caps.inheritable).u64(caps.permitted).u64(caps.effective);
    writer.u64(caps.bounding).u64(caps.ambient).digest(&c.mounts_sha256);
    put_limits_in_force(writer, &c.limits);
    writer.count(c.degraded.len());
    for layer in &c.degraded {
        writer.text(layer);
    }
}

pub(crate) fn put_marks(writer: &mut Writer, marks: &[Mark]) {
    writer.count(marks.len());
    for mark in marks {
        put_value(writer, mark.step);
        writer.u64(mark.at_ns);
    }
}

pub(crate) fn take_marks(reader: &mut Reader<'_>) -> Result<Vec<Mark>, WireError> {
    let count = reader.count(Step::ALL.len())?;
    let mark = |_| Ok(Mark { step: take_value(reader)?, at_ns: reader.u64()? });
    (0..count).map(mark).collect()
}

pub(crate) fn put_limits_in_force(writer: &mut Writer, limits: &[LimitInForce]) {
    writer.count(limits.len());
    for limit in limits {
        put_value(writer, limit.name);
        put_value(writer, limit.mechanism);
        writer.u64(limit.asked).u64(limit.in_force);
    }
}

pub(crate) fn take_limits_in_force(
    reader: &mut Reader<'_>,
) -> Result<Vec<LimitInForce>, WireError> {
    let count = reader.count(NAMES_MAX)?;
    (0..count).map(|_| take_limit_in_force(reader)).collect()
}

fn take_limit_in_force(reader: &mut Reader<'_>) -> Result<LimitInForce, WireError> {
    Ok(LimitInForce {
        name: take_value(reader)?,
        mechanism: take_value(reader)?,
        asked: reader.u64()?,
        in_force: reader.u64()?,
    })
}

fn take_names(reader: &mut Reader<'_>) -> Result<Vec<String>, WireError> {
    (0..reader.count(NAMES_MAX)?).map(|_| reader.text(NAME_BYTES_MAX)).collect()
}

pub(crate) fn take_confinement(reader: &mut Reader<'_>) -> Result<Confinement, WireError> {
    let mode = take_value(reader)?;
    let uid = reader.u32()?;
    let groups = (0..reader.count(GROUPS_MAX)?).map(|_| reader.u32());
    let groups = groups.collect::<Result<_, _>>()?;
    let namespaces = (0..reader.count(NAMES_MAX)?)
        .map(|_| Ok((reader.text(NAME_BYTES_MAX)?, reader.u64()?)))
        .collect::<Result<_, WireError>>()?;
    let landlock_abi = reader.u32()?;
    let landlock_handled = take_names(reader)?;
    let programs = (0..reader.count(NAMES_MAX)?).map(|_| reader.digest());
    let seccomp_sha256 = programs.collect::<Result<_, _>>()?;
    let (seccomp_mode, no_new_privs) = (reader.u32()?, reader.flag()?);
    let capabilities = CapabilitySets {
        inheritable: reader.u64()?,
        permitted: reader.u64()?,
        effective: reader.u64()?,
        bounding: reader.u64()?,
        ambient: reader.u64()?,
    };
    let mounts_sha256 = reader.digest()?;
    let limits = take_limits_in_force(reader)?;
    let degraded = take_names(reader)?;
    Ok(Confinement {
        mode,
        uid,
        groups,
        namespaces,
        landlock_abi,
        landlock_handled,
        seccomp_sha256,
        seccomp_mode,
        no_new_privs,
        capabilities,
        mounts_sha256,
        limits,
        degraded,
    })
}

#[cfg(test)]
mod tests {
    use model::{Language, Layer, LimitName, Mechanism, Mode, RejectReason};

    use super::*;
    use crate::outcome::Killed;
    use crate::plan::{Network, ProcView, TmpUse};

    /// A launcher and a client of different versions would misread each other without an error.
    #[test]
    fn the_position_of_a_value_never_changes() {
        assert_eq!(Killed::TEXTS, ["wall", "cpu", "memory", "stream", "cancelled", "violation"]);
        assert_eq!(ProcView::TEXTS, ["none", "pid", "full"]);
        assert_eq!(Network::TEXTS, ["nothing", "proxy"]);
        assert_eq!(TmpUse::TEXTS, ["data", "programs"]);
        assert_eq!(Mode::TEXTS, ["system", "user"]);
        assert_eq!(Language::TEXTS, ["python", "node", "ts", "go", "ruby"]);
        let layers = ["user_namespace", "namespaces", "mounts", "landlock.fs", "seccomp"];
        assert_eq!(Layer::TEXTS, [&layers[..], &["capabilities", "cgroup"]].concat());
        let mechanisms = ["cgroup v1", "cgroup v1 and v2", "cgroup v2", "rlimit", "sampled"];
        assert_eq!(Mechanism::TEXTS, [&mechanisms[..], &["affinity", "timer", "tmpfs"]].concat());
        let limits = ["wall_ms_max", "cpu_ms_max", "cpu_milli", "memory_bytes_max", "pids_max"];
        let sizes = ["open_files_max", "file_bytes_max", "out_bytes_max", "tmp_bytes_max"];
        let rest = ["shm_bytes_max", "out_inodes_max"];
        assert_eq!(LimitName::TEXTS, [&limits[..], &sizes, &rest].concat());
        let kinds = ["symlink", "hardlink", "fifo", "socket", "device"];
        let names = ["name-not-utf8", "name-control", "name-too-long"];
        let sizes = ["too-deep", "too-many", "too-big", "sparse", "unreadable"];
        assert_eq!(RejectReason::TEXTS, [&kinds[..], &names, &sizes].concat());
        let steps = ["asked", "furnished", "heard", "mounted", "stripped", "witnessed"];
        assert_eq!(Step::TEXTS, [&steps[..], &["landlocked", "filtered", "probed"]].concat());
    }

    #[test]
    fn a_value_is_written_as_its_position() {
        for (position, value) in LimitName::ALL.iter().enumerate() {
            let mut writer = Writer::default();
            put_value(&mut writer, *value);
            let mut expected = Writer::default();
            expected.count(position);
            let bytes = writer.into_bytes();
            assert_eq!(bytes, expected.into_bytes());
            assert_eq!(take_value::<LimitName>(&mut Reader::new(&bytes)).unwrap(), *value);
        }
        let mut beyond = Writer::default();
        beyond.count(LimitName::ALL.len());
        assert!(take_value::<LimitName>(&mut Reader::new(&beyond.into_bytes())).is_err());
    }
}
