//! The changes of permissions as the trail records them: one entry each, with time, trace and
//! author. An entry records a whole event: the grants and denials of an answer are never two
//! entries.

use model::UtcTime;
use serde::{Deserialize, Serialize};

use super::as_text;
use super::grant::{GrantId, PermissionDenial, PermissionGrant, ToolGrants};
use super::model::Author;
use super::name::{PermissionSource, ToolName};
use super::request::{OpenPermissionRequest, PermissionRequestId};
use super::trace::Traceparent;

/// One entry of the trail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrailEntry {
    /// The number, one more than that of the previous entry.
    pub number: u64,
    /// The time.
    #[serde(with = "as_text")]
    pub at: UtcTime,
    /// The trace of the caller.
    pub traceparent: Traceparent,
    /// The author.
    pub by: Author,
    /// The change.
    pub change: PermissionChange,
}

/// A change of permissions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum PermissionChange {
    /// A permission request was filed.
    Lodged(OpenPermissionRequest),
    /// A permission request was withdrawn and can no longer be answered.
    Withdrawn {
        /// The permission request.
        request: PermissionRequestId,
    },
    /// A person answered.
    Answered {
        /// The permission request.
        request: PermissionRequestId,
        /// The source.
        source: PermissionSource,
        /// The tools granted.
        granted: Vec<GrantedTool>,
        /// The tools denied.
        denied: Vec<DeniedTool>,
        /// The person's comment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commentary: Option<String>,
    },
    /// Calls were started.
    Spent {
        /// The source.
        source: PermissionSource,
        /// One use for each call whose grant has a limited number of uses.
        uses: Vec<GrantUse>,
    },
    /// Grants were revoked. Open permission requests about the tool can no longer be answered.
    Revoked {
        /// The source.
        source: PermissionSource,
        /// The tool.
        tool: ToolName,
        /// The grants.
        grants: Vec<GrantId>,
    },
    /// A denial was removed. The tool may be requested again.
    Lifted {
        /// The source.
        source: PermissionSource,
        /// The tool.
        tool: ToolName,
    },
    /// The workflow ended, and all its permissions were deleted.
    CleanedUp {
        /// The source.
        source: PermissionSource,
        /// The idle time in seconds after which it was taken to have ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle_sec: Option<u64>,
    },
    /// The permissions at the start of a rewritten trail.
    Kept {
        /// The source.
        source: PermissionSource,
        /// The permissions of some of its tools.
        standings: Vec<ToolGrants>,
    },
}

impl PermissionChange {
    /// Returns the workflow of the change. A withdrawal names only its permission request.
    #[must_use]
    pub fn source(&self) -> Option<&PermissionSource> {
        match self {
            Self::Lodged(ask) => Some(&ask.source),
            Self::Withdrawn { .. } => None,
            Self::Answered { source, .. }
            | Self::Spent { source, .. }
            | Self::Revoked { source, .. }
            | Self::Lifted { source, .. }
            | Self::CleanedUp { source, .. }
            | Self::Kept { source, .. } => Some(source),
        }
    }
}

/// A tool with its new grant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantedTool {
    /// The tool.
    pub tool: ToolName,
    /// The grant.
    pub grant: PermissionGrant,
}

/// A tool with its denial.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeniedTool {
    /// The tool.
    pub tool: ToolName,
    /// The kind of denial.
    pub denial: PermissionDenial,
}

/// The use of a limited grant for one call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantUse {
    /// The tool.
    pub tool: ToolName,
    /// The grant, which has one use less now.
    pub grant: GrantId,
}
