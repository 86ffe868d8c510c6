//! The end of a run in a virtual machine: the report that the wrapper left in `/out`, and the facts
//! that it changes. The report can be forged by the guest or by QEMU. It may therefore decide about
//! the end of the tool, but must never give a request back, nor undo what the launcher observed.

use std::fs::File;
use std::io::Read as _;

use model::Outcome;
use policies::{GrantedMachine, MACHINE_REPORT_FILE};
use records::{GUEST_REPORT_BYTES_MAX, GuestEnding, GuestReport};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use sandbox::outcome::{KillReason, ToolEnd};
use sandbox::report::{FinishedRun, RejectedObject};
use spool::ResultDraft;

const SIGKILL: u8 = 9;
const UNREPORTED: &str = "the wrapper of the virtual machine left no valid report";

/// The end of a run whose facts were settled.
pub(super) enum GuestEnd {
    /// The tool ran, or may have run.
    Ran(Option<Box<GuestReport>>),
    /// The guest did not start the tool. The request stays used up.
    NotStarted(String),
}

/// Changes the facts of a run to those that the report states.
pub(super) fn settle(
    machine: &GrantedMachine,
    finished: &mut FinishedRun,
    result: &ResultDraft,
) -> GuestEnd {
    let bytes = read_report(finished, result);
    settle_report(machine, finished, bytes.as_deref())
}

/// Returns the bytes of the report, if it was collected.
fn read_report(finished: &FinishedRun, result: &ResultDraft) -> Option<Vec<u8>> {
    let found = &finished.collected.artifacts;
    found.iter().find(|artifact| artifact.path == MACHINE_REPORT_FILE)?;
    let path = format!("artifacts/{MACHINE_REPORT_FILE}");
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let opened = openat2(result.directory(), path, flags, Mode::empty(), resolve).ok()?;
    let mut bytes = Vec::new();
    let limit = GUEST_REPORT_BYTES_MAX.saturating_add(1);
    File::from(opened).take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn settle_report(
    machine: &GrantedMachine,
    finished: &mut FinishedRun,
    bytes: Option<&[u8]>,
) -> GuestEnd {
    let report = bytes.and_then(GuestReport::parse).filter(|report| report.is_of(machine));
    let facts = &finished.facts;
    if facts.tool.is_none() || facts.killed.is_some() || facts.oom_kills > 0 {
        // The launcher ended the sandbox, or the kernel a part of it.
        return GuestEnd::Ran(report.map(Box::new));
    }
    let Some(report) = report else {
        lose(finished, UNREPORTED.to_owned());
        return GuestEnd::Ran(None);
    };
    let started = report.boot_ms.is_some();
    match report.ending {
        GuestEnding::Ended => end(finished, &report),
        GuestEnding::BadArchive => {
            end(finished, &report);
            finished.facts.output_rejected = true;
            leave_incomplete(finished);
        }
        GuestEnding::TimeLimit => {
            clear(finished);
            // The wrapper killed QEMU.
            let killed = ToolEnd::Signaled { signal: SIGKILL, core_dumped: false };
            finished.facts.tool = Some(killed);
            finished.facts.killed = Some(KillReason::Wall);
        }
        GuestEnding::NoBoot | GuestEnding::WrapperFailed | GuestEnding::QemuExited if !started => {
            return GuestEnd::NotStarted(not_started(&report));
        }
        // The tool ran. Without a valid last message, its end is unknown.
        ending => lose(finished, format!("the virtual machine ended with {ending}")),
    }
    GuestEnd::Ran(Some(Box::new(report)))
}

/// No tool of the request has influenced this text.
fn not_started(report: &GuestReport) -> String {
    let reason = report.reason.as_deref().unwrap_or("no reason was stated");
    format!("virtual machine: {}: {reason}", report.ending)
}

/// Takes over how the tool ended, and which limits it met.
fn end(finished: &mut FinishedRun, report: &GuestReport) {
    clear(finished);
    let signaled = |signal| ToolEnd::Signaled { signal, core_dumped: false };
    let facts = &mut finished.facts;
    facts.tool = report.exit_code.map(ToolEnd::Exited).or(report.signal.map(signaled));
    facts.oom_kills = report.oom_kills;
    facts.pids_limit_hit = report.pids_refused > 0;
    facts.out_full = report.out_full;
    for (path, reason) in &report.left_out {
        let object = RejectedObject { path: path.clone(), reason: *reason };
        finished.collected.rejected.push(object);
        finished.facts.output_rejected = true;
    }
    if u64::try_from(report.left_out.len()).is_ok_and(|listed| listed < report.left_out_count) {
        leave_incomplete(finished);
    }
}

/// The limits of the sandbox were met by QEMU, and say nothing about the tool.
fn clear(finished: &mut FinishedRun) {
    let facts = &mut finished.facts;
    (facts.pids_limit_hit, facts.out_full, facts.file_full) = (false, false, false);
}

fn leave_incomplete(finished: &mut FinishedRun) {
    finished.facts.collected_all = false;
    finished.collected.complete = false;
}

fn lose(finished: &mut FinishedRun, why: String) {
    clear(finished);
    finished.facts.tool = None;
    finished.lost = Some(why);
}

/// Returns the outcome of a run in a virtual machine. Inside, no filter kills with SIGSYS.
pub(super) fn outcome(decided: Outcome, finished: &FinishedRun) -> Outcome {
    let signal = match finished.facts.tool {
        Some(ToolEnd::Signaled { signal, .. }) => signal,
        _ => return decided,
    };
    let by_guest = decided == Outcome::SeccompViolation && finished.facts.killed.is_none();
    if by_guest { Outcome::Signal(signal) } else { decided }
}

/// Returns the reason of an outcome that the facts alone do not explain.
pub(super) fn reason(report: &GuestReport, outcome: Outcome) -> Option<&'static str> {
    let bad = report.ending == GuestEnding::BadArchive && outcome == Outcome::OutputRejected;
    bad.then_some("the guest's archive of /out breaks a rule; the file microvm.json names it")
}

#[cfg(test)]
mod tests;
