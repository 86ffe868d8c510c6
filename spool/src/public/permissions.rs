//! The published permissions, `public/permissions.json`: agent, tool and state, never approver or
//! inputs. They show an agent whether a request makes sense, and decide nothing.

use std::path::Path;

use model::UtcTime;
use policies::permissions::{
    PermissionIndex, PermissionSource, ToolAuthorizationState, ToolGrants, ToolName,
};
use serde::{Deserialize, Serialize};

use super::published_file::{publish_json, remove};
use super::status::{PublishedFileError, read_document};
use crate::error::SpoolError;
use crate::paths::{Spool, make_dir};

/// The most permissions that are published, so that the file stays small.
const PERMISSIONS_MAX: usize = 1000;
/// The size limit of the file, larger than the most permissions with the longest names.
const PERMISSIONS_BYTES_MAX: usize = 4 << 20;

/// The published permissions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedPermissions {
    /// The time of publication, in UTC.
    pub at_utc: String,
    /// True if the list is complete.
    pub whole: bool,
    /// The permissions, ordered by agent and tool.
    pub permissions: Vec<PublishedPermission>,
}

/// The permission of one agent for one tool in one workflow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedPermission {
    /// The agent and its workflow.
    pub source: PermissionSource,
    /// The tool.
    pub tool: ToolName,
    /// The state of the permission.
    pub state: ToolAuthorizationState,
    /// The end of the approval, in UTC; none if it does not expire.
    pub until_utc: Option<String>,
    /// True if it is only for certain inputs or a number of calls.
    pub limited: bool,
}

impl PublishedPermissions {
    /// Builds the list from the register.
    #[must_use]
    pub fn of(register: &PermissionIndex, now: UtcTime) -> Self {
        let mut tool_grants = register.tool_grants();
        let first = tool_grants.by_ref().take(PERMISSIONS_MAX);
        let mut permissions: Vec<PublishedPermission> =
            first.map(|(source, grants)| PublishedPermission::of(source, grants, now)).collect();
        permissions.sort_by(|a, b| (&a.source, &a.tool).cmp(&(&b.source, &b.tool)));
        Self { at_utc: now.to_string(), whole: tool_grants.next().is_none(), permissions }
    }

    /// Returns the permission for one tool; `None` if it was never decided.
    #[must_use]
    pub fn find(&self, source: &PermissionSource, tool: &ToolName) -> Option<&PublishedPermission> {
        self.permissions.iter().find(|it| it.source == *source && it.tool == *tool)
    }
}

impl PublishedPermission {
    fn of(source: &PermissionSource, tool_grants: &ToolGrants, now: UtcTime) -> Self {
        let live = || tool_grants.grants.iter().filter(|grant| grant.is_live(now));
        let for_ever = live().any(|grant| grant.expires.is_none());
        let until = live().filter_map(|grant| grant.expires).max().filter(|_| !for_ever);
        Self {
            source: source.clone(),
            tool: tool_grants.tool.clone(),
            state: tool_grants.state(now),
            until_utc: until.map(|until| until.to_string()),
            limited: live().all(|grant| grant.uses_left.is_some() || grant.inputs.is_some())
                && live().next().is_some(),
        }
    }

    /// Returns the state at a later time. An expired permission can be requested again.
    #[must_use]
    pub fn state_at(&self, now: UtcTime) -> ToolAuthorizationState {
        let until = self.until_utc.as_deref().map(str::parse::<UtcTime>);
        match (self.state, until) {
            (ToolAuthorizationState::Approved, Some(until)) if until.is_ok_and(|it| now < it) => {
                ToolAuthorizationState::Approved
            }
            (ToolAuthorizationState::Approved, Some(_)) => ToolAuthorizationState::Requestable,
            (state, _) => state,
        }
    }
}

impl Spool {
    /// Publishes the permissions.
    ///
    /// # Errors
    /// An I/O error. It only affects readers.
    pub fn publish_permissions(
        &self,
        permissions: &PublishedPermissions,
    ) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        publish_json(&directory.join("permissions.json"), permissions)
    }

    /// Removes the published permissions, because an earlier daemon's list is not an answer.
    ///
    /// # Errors
    /// The disk.
    pub fn remove_permissions(&self) -> Result<(), SpoolError> {
        remove(&self.public().join("permissions.json"))
    }
}

/// Reads the permissions that the last daemon published.
///
/// # Errors
/// Any [`PublishedFileError`].
pub fn published_permissions(spool: &Path) -> Result<PublishedPermissions, PublishedFileError> {
    read_document(spool.join("public/permissions.json"), PERMISSIONS_BYTES_MAX)
}
