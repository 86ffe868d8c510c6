//! The report about a run in a virtual machine, which its wrapper leaves in `/out`. It comes from
//! the sandbox, and most of it from the guest: it is parsed strictly, and must never decide more
//! than the end of the tool.

use model::RejectReason;
use policies::{GrantedMachine, VmAccelerator};
use serde::Deserialize;

/// The most bytes of a report. The sandbox has this much space for it.
pub const GUEST_REPORT_BYTES_MAX: u64 = 2 << 20;

const LEFT_OUT_MAX: usize = 1000;
const TEXT_CHARS_MAX: usize = 400;
const NAME_CHARS_MAX: usize = 512;
/// Signals of Linux.
const SIGNAL_MAX: u8 = 64;
/// A release such as `6.1.0-27-cloud-amd64`.
const KERNEL_BYTES_MAX: usize = 32;

model::closed_set! {
    /// The end of a run, as the wrapper reports it.
    pub enum GuestEnding {
        /// The tool ended, and its files were copied.
        Ended = "ended",
        /// The guest's init failed after the start of the tool.
        GuestFailed = "guest-failed",
        /// The wrapper failed, or a file that it needs is missing.
        WrapperFailed = "wrapper-failed",
        /// QEMU exited before the guest had reported everything.
        QemuExited = "qemu-exited",
        /// The guest's archive of `/out` is refused.
        BadArchive = "bad-archive",
        /// The guest's messages are not valid.
        BadStatus = "bad-status",
        /// The time limit was reached.
        TimeLimit = "time-limit",
        /// The guest did not start the tool in time.
        NoBoot = "no-boot",
    }
}

/// A report. Every text in it is printable. The fields are public because plain data proves
/// nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuestReport {
    /// The end.
    pub ending: GuestEnding,
    /// The wrapper's reason, if the tool did not end by itself. It may quote the guest.
    pub reason: Option<String>,
    /// The exit status of the tool.
    pub exit_code: Option<u8>,
    /// The signal that ended the tool.
    pub signal: Option<u8>,
    /// The accelerator that was used.
    pub accelerator: VmAccelerator,
    /// The memory of the guest, in MiB.
    pub memory_mb: u64,
    /// The release of the guest's kernel, if it looks like one.
    pub kernel: Option<String>,
    /// From QEMU's start to the start of the tool, in milliseconds; `None` if it did not start.
    pub boot_ms: Option<u64>,
    /// From the start of the tool to its end, in milliseconds.
    pub tool_ms: Option<u64>,
    /// The processes and threads that the guest refused.
    pub pids_refused: u64,
    /// The processes that the guest killed for want of memory.
    pub oom_kills: u64,
    /// `/out` was full in the guest.
    pub out_full: bool,
    /// Objects of `/out` that the guest did not archive, or the wrapper did not keep, from the first.
    pub left_out: Vec<(String, RejectReason)>,
    /// The number of these objects.
    pub left_out_count: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGuestReport {
    outcome: String,
    reason: Option<String>,
    exit_code: Option<u8>,
    signal: Option<u8>,
    status_from: String,
    accelerator: String,
    guest_kernel: Option<String>,
    guest_memory_mb: u64,
    boot_ms: Option<u64>,
    tool_ms: Option<u64>,
    pids_refused: u64,
    oom_kills: u64,
    out_full: bool,
    #[serde(rename = "entries")]
    _entries: u64,
    #[serde(rename = "bytes")]
    _bytes: u64,
    left_out_count: u64,
    left_out: Vec<RawLeftOutFile>,
    console: Option<String>,
    #[serde(rename = "qemu_messages")]
    _qemu_messages: Option<String>,
    #[serde(rename = "qemu_version")]
    _qemu_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLeftOutFile {
    name: String,
    reason: String,
}

impl GuestReport {
    /// Reads a report. Returns `None` if it has another form, or contradicts itself.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if u64::try_from(bytes.len()).ok()? > GUEST_REPORT_BYTES_MAX {
            return None;
        }
        let raw: RawGuestReport = serde_json::from_slice(bytes).ok()?;
        if raw.status_from != "guest" || raw.left_out.len() > LEFT_OUT_MAX {
            return None;
        }
        let console = raw.console.as_deref().and_then(last_line);
        let reason = raw.reason.map(|text| printable(&text, TEXT_CHARS_MAX));
        let reason = reason.map(|reason| match console {
            Some(line) => format!("{reason}; its console ends with: {line}"),
            None => reason,
        });
        let left_out = raw.left_out.into_iter().map(|file| {
            let reason = RejectReason::named(&file.reason)?;
            Some((printable(&file.name, NAME_CHARS_MAX), reason))
        });
        let report = Self {
            ending: GuestEnding::named(&raw.outcome)?,
            reason,
            exit_code: raw.exit_code,
            signal: raw.signal,
            accelerator: VmAccelerator::named(&raw.accelerator)?,
            memory_mb: raw.guest_memory_mb,
            kernel: raw.guest_kernel.filter(|text| is_release(text)),
            boot_ms: raw.boot_ms,
            tool_ms: raw.tool_ms,
            pids_refused: raw.pids_refused,
            oom_kills: raw.oom_kills,
            out_full: raw.out_full,
            left_out: left_out.collect::<Option<_>>()?,
            left_out_count: raw.left_out_count,
        };
        report.is_consistent().then_some(report)
    }

    /// Returns whether the wrapper used the machine of the grant.
    #[must_use]
    pub fn is_of(&self, granted: &GrantedMachine) -> bool {
        self.accelerator == granted.accelerator && self.memory_mb == granted.memory_mb
    }

    /// Only a tool that started can end, in exactly one way.
    fn is_consistent(&self) -> bool {
        let ends = usize::from(self.exit_code.is_some()) + usize::from(self.signal.is_some());
        let started = self.boot_ms.is_some() && self.tool_ms.is_some();
        let is_signal = self.signal.is_none_or(|signal| (1..=SIGNAL_MAX).contains(&signal));
        let must_end = matches!(self.ending, GuestEnding::Ended | GuestEnding::BadArchive);
        let listed = u64::try_from(self.left_out.len()).unwrap_or(u64::MAX);
        is_signal
            && (if must_end { ends == 1 } else { ends <= 1 })
            && (ends == 0 || started)
            && (self.ending == GuestEnding::Ended || self.reason.is_some())
            && (!must_end || listed <= self.left_out_count)
    }
}

