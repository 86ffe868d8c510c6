//! The probe of a virtual machine: a guest boots in a sandbox and starts no tool.

use policies::{MACHINE_REPORT_FILE, VmAccelerator};
use records::{GuestEnding, GuestReport, split_reason};
use sandbox::plan::{Limits, ProcView};

use super::model::{ProbeBench, ProbeCommand};
use super::sandbox_run::run;
use crate::accelerators::{AcceleratorEvidence, ProbedMachine};

const MIB: u64 = 1 << 20;
/// A guest without a tool needs no more.
const GUEST_MEMORY_MB: u64 = 128;
/// For the disks of the probe.
const DISK_BYTES: u64 = 16 * MIB;
/// Threads and descriptors of QEMU and the wrapper.
const TASKS_MAX: u32 = 96;
const FILES_MAX: u32 = 128;
/// The least time for the archive of `/out`, as the wrapper has it.
const ARCHIVE_SEC_MIN: u64 = 10;
/// For the disks and the end.
const SPARE_SEC: u64 = 7;

/// Boots a guest with the accelerators of the policy, until one boots. Remembers each result.
pub(super) fn boot_first(
    bench: ProbeBench<'_>,
    machine: ProbedMachine<'_>,
    evidence: &mut AcceleratorEvidence,
) -> Result<String, String> {
    let mut failures = Vec::new();
    for accelerator in &machine.microvm.accelerators {
        let booted = boot(bench, machine, *accelerator);
        evidence.remember(machine, *accelerator, booted.as_ref().err().map(String::as_str));
        match booted {
            Ok(found) => {
                failures.insert(0, found);
                return Ok(failures.join("; "));
            }
            Err(why) => failures.push(format!("{accelerator} booted no guest here: {why}")),
        }
    }
    Err(failures.join("; "))
}

/// Boots a guest with this accelerator. Returns the description of a guest that started.
pub(super) fn boot(
    bench: ProbeBench<'_>,
    machine: ProbedMachine<'_>,
    accelerator: VmAccelerator,
) -> Result<String, String> {
    let booted = || -> Result<String, String> {
        let end = run(bench, machine.installed, command(machine, accelerator))?;
        // The report of a guest that did not boot says why.
        let found = end.left().map(judge).transpose()?;
        end.good()?;
        found.ok_or_else(|| "the probe left no report".to_owned())
    };
    booted().map_err(|why| split_reason(&why).0.to_owned())
}

/// Returns the command that boots a guest with the first root of the policy.
fn command(machine: ProbedMachine<'_>, accelerator: VmAccelerator) -> ProbeCommand {
    let ProbedMachine { rule, microvm, .. } = machine;
    let root = microvm.roots.first().map_or("python", |root| root.name.as_str());
    let report = format!("/out/{MACHINE_REPORT_FILE}");
    let options = [
        ("--files", "/cache/microvm".to_owned()),
        ("--root", root.to_owned()),
        ("--accel", accelerator.as_str().to_owned()),
        ("--memory-mb", GUEST_MEMORY_MB.to_string()),
        ("--boot-sec", microvm.boot_sec.to_string()),
        ("--report", report),
    ];
    let options = options.into_iter().flat_map(|(key, value)| [key.to_owned(), value]);
    let archive_sec = microvm.boot_sec.max(ARCHIVE_SEC_MIN);
    let time_sec = microvm.boot_sec.saturating_add(archive_sec).saturating_add(SPARE_SEC);
    let time_ms = time_sec.saturating_mul(1000);
    let memory_mb = GUEST_MEMORY_MB.saturating_add(rule.memory_extra_mb());
    ProbeCommand {
        words: ["probe".to_owned()].into_iter().chain(options).collect(),
        result: MACHINE_REPORT_FILE,
        proc_view: ProcView::Pid,
        accelerator: Some(accelerator),
        limits: Limits {
            wall_ms_max: time_ms,
            cpu_ms_max: time_ms,
            memory_bytes_max: memory_mb.saturating_mul(MIB).saturating_add(DISK_BYTES),
            pids_max: TASKS_MAX,
            open_files_max: FILES_MAX,
            file_bytes_max: DISK_BYTES,
            out_bytes_max: DISK_BYTES,
            tmp_bytes_max: DISK_BYTES,
            ..Limits::SMALL
        },
    }
}

/// Returns the description of a guest that started.
fn judge(report: &str) -> Result<String, String> {
    let report = GuestReport::parse(report.as_bytes())
        .ok_or_else(|| "the probe left no valid report".to_owned())?;
    if report.ending != GuestEnding::Ended {
        let reason = report.reason.as_deref().unwrap_or("no reason was stated");
        return Err(format!("{}: {reason}", report.ending));
    }
    let boot_ms = report.boot_ms.unwrap_or_default();
    let kernel = report.kernel.as_deref().unwrap_or("unknown");
    let boundary = match report.accelerator {
        VmAccelerator::Tcg => " (no hypervisor boundary)",
        VmAccelerator::Kvm => "",
    };
    let accelerator = report.accelerator;
    Ok(format!("{accelerator}{boundary}, guest kernel {kernel} booted in {boot_ms} ms"))
}
