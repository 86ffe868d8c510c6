//! Names and states that hosts, submitters and the database share.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a host or of a label: lowercase letters, digits, `-`, `_` and `.`, beginning with a
/// letter. A host's name is also the name of its database role and the origin of its log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(String);

/// A text that is not a [`HostName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidHostName;

impl HostName {
    /// Parses a name.
    ///
    /// # Errors
    /// [`InvalidHostName`].
    pub fn parse(text: &str) -> Result<Self, InvalidHostName> {
        match model::is_host_name(text) {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidHostName),
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for InvalidHostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a valid name; help: use lowercase letters, digits, `-`, `_` and `.`, beginning with \
             a letter",
        )
    }
}

impl std::error::Error for InvalidHostName {}

impl TryFrom<String> for HostName {
    type Error = InvalidHostName;

    fn try_from(text: String) -> Result<Self, InvalidHostName> {
        Self::parse(&text)
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> Self {
        name.0
    }
}

model::closed_set! {
    /// The state of a request in the database.
    pub enum FleetState {
        /// No host has claimed it.
        Queued = "queued",
        /// A host has claimed it and has not started it. Another host may take it over.
        Claimed = "claimed",
        /// A host has started it, or may have. No other host ever runs it.
        Started = "started",
        /// Its record is in the database.
        Ended = "ended",
        /// An operator declared its host lost after the start, or the host has lost its record.
        Indeterminate = "indeterminate",
    }
}

model::serialize_closed_set!(FleetState);
model::deserialize_closed_set!(FleetState);
