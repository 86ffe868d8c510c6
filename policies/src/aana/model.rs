//! The name of the contract, and the errors of an event's form.

use serde::Serialize;

pub(super) const CONTRACT: &str = "aana.agent_tool_precheck.v1";

/// An error in the form of an event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ValidationError {
    /// The path: names and item numbers, joined by dots. It is empty for the event itself.
    pub path: String,
    /// The message. It quotes at most 80 characters of a value.
    pub message: String,
}
