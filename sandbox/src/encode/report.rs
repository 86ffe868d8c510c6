//! The codec of reports: confinement, resource usage, the end of a run.

use super::value::{NAME_BYTES_MAX, PATH_BYTES_MAX, put_value, take_value};
use crate::messages::{FinalReport, SetupFailure};
use crate::outcome::ToolEnd;
use crate::report::{
    Accounting, BuildStep, CapabilitySets, Confinement, DeniedCall, EffectiveLimit, Mark,
};
use crate::wire::{FrameReader, FrameWriter, WireError};

const NAMES_MAX: usize = 64;
/// Far more than any user has. Linux allows 65,536, which would fit neither a frame nor a record.
pub(crate) const GROUPS_MAX: usize = 4096;
/// There are fewer system calls than this.
const DENIED_MAX: usize = 1024;

pub(crate) fn put_setup_failure(writer: &mut FrameWriter, unable: &SetupFailure) {
    writer.flag(unable.layer.is_some());
    if let Some(layer) = unable.layer {
        put_value(writer, layer);
    }
    writer.text(&unable.step).u32(u32::from_le_bytes(unable.errno.to_le_bytes()));
}

pub(crate) fn take_setup_failure(reader: &mut FrameReader<'_>) -> Result<SetupFailure, WireError> {
    let named = reader.flag()?;
    let layer = if named { Some(take_value(reader)?) } else { None };
    Ok(SetupFailure { layer, step: reader.text(PATH_BYTES_MAX)?, errno: reader.i32()? })
}

pub(crate) fn put_final_report(writer: &mut FrameWriter, ending: &FinalReport) {
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

pub(crate) fn take_final_report(reader: &mut FrameReader<'_>) -> Result<FinalReport, WireError> {
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
    Ok(FinalReport { tool, killed, pids_limit_hit, out_full, denied, violation, accounting })
}

pub(crate) fn put_tool_end(writer: &mut FrameWriter, end: ToolEnd) {
    match end {
        ToolEnd::Exited(code) => writer.u8(0).u8(code).flag(false),
        ToolEnd::Signaled { signal, core_dumped } => writer.u8(1).u8(signal).flag(core_dumped),
    };
}

pub(crate) fn take_tool_end(reader: &mut FrameReader<'_>) -> Result<ToolEnd, WireError> {
    let (kind, number, core_dumped) = (reader.u8()?, reader.u8()?, reader.flag()?);
    match kind {
        0 => Ok(ToolEnd::Exited(number)),
        1 => Ok(ToolEnd::Signaled { signal: number, core_dumped }),
        _ => Err(WireError::Range),
    }
}

pub(crate) fn put_accounting(writer: &mut FrameWriter, a: &Accounting) {
    writer.maybe_u64(a.wall_us).maybe_u64(a.cpu_user_us).maybe_u64(a.cpu_system_us);
    writer.maybe_u64(a.memory_peak_bytes).flag(a.memory_peak_sampled).maybe_u64(a.oom_kills);
    writer.maybe_u64(a.pids_peak).maybe_u64(a.pids_refused);
    writer.maybe_u64(a.switches_voluntary).maybe_u64(a.switches_forced);
    writer.maybe_u64(a.blocks_in).maybe_u64(a.blocks_out).maybe_u64(a.out_bytes);
}

pub(crate) fn take_accounting(reader: &mut FrameReader<'_>) -> Result<Accounting, WireError> {
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

pub(crate) fn put_confinement(writer: &mut FrameWriter, c: &Confinement) {
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
    put_effective_limits(writer, &c.limits);
    writer.count(c.degraded.len());
    for layer in &c.degraded {
        writer.text(layer);
    }
}

pub(crate) fn put_marks(writer: &mut FrameWriter, marks: &[Mark]) {
    writer.count(marks.len());
    for mark in marks {
        put_value(writer, mark.step);
        writer.u64(mark.at_ns);
    }
}

pub(crate) fn take_marks(reader: &mut FrameReader<'_>) -> Result<Vec<Mark>, WireError> {
    let count = reader.count(BuildStep::ALL.len())?;
    let mark = |_| Ok(Mark { step: take_value(reader)?, at_ns: reader.u64()? });
    (0..count).map(mark).collect()
}

pub(crate) fn put_effective_limits(writer: &mut FrameWriter, limits: &[EffectiveLimit]) {
    writer.count(limits.len());
    for limit in limits {
        put_value(writer, limit.name);
        put_value(writer, limit.mechanism);
        writer.u64(limit.requested).u64(limit.effective);
    }
}

pub(crate) fn take_effective_limits(
    reader: &mut FrameReader<'_>,
) -> Result<Vec<EffectiveLimit>, WireError> {
    let count = reader.count(NAMES_MAX)?;
    (0..count).map(|_| take_effective_limit(reader)).collect()
}

fn take_effective_limit(reader: &mut FrameReader<'_>) -> Result<EffectiveLimit, WireError> {
    Ok(EffectiveLimit {
        name: take_value(reader)?,
        mechanism: take_value(reader)?,
        requested: reader.u64()?,
        effective: reader.u64()?,
    })
}

fn take_names(reader: &mut FrameReader<'_>) -> Result<Vec<String>, WireError> {
    (0..reader.count(NAMES_MAX)?).map(|_| reader.text(NAME_BYTES_MAX)).collect()
}

pub(crate) fn take_confinement(reader: &mut FrameReader<'_>) -> Result<Confinement, WireError> {
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
    let limits = take_effective_limits(reader)?;
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
