//! One run from its plan to its report. Files are copied to `/out` only after QEMU is gone.

use super::course::GuestCourse;
use super::disks::MachineDisks;
use super::plan::MachinePlan;
use super::process::{Machine, MachineRemains};
use crate::archive::{ArchiveError, OutArchive, OutDirectory};
use crate::outcome::{GuestHalt, GuestOutcome};
use crate::report::MachineReport;

/// Runs a tool in a guest, and returns the report. The guest is dead when it returns.
#[must_use]
pub fn run_guest(plan: &MachinePlan) -> MachineReport {
    let mut report = MachineReport::new(plan.accelerator, plan.limits.memory_mb);
    if let Err(halt) = attempt(plan, &mut report) {
        report.halt(halt);
    }
    report
}

fn attempt(plan: &MachinePlan, report: &mut MachineReport) -> Result<(), GuestHalt> {
    plan.check_files()?;
    let request = plan.request()?;
    let disks = MachineDisks::make(plan)?;
    let mut machine = Machine::start(plan, &disks)?;
    // A socket that QEMU has closed shows itself to the reader of the messages too.
    let sent = machine.send(&request);
    let limits = plan.limits;
    let followed = GuestCourse::new(&machine.control, limits, report).follow(machine.started);
    let remains = machine.stop();
    if let Err(mut halt) = followed {
        add_causes(&mut halt, &remains, sent.err());
        report.keep_texts(&remains.console, &remains.messages);
        return Err(halt);
    }
    collect(plan, &disks, report)
}

/// Adds the facts that say why QEMU is gone.
fn add_causes(halt: &mut GuestHalt, remains: &MachineRemains, unsent: Option<std::io::Error>) {
    if halt.outcome != GuestOutcome::QemuExited {
        return;
    }
    if let Some(status) = remains.status {
        halt.reason.push_str(&format!(": {status}"));
    }
    let messages = String::from_utf8_lossy(&remains.messages);
    if let Some(last) = messages.lines().rfind(|line| !line.trim().is_empty()) {
        halt.reason.push_str(&format!(": {last}"));
    } else if let Some(error) = unsent {
        halt.reason.push_str(&format!(": send the request: {error}"));
    }
}

/// Copies the guest's files to `/out`.
fn collect(
    plan: &MachinePlan,
    disks: &MachineDisks,
    report: &mut MachineReport,
) -> Result<(), GuestHalt> {
    let mut disk = disks.open_output()?;
    let archive = OutArchive::read(&mut disk, plan.limits.archive()).map_err(|error| {
        let outcome = match error {
            ArchiveError::Refused { .. } => GuestOutcome::BadArchive,
            ArchiveError::Unreadable(_) => GuestOutcome::WrapperFailed,
        };
        GuestHalt::new(outcome, format!("archive of the guest: {error}"))
    })?;
    let mut out = OutDirectory::open(&plan.out_dir).map_err(GuestHalt::at("open /out"))?;
    out.write(&archive, &mut disk).map_err(GuestHalt::at("copy to /out"))?;
    report.entries = u64::try_from(archive.entries().len()).unwrap_or(u64::MAX);
    report.bytes = archive.bytes();
    Ok(())
}
