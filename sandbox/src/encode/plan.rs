//! The codec of sandbox specs and commands. Every list has a maximum length.

use super::value::{NAME_BYTES_MAX, PATH_BYTES_MAX, put_path, put_value, take_path, take_value};
use crate::messages::RuntimeMount;
use crate::plan::{
    Cache, ConfinementRequirements, ExecSpec, Limits, RuntimeSpec, SandboxSpec, StagingSlot,
    StagingSlotId, WorkCopy, WorkFolder, each_limit,
};
use crate::wire::{FrameReader, FrameWriter, WireError};

/// The most arguments of a command; below it, the most variables of an environment.
const ARGUMENTS_MAX: usize = 16_384;
const VARIABLES_MAX: usize = 256;
const MOUNTS_MAX: usize = 32;
/// Mounts, caches, and the directories of a root file system.
const RUNTIME_MOUNTS_MAX: usize = 96;
/// execve(2) refuses an argument of 131,072 bytes.
const ARGUMENT_BYTES_MAX: usize = 131_071;

pub(crate) fn put_sandbox_spec(writer: &mut FrameWriter, plan: &SandboxSpec) {
    writer.text(plan.slot.id.as_str()).u64(plan.slot.device).u64(plan.slot.inode);
    put_runtime(writer, &plan.runtime);
    put_value(writer, plan.network);
    put_value(writer, plan.device);
    writer.u32(plan.requirements.landlock_abi_min).flag(plan.requirements.cgroup_exception);
}

pub(crate) fn take_sandbox_spec(reader: &mut FrameReader<'_>) -> Result<SandboxSpec, WireError> {
    let id = StagingSlotId::new(&reader.text(32)?).ok_or(WireError::Range)?;
    let slot = StagingSlot { id, device: reader.u64()?, inode: reader.u64()? };
    let runtime = take_runtime(reader)?;
    let network = take_value(reader)?;
    let device = take_value(reader)?;
    let demands = ConfinementRequirements {
        landlock_abi_min: reader.u32()?,
        cgroup_exception: reader.flag()?,
    };
    Ok(SandboxSpec { slot, runtime, network, device, requirements: demands })
}

pub(crate) fn put_runtime_mounts(writer: &mut FrameWriter, mounts: &[RuntimeMount]) {
    writer.count(mounts.len());
    for mount in mounts {
        match mount {
            RuntimeMount::Directory(place) => put_path(writer.u8(0), place),
            RuntimeMount::File(place) => put_path(writer.u8(1), place),
            RuntimeMount::Link { place, target } => {
                put_path(writer.u8(2), place);
                put_path(writer, target);
            }
        }
    }
}

pub(crate) fn take_runtime_mounts(
    reader: &mut FrameReader<'_>,
) -> Result<Vec<RuntimeMount>, WireError> {
    let count = reader.count(RUNTIME_MOUNTS_MAX)?;
    let mount = |_| match reader.u8()? {
        0 => Ok(RuntimeMount::Directory(take_path(reader)?)),
        1 => Ok(RuntimeMount::File(take_path(reader)?)),
        2 => Ok(RuntimeMount::Link { place: take_path(reader)?, target: take_path(reader)? }),
        _ => Err(WireError::Range),
    };
    (0..count).map(mount).collect()
}

pub(crate) fn put_exec_spec(writer: &mut FrameWriter, order: &ExecSpec) {
    writer.count(order.argv.len());
    for word in &order.argv {
        writer.text(word);
    }
    writer.count(order.env.len());
    for (name, value) in &order.env {
        writer.text(name).text(value);
    }
    put_limits(writer, &order.limits);
    writer.flag(order.work.is_some());
    if let Some(WorkCopy { folder, patch }) = &order.work {
        put_work_folder(writer, folder);
        writer.text(patch);
    }
}

pub(crate) fn take_exec_spec(reader: &mut FrameReader<'_>) -> Result<ExecSpec, WireError> {
    let words = (0..reader.count(ARGUMENTS_MAX)?).map(|_| reader.text(ARGUMENT_BYTES_MAX));
    let argv = words.collect::<Result<Vec<_>, _>>()?;
    let variables = (0..reader.count(VARIABLES_MAX)?)
        .map(|_| Ok((reader.text(NAME_BYTES_MAX)?, reader.text(PATH_BYTES_MAX)?)));
    let env = variables.collect::<Result<Vec<_>, WireError>>()?;
    let limits = take_limits(reader)?;
    let work = if reader.flag()? { Some(take_work_copy(reader)?) } else { None };
    Ok(ExecSpec { argv, env, limits, work })
}