/// A release has no character with which a guest could write anything else.
fn is_release(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.+~".contains(&b);
    (1..=KERNEL_BYTES_MAX).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(allowed)
}

fn last_line(text: &str) -> Option<String> {
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(printable(line, TEXT_CHARS_MAX))
}

/// Replaces everything that a terminal could interpret, and cuts a long text.
fn printable(text: &str, chars_max: usize) -> String {
    let shown = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    text.chars().take(chars_max).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn ended() -> Value {
        json!({
            "outcome": "ended", "reason": null, "exit_code": 5, "signal": null,
            "status_from": "guest", "accelerator": "tcg", "guest_kernel": "6.1.0-27-cloud-amd64",
            "guest_memory_mb": 192, "boot_ms": 2000, "tool_ms": 300, "pids_refused": 0,
            "oom_kills": 0, "out_full": false, "entries": 1, "bytes": 2, "left_out_count": 1,
            "left_out": [{ "name": "a\u{1b}b", "reason": "symlink" }], "console": null,
            "qemu_messages": null, "qemu_version": null,
        })
    }

    fn parse(report: &Value) -> Option<GuestReport> {
        GuestReport::parse(report.to_string().as_bytes())
    }

    #[test]
    fn a_report_is_read_with_printable_texts() {
        let report = parse(&ended()).unwrap();
        assert_eq!((report.ending, report.exit_code), (GuestEnding::Ended, Some(5)));
        assert_eq!(report.kernel.as_deref(), Some("6.1.0-27-cloud-amd64"));
        assert_eq!(report.left_out, [("a?b".to_owned(), RejectReason::Symlink)]);
    }

    #[test]
    fn a_report_of_another_form_is_refused() {
        for (key, value) in [
            ("outcome", json!("fine")),
            ("outcome", json!("no-boot")),
            ("exit_code", json!(256)),
            ("exit_code", json!(null)),
            ("signal", json!(9)),
            ("status_from", json!("host")),
            ("accelerator", json!("hvf")),
            ("boot_ms", json!(null)),
            ("boot_ms", json!(-1)),
            ("left_out_count", json!(0)),
            ("left_out", json!([{ "name": "a", "reason": "other" }])),
            ("more", json!(1)),
        ] {
            let mut report = ended();
            report[key] = value.clone();
            assert_eq!(parse(&report), None, "{key}: {value}");
        }
        assert_eq!(GuestReport::parse(b"{}"), None);
        assert_eq!(GuestReport::parse(b"[[[["), None);
    }

    #[test]
    fn a_kernel_of_another_form_is_left_out() {
        for kernel in ["", "Linux", "6.1\n", "6.1 AKIA", &"6".repeat(33)] {
            let mut report = ended();
            report["guest_kernel"] = json!(kernel);
            assert_eq!(parse(&report).unwrap().kernel, None, "{kernel:?}");
        }
    }
}
