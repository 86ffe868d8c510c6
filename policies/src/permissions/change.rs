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
    /// The time of the change.
    #[serde(with = "as_text")]
    pub at: UtcTime,
    /// The trace of the caller.
    pub traceparent: Traceparent,
    /// The author of the change. For an answer it is the person who gave it.
    pub by: Author,
    /// The change.
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
    Withdrawn {
        /// The id of the permission request.
        request: PermissionRequestId,
    },
    /// A person answered.
    Answered {
        /// The id of the answered permission request, which is closed by this.
        request: PermissionRequestId,
        /// The source of the permission request.
        source: PermissionSource,
        /// The new grants. The index of each is the second number of its id.
        granted: Vec<GrantedTool>,
        /// The denied tools: the named ones, then those that the answer left out.
        denied: Vec<DeniedTool>,
        /// The comment of the answer, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commentary: Option<String>,
    },
    /// Calls were started.
    Spent {
        /// The source of the calls.
        source: PermissionSource,
        /// One use for each call whose grant has a limited number of uses.
        uses: Vec<GrantUse>,
    },
    /// Grants were revoked. Open permission requests about the tool can no longer be answered.
    Revoked {
        /// The source of the grants.
        source: PermissionSource,
        /// The tool of the grants.
        tool: ToolName,
        /// The ids of the grants; empty if only permission requests were open.
        grants: Vec<GrantId>,
    },
    /// A denial was removed. The tool may be requested again.
    Lifted {
        /// The source of the denial.
        source: PermissionSource,
        /// The tool that was denied.
        tool: ToolName,
    },
    /// The workflow ended, and all its permissions were deleted.
    CleanedUp {
        /// The source whose grants, denials and open permission requests were deleted.
        source: PermissionSource,
        /// The idle time in seconds after which it was taken to have ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle_sec: Option<u64>,
    },
    /// The permissions at the start of a rewritten trail.
    Kept {
        /// The source of the permissions.
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
    /// The granted tool.
    pub tool: ToolName,
    /// The grant, with the id by which later entries refer to it.
    pub grant: PermissionGrant,
}

/// A tool with its denial.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeniedTool {
    /// The denied tool.
    pub tool: ToolName,
    /// The kind of denial: by name or by omission.
    pub denial: PermissionDenial,
}

/// The use of a limited grant for one call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantUse {
    /// The tool of the call.
    pub tool: ToolName,
    /// The grant, which has one use less now.
    pub grant: GrantId,
}
