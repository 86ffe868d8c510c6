//! The messages of the guest, in their order: started, ended, left out, written. A message
//! `Failed` replaces the rest.

use model::RejectReason;

use super::fields::{MessageFields, put_bytes};

const STARTED: u32 = 1;
const ENDED: u32 = 2;
const LEFT_OUT: u32 = 3;
const WRITTEN: u32 = 4;
const FAILED: u32 = 5;

/// Texts are statements of the guest: for people, and short.
const TEXT_CHARS_MAX: usize = 512;

/// The end of the tool in the guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuestToolEnd {
    /// It exited with a status.
    Exited(u8),
    /// A signal ended it.
    Signalled(u8),
}

/// The limits that the tool met in the guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GuestToolUsage {
    /// The processes and threads that the limit of pids refused.
    pub pids_refused: u64,
    /// The processes that the kernel killed for want of memory.
    pub oom_kills: u64,
    /// `/out` had no bytes or no inodes left when the tool ended.
    pub out_full: bool,
    /// The bytes that init wrote to the two ports for output.
    pub output_bytes: u64,
}

/// One message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GuestMessage {
    /// The tool starts now.
    Started {
        /// The release of the guest's kernel.
        kernel: String,
    },
    /// The tool and everything that it started have ended.
    Ended(GuestToolEnd, GuestToolUsage),
    /// An object of `/out` is not in the archive.
    LeftOut {
        /// The reason.
        reason: RejectReason,
        /// Its path below `/out`.
        name: String,
    },
    /// The archive is complete.
    Written {
        /// Its entries.
        entries: u64,
        /// The objects that it does not have.
        left_out: u64,
    },
    /// The guest's init failed.
    Failed {
        /// The step and the error.
        why: String,
    },
}

impl GuestMessage {
    /// Returns number and payload.
    pub(super) fn payload(&self) -> (u32, Vec<u8>) {
        match self {
            Self::Started { kernel } => (STARTED, text_bytes(kernel)),
            Self::Ended(end, usage) => (ENDED, ended_bytes(*end, *usage)),
            Self::LeftOut { reason, name } => {
                (LEFT_OUT, [text_bytes(reason.as_str()), text_bytes(name)].concat())
            }
            Self::Written { entries, left_out } => {
                (WRITTEN, [entries.to_le_bytes(), left_out.to_le_bytes()].concat())
            }
            Self::Failed { why } => (FAILED, text_bytes(why)),
        }
    }

    /// Reads a payload. Returns `None` if the kind does not exist, or the payload has another form.
    pub(super) fn decode(kind: u32, payload: &[u8]) -> Option<Self> {
        let mut fields = MessageFields(payload);
        let message = match kind {
            STARTED => Self::Started { kernel: text(&mut fields)? },
            ENDED => ended(&mut fields)?,
            LEFT_OUT => Self::LeftOut {
                reason: RejectReason::named(&text(&mut fields)?)?,
                name: text(&mut fields)?,
            },
            WRITTEN => Self::Written { entries: fields.u64()?, left_out: fields.u64()? },
            FAILED => Self::Failed { why: text(&mut fields)? },
            _ => return None,
        };
        fields.is_empty().then_some(message)
    }
}

fn ended_bytes(end: GuestToolEnd, usage: GuestToolUsage) -> Vec<u8> {
    let (kind, code) = match end {
        GuestToolEnd::Exited(code) => (0, code),
        GuestToolEnd::Signalled(signal) => (1, signal),
    };
    let mut payload = vec![kind, code, u8::from(usage.out_full)];
    payload.extend_from_slice(&usage.pids_refused.to_le_bytes());
    payload.extend_from_slice(&usage.oom_kills.to_le_bytes());
    payload.extend_from_slice(&usage.output_bytes.to_le_bytes());
    payload
}

fn ended(fields: &mut MessageFields<'_>) -> Option<GuestMessage> {
    let (end, out_full) = match fields.take(3)? {
        [0, code, full @ (0 | 1)] => (GuestToolEnd::Exited(*code), *full == 1),
        [1, signal @ 1..=64, full @ (0 | 1)] => (GuestToolEnd::Signalled(*signal), *full == 1),
        _ => return None,
    };
    let [pids_refused, oom_kills, output_bytes] = [fields.u64()?, fields.u64()?, fields.u64()?];
    let usage = GuestToolUsage { pids_refused, oom_kills, out_full, output_bytes };
    Some(GuestMessage::Ended(end, usage))
}

fn text_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A text of this size always fits.
    if put_bytes(&mut bytes, printable(text).as_bytes()).is_none() {
        bytes.clear();
    }
    bytes
}

fn text(fields: &mut MessageFields<'_>) -> Option<String> {
    Some(printable(&String::from_utf8_lossy(fields.bytes()?)))
}

/// Replaces everything that a terminal could interpret, and cuts a long text.
fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
    text.chars().take(TEXT_CHARS_MAX).map(shown).collect()
}
