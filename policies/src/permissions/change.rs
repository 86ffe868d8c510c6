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
    #[serde(with = "as_text")]
    pub at: UtcTime,
    /// The trace of the caller.
    pub traceparent: Traceparent,
    pub by: Author,
    pub change: PermissionChange,
}

/// A change of permissions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum PermissionChange {
    /// A permission request was filed.
    #[serde(alias = "lodged")]
    Filed(OpenPermissionRequest),
    /// A permission request was withdrawn and can no longer be answered.
    Withdrawn { request: PermissionRequestId },
    /// A person answered.
    Answered {
        request: PermissionRequestId,
        source: PermissionSource,
        granted: Vec<GrantedTool>,
        denied: Vec<DeniedTool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commentary: Option<String>,
    },
    /// Calls were started.
    Spent {
        source: PermissionSource,
        /// One use for each call whose grant has a limited number of uses.
        uses: Vec<GrantUse>,
    },
    /// Grants were revoked. Open permission requests about the tool can no longer be answered.
    Revoked { source: PermissionSource, tool: ToolName, grants: Vec<GrantId> },
    /// A denial was removed. The tool may be requested again.
    Lifted { source: PermissionSource, tool: ToolName },
    /// The workflow ended, and all its permissions were deleted.
    CleanedUp {
        source: PermissionSource,
        /// The idle time in seconds after which it was taken to have ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle_sec: Option<u64>,
    },
    /// The permissions at the start of a rewritten trail.
    Kept {
        source: PermissionSource,
        /// The permissions of some of its tools.
        #[serde(alias = "standings")]
        tools: Vec<ToolGrants>,
    },
}

impl PermissionChange {
    /// Returns the workflow of the change. A withdrawal names only its permission request.
    #[must_use]
    pub fn source(&self) -> Option<&PermissionSource> {
        match self {
            Self::Filed(ask) => Some(&ask.source),
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
    pub tool: ToolName,
    pub grant: PermissionGrant,
}

/// A tool with its denial.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeniedTool {
    pub tool: ToolName,
    pub denial: PermissionDenial,
}

/// The use of a limited grant for one call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantUse {
    pub tool: ToolName,
    /// The grant, which has one use less now.
    pub grant: GrantId,
}
