//! Converts a grant to the launcher's plan: the same values in other units.

use policies::{Approved, RunGrant, VmAccelerator};
use sandbox::plan::{
    Cache, ConfinementRequirements, ExecSpec, Limits, Plan, ProcView, RuntimeSpec, SandboxDevice,
    SandboxNetwork, SandboxSpec, StagingSlot, StagingSlotId, TmpUse, WorkCopy, WorkFolder,
};
use spool::{EmptySlot, Staged};

use crate::network;

/// A granted value that the launcher's protocol cannot represent.
#[derive(Debug)]
pub(crate) struct PlanValueError(&'static str);

impl std::fmt::Display for PlanValueError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = "too large for the protocol of the launcher; help: set a lower value";
        write!(f, "policy {}: {what}", self.0)
    }
}

pub(crate) fn plan(staged: &Staged) -> Result<Plan, PlanValueError> {
    let (device, inode) = staged.slot_identity();
    let id =
        StagingSlotId::new(staged.claimed().slot().as_str()).ok_or(PlanValueError("claim id"))?;
    of_grant(staged.approved().grant(), StagingSlot { id, device, inode })
}

pub(crate) fn of_grant(grant: &RunGrant, slot: StagingSlot) -> Result<Plan, PlanValueError> {
    let limits = limits(grant)?;
    // Interpreters locate their files by `argv[0]`, and the name in the request may not exist in
    // the sandbox. The record keeps the original words.
    let mut argv = grant.argv().to_vec();
    if let Some(name) = argv.first_mut() {
        *name = grant.binary().display().to_string();
    }
    let env = grant.env().iter().cloned().chain(network::environment(grant)).collect();
    let exec = ExecSpec { argv, env, limits, work: work(grant)? };
    Ok(Plan { sandbox: sandbox_plan(grant, slot), exec })
}

/// The folder of which the tool gets a writable copy, if the request asks for a patch.
fn work(grant: &RunGrant) -> Result<Option<WorkCopy>, PlanValueError> {
    let (Some(folder), Some(patch)) = (grant.work_folder(), grant.patch_path()) else {
        return Ok(None);
    };
    let folder = WorkFolder::new(folder).ok_or(PlanValueError("x-patch-of"))?;
    Ok(Some(WorkCopy { folder, patch: patch.to_owned() }))
}

fn limits(grant: &RunGrant) -> Result<Limits, PlanValueError> {
    let granted = grant.limits();
    let small = |value: u64, name| u32::try_from(value).map_err(|_| PlanValueError(name));
    Ok(Limits {
        wall_ms_max: granted.time_sec.saturating_mul(1000),
        cpu_ms_max: granted.cpu_time_ms,
        cpu_milli: small(granted.cpu_milli, "limits.cpu_cores_max")?,
        memory_bytes_max: granted.memory_bytes,
        pids_max: small(granted.pids, "limits.pids_max")?,
        open_files_max: small(granted.open_files, "limits.open_files_max")?,
        file_bytes_max: granted.file_bytes,
        out_bytes_max: granted.out_bytes,
        tmp_bytes_max: granted.tmp_bytes,
        shm_bytes_max: granted.shm_bytes,
        out_inodes_max: small(granted.out_inodes, "limits.out_inodes_max")?,
        stream_bytes_max: granted.stream_bytes,
        artifacts_max: small(granted.artifacts, "limits.artifacts_max")?,
        artifact_depth_max: small(granted.artifact_depth, "limits.artifact_depth_max")?,
    })
}

/// None if the slot's id is not valid.
pub(crate) fn slot(empty: &EmptySlot) -> Option<StagingSlot> {
    let (device, inode) = empty.identity();
    Some(StagingSlot { id: StagingSlotId::new(empty.id().as_str())?, device, inode })
}

/// Only the slot depends on the run: two runs whose plans differ in it alone can use each other's
/// sandboxes.
pub(crate) fn sandbox_plan(grant: &RunGrant, slot: StagingSlot) -> SandboxSpec {
    SandboxSpec {
        slot,
        runtime: RuntimeSpec {
            language: grant.language(),
            binary: grant.binary().to_owned(),
            root: grant.root().map(std::path::Path::to_owned),
            mounts: grant.mounts().to_vec(),
            caches: grant
                .caches()
                .iter()
                .map(|(target, source)| Cache { source: source.clone(), target: target.clone() })
                .collect(),
            tmp: match grant.tmp() {
                policies::TmpRule::Data => TmpUse::Data,
                policies::TmpRule::Programs => TmpUse::Programs,
            },
            proc_view: match grant.proc() {
                policies::ProcRule::None => ProcView::None,
                policies::ProcRule::Pid => ProcView::Pid,
                policies::ProcRule::Full => ProcView::Full,
            },
        },
        network: match grant.network() {
            None => SandboxNetwork::Nothing,
            Some(_) => SandboxNetwork::Proxy,
        },
        device: device(grant.backend().machine.as_ref().map(|machine| machine.accelerator)),
        requirements: ConfinementRequirements {
            landlock_abi_min: grant.landlock_abi_min(),
            cgroup_exception: grant.cgroup_exception(),
        },
    }
}

/// Returns the device that a sandbox needs for an accelerator.
pub(crate) fn device(accelerator: Option<VmAccelerator>) -> SandboxDevice {
    match accelerator {
        Some(VmAccelerator::Kvm) => SandboxDevice::Kvm,
        Some(VmAccelerator::Tcg) | None => SandboxDevice::Nothing,
    }
}

/// A run with hosts may not: bringing up the loopback interface uses up its network namespace.
pub(crate) fn can_use_prewarmed(approved: &Approved) -> bool {
    approved.grant().network().is_none()
}
