//! What the log's entries say: which of them are records, and those that the log makes of its own. An
//! entry must never be taken for one of ours unless it is, byte by byte, what we would have written.

mod heartbeat;
mod key_change;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::log::format::{ENTRY_KIND, ENTRY_VERSION, OWN_VERSION};

pub use heartbeat::{BootId, Heartbeat, NotABootId, heartbeat_is_due};
pub(crate) use key_change::ChangingKey;
pub use key_change::{KEY_CHANGE_NAMESPACE, KeyChange, KeyChangeFault, KeyRole};

/// One entry, by what it is. Who reads the entry must have its proof: bytes alone say nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry {
    /// A signed statement, by its digest: [`crate::Envelope::log_entry`].
    Record,
    /// The log was alive, and had nothing else to say.
    Heartbeat(Heartbeat),
    /// Another key from here on, which both signed.
    KeyChange(KeyChange),
    /// Nothing that this version knows.
    Unknown,
}

impl Entry {
    /// Every sequence of bytes is some entry.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let Ok(head) = serde_json::from_slice::<Head>(bytes) else { return Self::Unknown };
        match (head.api_version.as_str(), head.kind.as_str()) {
            (ENTRY_VERSION, ENTRY_KIND) => Self::Record,
            (OWN_VERSION, heartbeat::KIND) => {
                Heartbeat::read(bytes).map_or(Self::Unknown, Self::Heartbeat)
            }
            (OWN_VERSION, key_change::KIND) => {
                KeyChange::verified(bytes).map_or(Self::Unknown, Self::KeyChange)
            }
            _ => Self::Unknown,
        }
    }
}

/// What entries of every kind begin with.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Head {
    api_version: String,
    kind: String,
    #[serde(rename = "spec")]
    _spec: IgnoredAny,
}
