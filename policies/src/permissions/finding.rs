//! What is found of a tool: its state, and why it is that one. There is no state for "nobody knows": that
//! is an error, and permits nothing.

use std::fmt;

use super::grant::{Denial, GrantId};
use super::model::ToolAuthorizationState;

/// A state, and why it is that one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finding {
    /// DENIED: by an answer.
    Denied(Denial),
    /// APPROVED: by this grant, or by this one and others where there are several calls.
    Granted(GrantId),
    /// REQUESTABLE: nothing stands of this tool.
    Missing,
    /// REQUESTABLE: every grant has expired.
    Expired,
    /// REQUESTABLE: no grant is for these inputs, or for so many calls.
    NotForThese,
}

impl Finding {
    /// The state.
    #[must_use]
    pub fn state(&self) -> ToolAuthorizationState {
        match self {
            Self::Denied(_) => ToolAuthorizationState::Denied,
            Self::Granted(_) => ToolAuthorizationState::Approved,
            Self::Missing | Self::Expired | Self::NotForThese => {
                ToolAuthorizationState::Requestable
            }
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(Denial::Said) => f.write_str("an answer denied it"),
            Self::Denied(Denial::LeftOut) => {
                f.write_str("an answer left it out, which is a denial")
            }
            Self::Granted(id) => write!(f, "granted by {id}"),
            Self::Missing => f.write_str("nobody has granted it"),
            Self::Expired => f.write_str("what was granted has expired"),
            Self::NotForThese => {
                f.write_str("what was granted is for other inputs, or for fewer calls")
            }
        }
    }
}