fn take_work_copy(reader: &mut FrameReader<'_>) -> Result<WorkCopy, WireError> {
    Ok(WorkCopy { folder: take_work_folder(reader)?, patch: reader.text(PATH_BYTES_MAX)? })
}

pub(crate) fn put_work_folder(writer: &mut FrameWriter, folder: &WorkFolder) {
    writer.text(folder.as_str());
}

pub(crate) fn take_work_folder(reader: &mut FrameReader<'_>) -> Result<WorkFolder, WireError> {
    WorkFolder::new(&reader.text(WorkFolder::BYTES_MAX)?).ok_or(WireError::Range)
}

fn put_runtime(writer: &mut FrameWriter, runtime: &RuntimeSpec) {
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

fn take_runtime(reader: &mut FrameReader<'_>) -> Result<RuntimeSpec, WireError> {
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
    Ok(RuntimeSpec { language, binary, root, mounts, caches, tmp, proc_view })
}

macro_rules! limits_codec {
    ($($(#[$doc:meta])* $name:ident: $number:ident = $small:expr,)+) => {
        fn put_limits(writer: &mut FrameWriter, limits: &Limits) {
            $(writer.$number(limits.$name);)+
        }

        fn take_limits(reader: &mut FrameReader<'_>) -> Result<Limits, WireError> {
            Ok(Limits { $($name: reader.$number()?,)+ })
        }
    };
}

each_limit!(limits_codec);

#[cfg(test)]
mod tests {
    use model::Language;

    use super::*;
    use crate::plan::{ProcView, SandboxDevice, SandboxNetwork, TmpUse};

    fn sandbox_spec(network: SandboxNetwork, device: SandboxDevice) -> SandboxSpec {
        let id = StagingSlotId::new(&"a".repeat(32)).unwrap();
        SandboxSpec {
            slot: StagingSlot { id, device: 1, inode: 2 },
            runtime: RuntimeSpec {
                language: Language::Python,
                binary: "/usr/bin/tool".into(),
                root: None,
                mounts: vec!["/usr".into()],
                caches: Vec::new(),
                tmp: TmpUse::Data,
                proc_view: ProcView::Pid,
            },
            network,
            device,
            requirements: ConfinementRequirements { landlock_abi_min: 1, cgroup_exception: false },
        }
    }

    #[test]
    fn a_sandbox_is_read_back_with_its_network_and_its_device() {
        for network in SandboxNetwork::ALL {
            for device in SandboxDevice::ALL {
                let plan = sandbox_spec(*network, *device);
                let mut writer = FrameWriter::default();
                put_sandbox_spec(&mut writer, &plan);
                let bytes = writer.into_bytes();
                let mut reader = FrameReader::new(&bytes);
                assert_eq!(take_sandbox_spec(&mut reader).unwrap(), plan);
                reader.end().unwrap();
            }
        }
    }

    fn decoded(order: &ExecSpec) -> Result<ExecSpec, WireError> {
        let mut writer = FrameWriter::default();
        put_exec_spec(&mut writer, order);
        let bytes = writer.into_bytes();
        let mut reader = FrameReader::new(&bytes);
        let order = take_exec_spec(&mut reader)?;
        reader.end().map(|()| order)
    }

    #[test]
    fn a_command_is_read_back_with_and_without_a_work_copy() {
        let folder = WorkFolder::new("a/repo").unwrap();
        for work in [None, Some(WorkCopy { folder, patch: "changes.patch".to_owned() })] {
            let order = ExecSpec {
                argv: vec!["tool".to_owned()],
                env: vec![("NAME".to_owned(), "value".to_owned())],
                limits: Limits::SMALL,
                work,
            };
            assert_eq!(decoded(&order).unwrap(), order);
        }
    }

    #[test]
    fn a_folder_that_leaves_the_inputs_is_refused() {
        for hostile in ["..", "a/../..", "/etc", "a//b", ""] {
            let mut writer = FrameWriter::default();
            writer.text(hostile);
            let bytes = writer.into_bytes();
            let taken = take_work_folder(&mut FrameReader::new(&bytes));
            assert_eq!(taken, Err(WireError::Range), "{hostile}");
        }
    }
}
