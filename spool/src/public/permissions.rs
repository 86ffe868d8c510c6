//! Which permissions stand, by the daemon's word: `public/permissions.json`. Whose, for which tool, in which
//! state; never by whom or for which inputs. It tells an agent whether asking makes sense, and is never read
//! for a decision.

use std::path::Path;

use model::UtcTime;
use policies::permissions::{Register, Source, Standing, ToolAuthorizationState, ToolName};
use serde::{Deserialize, Serialize};

use super::status::{ToldError, told_document};
use super::tell::{remove, tell_json};
use crate::error::SpoolError;
use crate::places::{Spool, make_dir};

/// More are not told: nobody waits for a list of millions to be written.
const TOLD_MAX: usize = 1000;
/// More than so many of them have, with the longest names there are.
const PERMISSIONS_BYTES_MAX: usize = 4 << 20;

/// What stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldPermissions {
    /// When this was told, in UTC.
    pub at_utc: String,
    /// Whether these are all.
    pub whole: bool,
    pub permissions: Vec<ToldPermission>,
}

/// What stands of one tool of one agent in one workflow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldPermission {
    pub source: Source,
    pub tool: ToolName,
    pub state: ToolAuthorizationState,
    /// From when on it is approved no longer, in UTC; none where it does not expire.
    pub until_utc: Option<String>,
    /// Whether it is for certain inputs or a number of calls only.
    pub limited: bool,
}

impl ToldPermissions {
    /// Of what stands now.
    #[must_use]
    pub fn of(register: &Register, now: UtcTime) -> Self {
        let mut standings = register.standings();
        let told = standings.by_ref().take(TOLD_MAX);
        let mut permissions: Vec<ToldPermission> =
            told.map(|(source, standing)| ToldPermission::of(source, standing, now)).collect();
        permissions.sort_by(|a, b| (&a.source, &a.tool).cmp(&(&b.source, &b.tool)));
        Self { at_utc: now.to_string(), whole: standings.next().is_none(), permissions }
    }

    /// What is told of one tool; none is told of what stands nowhere.
    #[must_use]
    pub fn find(&self, source: &Source, tool: &ToolName) -> Option<&ToldPermission> {
        self.permissions.iter().find(|it| it.source == *source && it.tool == *tool)
    }
}

impl ToldPermission {
    fn of(source: &Source, standing: &Standing, now: UtcTime) -> Self {
        let live = || standing.grants.iter().filter(|grant| grant.is_live(now));
        let for_ever = live().any(|grant| grant.expires.is_none());
        let until = live().filter_map(|grant| grant.expires).max().filter(|_| !for_ever);
        Self {
            source: source.clone(),
            tool: standing.tool.clone(),
            state: standing.state(now),
            until_utc: until.map(|until| until.to_string()),
            limited: live().all(|grant| grant.uses_left.is_some() || grant.inputs.is_some())
                && live().next().is_some(),
        }
    }

    /// The state at a later time than it was told: what has expired since can be asked for.
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
    /// Tells which permissions stand.
    ///
    /// # Errors
    /// The disk. Nobody but readers misses what was not told.
    pub fn tell_permissions(&self, told: &ToldPermissions) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        tell_json(&directory.join("permissions.json"), told)
    }

    /// Nobody asks for permissions any longer, or not yet: what an earlier daemon told is no answer.
    ///
    /// # Errors
    /// The disk.
    pub fn forget_permissions(&self) -> Result<(), SpoolError> {
        remove(&self.public().join("permissions.json"))
    }
}

/// Which permissions the last daemon told.
///
/// # Errors
/// Any [`ToldError`].
pub fn told_permissions(spool: &Path) -> Result<ToldPermissions, ToldError> {
    told_document(spool.join("public/permissions.json"), PERMISSIONS_BYTES_MAX)
}
