//! One run from its plan to its report. Files are copied to `/out` only after QEMU is gone.

use std::fmt::Display;

use model::{RejectReason, escape_line};

use super::course::GuestCourse;
use super::disks::MachineDisks;
use super::plan::MachinePlan;
use super::process::{Machine, MachineRemains};
use crate::archive::{ArchiveError, OutArchive, OutDirectory};
use crate::outcome::{GuestHalt, GuestOutcome};
use crate::report::{LeftOutFile, MachineReport};

/// The characters of a line of the console that a reason repeats.
const PANIC_CHARS_MAX: usize = 200;

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
    let followed = followed.and_then(|end| {
        machine.await_output(end.output_bytes, end.tool_ended, limits.archive_time())?;
        Ok(end.entries)
    });
    let remains = machine.stop();
    let ended = match followed {
        Ok(entries) => collect(plan, &disks, entries, report),
        Err(mut halt) => {
            add_causes(&mut halt, &remains, sent.err());
            Err(halt)
        }
    };
    if ended.is_err() {
        report.keep_texts(&remains.console, &remains.messages);
    }
    ended
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
    if let Some(panic) = kernel_panic(&remains.console) {
        halt.reason.push_str(&format!("; the console has: {panic}"));
    }
}

/// Returns the line of a console that names the reason of a panic. Other lines follow it.
fn kernel_panic(console: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(console);
    let at = text.find("Kernel panic")?;
    let line = text.get(at..)?.lines().next()?;
    let start: String = line.trim_end().chars().take(PANIC_CHARS_MAX).collect();
    Some(escape_line(&start))
}

/// Copies the guest's files to `/out`. The guest reported `entries` of them.
fn collect(
    plan: &MachinePlan,
    disks: &MachineDisks,
    entries: u64,
    report: &mut MachineReport,
) -> Result<(), GuestHalt> {
    let mut disk = disks.open_output()?;
    let mut archive =
        OutArchive::read(&mut disk, plan.limits.archive()).map_err(|error| match error {
            ArchiveError::Refused { .. } => bad_archive(error),
            ArchiveError::Unreadable(_) => GuestHalt::at("archive of the guest")(error),
        })?;
    let found = u64::try_from(archive.entries().len()).unwrap_or(u64::MAX);
    if found != entries {
        return Err(bad_archive(format!("it has entries: {found}; the guest reported {entries}")));
    }
    let mut out = OutDirectory::open(&plan.out_dir).map_err(GuestHalt::at("open /out"))?;
    if let Some(name) = out.reserved(&archive).map_err(GuestHalt::at("read /out"))? {
        return Err(bad_archive(format!("{name:?}: the name is reserved")));
    }
    for name in archive.keep_files(plan.limits.artifacts) {
        report.leave_out(LeftOutFile { name, reason: RejectReason::TooMany });
    }
    out.write(&archive, &mut disk).map_err(GuestHalt::at("copy to /out"))?;
    report.entries = u64::try_from(archive.entries().len()).unwrap_or(u64::MAX);
    report.bytes = archive.bytes();
    Ok(())
}

fn bad_archive(why: impl Display) -> GuestHalt {
    GuestHalt::new(GuestOutcome::BadArchive, format!("archive of the guest: {why}"))
}
