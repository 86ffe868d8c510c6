//! The reasons why an operation changed nothing. Each text begins with the object.

use std::fmt;

use model::UtcTime;

use super::finding::ToolFinding;
use super::grant::GrantId;
use super::model::ToolAuthorizationState;
use super::name::{PermissionSource, ToolName};
use super::request::PermissionRequestId;

const LIST: &str = "help: list them with `toolexec permission list` and the same options";

/// The reason why an operation was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PermissionError {
    /// No such permission request is open: it was never filed, or was answered or withdrawn.
    NotOpen(PermissionRequestId),
    /// The permission request has expired.
    Expired(PermissionRequestId),
    /// The answer names other bytes than those of the permission request.
    DigestMismatch(PermissionRequestId),
    /// The answer is for another source than the permission request.
    SourceMismatch(PermissionRequestId),
    /// The answer names a tool that was not requested.
    NotRequested(PermissionRequestId, ToolName),
    /// A grant that would end before it begins.
    ExpiredGrant(ToolName, UtcTime),
    /// `as_requested` for a tool that was requested without inputs: it would allow nothing.
    NoInputs(ToolName),
    /// A call that is not permitted now.
    Blocked(ToolName, ToolFinding),
    /// The list of calls is empty.
    NoToolRequested,
    /// All requested tools are permitted, so no person must be asked.
    AllApproved,
    /// The tool has nothing that could be revoked.
    NothingToRevoke(ToolName),
    /// The grant is not active: it never existed, is used up, or was revoked.
    NoGrant(GrantId),
    /// A storage limit is reached.
    Full(&'static str),
    /// An entry that contradicts the previous ones. Nothing may be based on it.
    Inconsistent {
        /// The number of the entry in the trail.
        entry: u64,
        /// The contradiction, as a predicate whose subject is the entry.
        why: &'static str,
    },
    /// No permissions of this source are stored.
    UnknownSource(PermissionSource),
}

impl fmt::Display for PermissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen(id) => write!(
                f,
                "{id}: is not open here: it was never filed, or was answered, revoked or cleaned \
                 up; help: file a new permission request"
            ),
            Self::Expired(id) => write!(f, "{id}: expired; help: file a new permission request"),
            Self::DigestMismatch(id) => write!(
                f,
                "{id}: the answer has another sha256 than the permission request; help: answer the \
                 original file"
            ),
            Self::SourceMismatch(id) => write!(
                f,
                "{id}: the answer is for another agent, subject or access control; help: copy them \
                 from the permission request"
            ),
            Self::NotRequested(id, tool) => {
                write!(f, "{id}: {tool} was not requested; help: answer only the requested tools")
            }
            Self::ExpiredGrant(tool, end) => write!(
                f,
                "{tool}: the grant would expire at {end}, which is past; help: set a later \
                 --expires"
            ),
            Self::NoInputs(tool) => write!(
                f,
                "{tool}: was requested without inputs, so `as_requested` allows nothing; help: use \
                 --arguments any"
            ),
            Self::Blocked(tool, found) => {
                let command = match found.state() {
                    ToolAuthorizationState::Denied => "revoke --denial",
                    _ => "request",
                };
                let help =
                    format!("help: run `toolexec permission {command} {tool}` for this agent");
                write!(f, "{tool}: {} ({found}); {help}", found.state())
            }
            Self::NoToolRequested => f.write_str("no tool is requested; help: name a tool"),
            Self::AllApproved => f.write_str(
                "every requested tool is APPROVED already; help: call it without a new request",
            ),
            Self::NothingToRevoke(tool) => write!(f, "{tool}: nothing to revoke; {LIST}"),
            Self::NoGrant(id) => write!(f, "{id}: not an active grant; {LIST}"),
            Self::Full(what) => write!(f, "permissions: {what}; help: clean up ended workflows"),
            Self::Inconsistent { entry, why } => write!(f, "entry {entry}: {why}"),
            Self::UnknownSource(source) => write!(f, "{source}: no permissions are stored; {LIST}"),
        }
    }
}

impl std::error::Error for PermissionError {}
