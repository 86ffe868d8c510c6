//! The kinds of log entries: records, and the log's own entries. An entry must never be accepted as
//! one of the log's own unless it has exactly the bytes that this program would have written.

mod heartbeat;
mod key_change;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::log::format::{ENTRY_KIND, ENTRY_VERSION, OWN_VERSION};

pub use heartbeat::{BootId, Heartbeat, NotABootId, heartbeat_is_due};
pub(crate) use key_change::RotationKey;
pub use key_change::{KEY_CHANGE_NAMESPACE, KeyChange, KeyChangeError, KeyRole};

/// A parsed log entry. Callers must have its proof; the bytes alone prove nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogEntry {
    /// A signed statement, by its digest: [`crate::DsseEnvelope::log_entry`].
    Record,
    /// The log was alive without other entries.
    Heartbeat(Heartbeat),
    /// A rotation to another key, signed by both.
    KeyChange(KeyChange),
    /// An entry of a kind that this version does not know.
    Unknown,
}

impl LogEntry {
    /// Parses an entry. Every sequence of bytes is some entry.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let Ok(head) = serde_json::from_slice::<RawLogEntryHead>(bytes) else {
            return Self::Unknown;
        };
        match (head.api_version.as_str(), head.kind.as_str()) {
            (ENTRY_VERSION, ENTRY_KIND) => Self::Record,
            (OWN_VERSION, heartbeat::KIND) => {
                Heartbeat::read(bytes).map_or(Self::Unknown, Self::Heartbeat)
            }
            (OWN_VERSION, key_change::KIND) => {
                KeyChange::verify(bytes).map_or(Self::Unknown, Self::KeyChange)
            }
            _ => Self::Unknown,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawLogEntryHead {
    api_version: String,
    kind: String,
    #[serde(rename = "spec")]
    _spec: IgnoredAny,
}
