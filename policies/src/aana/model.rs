//! The name of the contract, and the errors in the form of an event. The name must be the one that events
//! may state.

use serde::Serialize;

/// The name of this contract, as events may state it and results do.
pub(super) const CONTRACT: &str = "aana.agent_tool_precheck.v1";

/// One error in the form of an event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ValidationError {
    /// The place: names and numbers of items, joined by dots; empty for the event itself.
    pub path: String,
    /// The error. It quotes at most 80 characters of a value.
    pub message: String,
}
