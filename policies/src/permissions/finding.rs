//! The state of a tool with its reason. An unknown state does not exist: it is an error, which
//! permits nothing.

use std::fmt;

use super::grant::{GrantId, PermissionDenial};
use super::model::ToolAuthorizationState;

/// A state with its reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolFinding {
    /// DENIED by an answer.
    Denied(PermissionDenial),
    /// APPROVED by this grant. For several calls, other grants may be needed as well.
    Granted(GrantId),
    /// REQUESTABLE: the tool has neither a grant nor a denial.
    Missing,
    /// REQUESTABLE: every grant has expired.
    Expired,
    /// REQUESTABLE: no grant covers these inputs, or so many calls.
    NotCovered,
}

impl ToolFinding {
    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> ToolAuthorizationState {
        match self {
            Self::Denied(_) => ToolAuthorizationState::Denied,
            Self::Granted(_) => ToolAuthorizationState::Approved,
            Self::Missing | Self::Expired | Self::NotCovered => ToolAuthorizationState::Requestable,
        }
    }
}

impl fmt::Display for ToolFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(PermissionDenial::Named) => f.write_str("an answer denies it"),
            Self::Denied(PermissionDenial::LeftOut) => {
                f.write_str("an answer leaves it out, which denies it")
            }
            Self::Granted(id) => write!(f, "granted by {id}"),
            Self::Missing => f.write_str("no grant exists"),
            Self::Expired => f.write_str("the grant has expired"),
            Self::NotCovered => f.write_str("the grant is for other inputs or fewer calls"),
        }
    }
}
