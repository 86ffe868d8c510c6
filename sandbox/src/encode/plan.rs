//! The codec of sandbox specs and commands. Every list has a maximum length.

use super::value::{NAME_BYTES_MAX, PATH_BYTES_MAX, put_path, put_value, take_path, take_value};
use crate::messages::Furnishing;
use crate::plan::{Cache, CellPlan, Demands, Limits, Order, Runtime, Slot, SlotId, each_limit};
use crate::wire::{Reader, WireError, Writer};

/// The most arguments of a command; below it, the most variables of an environment.
const WORDS_MAX: usize = 16_384;
const VARIABLES_MAX: usize = 256;
const MOUNTS_MAX: usize = 32;
/// Mounts, caches, and the directories of a root file system.
const FURNISHINGS_MAX: usize = 96;
/// execve(2) refuses an argument of 131,072 bytes.
const WORD_BYTES_MAX: usize = 131_071;

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
    ($($(#[$doc:meta])* $name:ident: $number:ident = $small:expr,)+) => {
        fn put_limits(writer: &mut Writer, limits: &Limits) {
            $(writer.$number(limits.$name);)+
        }

        fn take_limits(reader: &mut Reader<'_>) -> Result<Limits, WireError> {
            Ok(Limits { $($name: reader.$number()?,)+ })
        }
    };
}

each_limit!(limits_codec);
