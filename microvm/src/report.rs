//! The report of a run: one line of JSON. Texts of the guest in it are statements of the guest.

use model::RejectReason;
use serde::Serialize;

use crate::accelerator::GuestAccelerator;
use crate::outcome::{GuestHalt, GuestOutcome};
use crate::protocol::GuestToolUsage;

/// The most objects that a report lists. Their names fit into its 2 MiB.
pub(crate) const LEFT_OUT_MAX: usize = 1000;

/// An object of `/out` that the guest did not archive, or the wrapper did not keep.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOutFile {
    /// The path below `/out`, with printable characters only.
    pub name: String,
    /// The reason, as the collector of the sandbox names it.
    #[serde(serialize_with = "as_text")]
    pub reason: RejectReason,
}

/// The report.
#[derive(Clone, Debug, Serialize)]
pub struct MachineReport {
    /// The outcome.
    pub outcome: GuestOutcome,
    /// The reason, if the outcome is not `ended`.
    pub reason: Option<String>,
    /// The tool's exit status.
    pub exit_code: Option<u8>,
    /// The signal that ended the tool.
    pub signal: Option<u8>,
    /// The source of status, usage and kernel: always the guest, which can forge them.
    pub status_from: &'static str,
    /// The accelerator.
    pub accelerator: GuestAccelerator,
    /// The release of the guest's kernel.
    pub guest_kernel: Option<String>,
    /// The memory of the guest, in MiB.
    pub guest_memory_mb: u32,
    /// From QEMU's start to the start of the tool.
    pub boot_ms: Option<u64>,
    /// From the start of the tool to its end.
    pub tool_ms: Option<u64>,
    /// Processes and threads that the limit of pids refused.
    pub pids_refused: u64,
    /// Processes that the guest killed for want of memory.
    pub oom_kills: u64,
    /// `/out` was full in the guest.
    pub out_full: bool,
    /// The entries that were copied to `/out`.
    pub entries: u64,
    /// The bytes that were copied to `/out`.
    pub bytes: u64,
    /// The number of objects that the guest did not archive, or the wrapper did not keep.
    pub left_out_count: u64,
    /// The first of these objects.
    pub left_out: Vec<LeftOutFile>,
    /// The end of the guest's console, if the outcome is not `ended`.
    pub console: Option<String>,
    /// The end of QEMU's messages, if the outcome is not `ended`.
    pub qemu_messages: Option<String>,
    /// The first line of `qemu --version`, in the report of a probe.
    pub qemu_version: Option<String>,
}

impl MachineReport {
    pub(crate) fn new(accelerator: GuestAccelerator, guest_memory_mb: u32) -> Self {
        Self {
            outcome: GuestOutcome::Ended,
            reason: None,
            exit_code: None,
            signal: None,
            status_from: "guest",
            accelerator,
            guest_kernel: None,
            guest_memory_mb,
            boot_ms: None,
            tool_ms: None,
            pids_refused: 0,
            oom_kills: 0,
            out_full: false,
            entries: 0,
            bytes: 0,
            left_out_count: 0,
            left_out: Vec::new(),
            console: None,
            qemu_messages: None,
            qemu_version: None,
        }
    }

    /// Returns the exit status of the wrapper.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match (self.outcome, self.exit_code, self.signal) {
            (GuestOutcome::Ended, Some(code), _) => code,
            (GuestOutcome::Ended, None, Some(signal)) => signal.saturating_add(128),
            (outcome, _, _) => outcome.exit_status(),
        }
    }

    pub(crate) fn record_usage(&mut self, usage: GuestToolUsage) {
        self.pids_refused = usage.pids_refused;
        self.oom_kills = usage.oom_kills;
        self.out_full = usage.out_full;
    }

    /// Counts an object that is not kept, and lists the first of them.
    pub(crate) fn leave_out(&mut self, object: LeftOutFile) {
        self.left_out_count = self.left_out_count.saturating_add(1);
        if self.left_out.len() < LEFT_OUT_MAX {
            self.left_out.push(object);
        }
    }

    /// Ends the run otherwise. The tool's status stays, if the guest reported one.
    pub(crate) fn halt(&mut self, halt: GuestHalt) {
        self.outcome = halt.outcome;
        self.reason = Some(halt.reason);
    }

    /// Keeps the texts that help to find the reason of a failure.
    pub(crate) fn keep_texts(&mut self, console: &[u8], qemu: &[u8]) {
        let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned());
        self.console = text(console);
        self.qemu_messages = text(qemu);
    }
}

fn as_text<S: serde::Serializer>(reason: &RejectReason, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(reason.as_str())
}
