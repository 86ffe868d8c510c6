//! The current permissions: an index made only from the entries of the trail. It must never answer
//! APPROVED without a grant that it contains. An entry that contradicts the previous ones is an
//! error; the index never guesses.

use std::collections::{HashMap, HashSet};

use model::{Sha256, UtcTime};

use super::call::ToolCalls;
use super::change::{DeniedTool, GrantUse, GrantedTool, PermissionChange, TrailEntry};
use super::error::PermissionError;
use super::finding::ToolFinding;
use super::grant::{PermissionDenial, PermissionGrant, ToolGrants};
use super::grant_choice::choose_grants;
use super::name::{PermissionSource, SharedNames, ToolName};
use super::request::{OpenPermissionRequest, PermissionRequestId};

pub(super) const OPEN_MAX: usize = 10_000;
pub(super) const TOOLS_PER_SOURCE_MAX: usize = 1024;
/// The maximum number of grants of one tool of one source.
pub(super) const GRANTS_MAX: usize = 16;
pub(super) const SOURCES_MAX: usize = 4_000_000;

/// The index of current permissions.
#[derive(Debug, Default)]
pub struct PermissionIndex {
    pub(super) number: u64,
    last_decision: u64,
    pub(super) by_source: HashMap<PermissionSource, Vec<ToolGrants>>,
    pub(super) open: HashMap<PermissionRequestId, OpenPermissionRequest>,
    pub(super) open_by_digest: HashMap<Sha256, PermissionRequestId>,
    names: SharedNames,
    /// The time of the last entry about each workflow.
    last_entry: HashMap<PermissionSource, UtcTime>,
}

impl PermissionIndex {
    /// Makes an index that continues after this entry and knows nothing of earlier entries.
    #[must_use]
    pub fn after(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    /// Returns the number of the last entry.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the number of the last entry that could permit a blocked tool, or make it
    /// requestable again. While it is unchanged, only the passing of time permits a blocked tool.
    #[must_use]
    pub fn last_decision(&self) -> u64 {
        self.last_decision
    }

    /// Returns the permissions of every tool, in no particular order.
    pub fn tool_grants(&self) -> impl Iterator<Item = (&PermissionSource, &ToolGrants)> {
        self.by_source.iter().flat_map(|(source, held)| held.iter().map(move |it| (source, it)))
    }

    /// Returns the open permission requests, in no particular order.
    pub fn open(&self) -> impl Iterator<Item = &OpenPermissionRequest> {
        self.open.values()
    }

    /// Returns the workflows with stored permissions and no entry after `since`, unordered.
    pub fn idle_since(&self, since: UtcTime) -> impl Iterator<Item = &PermissionSource> {
        let asking: HashSet<&PermissionSource> =
            self.open.values().map(|ask| &ask.source).collect();
        let idle = self.last_entry.iter().filter(move |(_, at)| **at <= since);
        let idle = idle.map(|(source, _)| source);
        idle.filter(move |source| self.by_source.contains_key(*source) || asking.contains(*source))
    }

    /// Returns the permissions of one tool.
    #[must_use]
    pub fn grants_of(&self, source: &PermissionSource, tool: &ToolName) -> Option<&ToolGrants> {
        let held = self.by_source.get(source)?;
        held.binary_search_by(|it| it.tool.cmp(tool)).ok().map(|at| &held[at])
    }

    /// Returns whether all requested calls are permitted together, with the reason.
    #[must_use]
    pub fn find(
        &self,
        source: &PermissionSource,
        tool: &ToolName,
        calls: &ToolCalls,
        now: UtcTime,
    ) -> ToolFinding {
        let Some(tool_grants) = self.grants_of(source, tool) else { return ToolFinding::Missing };
        if let Some(denial) = tool_grants.denied {
            return ToolFinding::Denied(denial);
        }
        let unlimited = |it: &&PermissionGrant| it.uses_left.is_none() && it.inputs.is_none();
        let mut without_limit = tool_grants.grants.iter().filter(unlimited);
        if let Some(grant) = without_limit.find(|it| it.is_live(now)) {
            return ToolFinding::Granted(grant.id);
        }
        match choose_grants(tool_grants, calls, now) {
            Ok(grants) => {
                grants.first().map_or(ToolFinding::NotCovered, |id| ToolFinding::Granted(*id))
            }
            Err(finding) => finding,
        }
    }

    /// Applies the next entry.
    ///
    /// # Errors
    /// [`PermissionError::Inconsistent`] if it contradicts the previous entries. The index remains
    /// readable then, but no answer may be based on it.
    pub fn apply(&mut self, entry: TrailEntry) -> Result<(), PermissionError> {
        let number = entry.number;
        let wrong = |why| PermissionError::Inconsistent { entry: number, why };
        if self.number.checked_add(1) != Some(number) {
            return Err(wrong("does not follow the previous entry"));
        }
        let decides = !matches!(
            entry.change,
            PermissionChange::Filed(_)
                | PermissionChange::Withdrawn { .. }
                | PermissionChange::Spent { .. }
        );
        self.note_entry(&entry.change, entry.at);
        self.apply_change(entry.change, entry.at).map_err(wrong)?;
        self.number = number;
        if decides {
            self.last_decision = number;
        }
        Ok(())
    }

    fn note_entry(&mut self, change: &PermissionChange, at: UtcTime) {
        let Some(source) = change.source() else { return };
        match change {
            PermissionChange::CleanedUp { .. } => self.last_entry.remove(source),
            _ => self.last_entry.insert(source.clone().shared(&mut self.names), at),
        };
    }

    fn apply_change(&mut self, change: PermissionChange, at: UtcTime) -> Result<(), &'static str> {
        match change {
            PermissionChange::Filed(ask) => self.open_request(ask, at),
            PermissionChange::Withdrawn { request } => self.close(&request),
            PermissionChange::Answered { request, source, granted, denied, commentary: _ } => {
                self.close(&request)?;
                let source = source.shared(&mut self.names);
                denied.into_iter().for_each(|it| self.deny(&source, it));
                granted.into_iter().for_each(|it| self.grant(&source, it, at));
                Ok(())
            }
            PermissionChange::Spent { source, uses } => {
                uses.iter().try_for_each(|one| self.spend(&source, one))
            }
            PermissionChange::Revoked { source, tool, grants } => {
                self.withdraw(&source, Some(&tool));
                let mut known = true;
                self.update(&source, &tool, |held| {
                    known = grants.iter().all(|id| held.grants.iter().any(|it| it.id == *id));
                    held.grants.retain(|it| !grants.contains(&it.id));
                });
                if known { Ok(()) } else { Err("revokes a grant that does not exist") }
            }
            PermissionChange::Lifted { source, tool } => {
                self.update(&source, &tool, |held| held.denied = None);
                Ok(())
            }
            PermissionChange::CleanedUp { source, idle_sec: _ } => {
                self.withdraw(&source, None);
                self.by_source.remove(&source);
                Ok(())
            }
            PermissionChange::Kept { source, tools } => self.restore(source, tools),
        }
    }

    fn open_request(
        &mut self,
        ask: OpenPermissionRequest,
        at: UtcTime,
    ) -> Result<(), &'static str> {
        if self.open.contains_key(&ask.id) {
            return Err("files a permission request twice");
        }
        if self.open.len() >= OPEN_MAX {
            self.open.retain(|_, open| at < open.expires);
            let open = &self.open;
            self.open_by_digest.retain(|_, id| open.contains_key(id));
        }
        self.open_by_digest.insert(ask.asks_sha256, ask.id.clone());
        self.open.insert(ask.id.clone(), ask);
        Ok(())
    }

    fn close(&mut self, id: &PermissionRequestId) -> Result<(), &'static str> {
        let ask = self.open.remove(id).ok_or("is about a permission request that is not open")?;
        if self.open_by_digest.get(&ask.asks_sha256) == Some(id) {
            self.open_by_digest.remove(&ask.asks_sha256);
        }
        Ok(())
    }

    /// Closes the open permission requests of a source, all or those about this tool.
    fn withdraw(&mut self, source: &PermissionSource, tool: Option<&ToolName>) {
        let about = |ask: &OpenPermissionRequest| tool.is_none_or(|tool| ask.about(tool).is_some());
        self.open.retain(|_, ask| ask.source != *source || !about(ask));
        let open = &self.open;
        self.open_by_digest.retain(|_, id| open.contains_key(id));
    }

    fn deny(&mut self, source: &PermissionSource, DeniedTool { tool, denial }: DeniedTool) {
        let tool_grants = self.grants_mut(source, tool);
        // An explicit denial is reported in preference to an omission.
        tool_grants.denied = match tool_grants.denied {
            Some(PermissionDenial::Named) => Some(PermissionDenial::Named),
            _ => Some(denial),
        };
        tool_grants.grants = Vec::new();
    }

    fn grant(
        &mut self,
        source: &PermissionSource,
        GrantedTool { tool, grant }: GrantedTool,
        at: UtcTime,
    ) {
        let tool_grants = self.grants_mut(source, tool);
        if tool_grants.denied.is_none() {
            tool_grants.grants.retain(|it| it.is_live(at));
            tool_grants.grants.push(grant);
        }
    }

    fn grants_mut(&mut self, source: &PermissionSource, tool: ToolName) -> &mut ToolGrants {
        let held = self.by_source.entry(source.clone()).or_default();
        let at = match held.binary_search_by(|it| it.tool.cmp(&tool)) {
            Ok(at) => at,
            Err(at) => {
                let tool = tool.shared(&mut self.names);
                held.reserve_exact(1);
                held.insert(at, ToolGrants { tool, denied: None, grants: Vec::new() });
                at
            }
        };
        &mut held[at]
    }

    fn spend(&mut self, source: &PermissionSource, spent: &GrantUse) -> Result<(), &'static str> {
        let mut known = false;
        self.update(source, &spent.tool, |tool_grants| {
            let at = tool_grants.grants.iter().position(|it| it.id == spent.grant);
            let Some((at, uses)) = at.and_then(|at| Some((at, tool_grants.grants[at].uses_left?)))
            else {
                return;
            };
            known = true;
            match std::num::NonZeroU32::new(uses.get() - 1) {
                None => drop(tool_grants.grants.remove(at)),
                left => tool_grants.grants[at].uses_left = left,
            }
        });
        if known { Ok(()) } else { Err("uses a grant that does not exist") }
    }

    /// Changes the permissions of a tool, and deletes them if none remains.
    fn update(
        &mut self,
        source: &PermissionSource,
        tool: &ToolName,
        act: impl FnOnce(&mut ToolGrants),
    ) {
        let Some(held) = self.by_source.get_mut(source) else { return };
        let Ok(at) = held.binary_search_by(|it| it.tool.cmp(tool)) else { return };
        act(&mut held[at]);
        if held[at].denied.is_none() && held[at].grants.is_empty() {
            held.remove(at);
        }
        if held.is_empty() {
            self.by_source.remove(source);
        }
    }

    fn restore(
        &mut self,
        source: PermissionSource,
        tools: Vec<ToolGrants>,
    ) -> Result<(), &'static str> {
        let source = source.shared(&mut self.names);
        for kept in tools {
            if self.grants_of(&source, &kept.tool).is_some() {
                return Err("lists a tool twice");
            }
            let tool_grants = self.grants_mut(&source, kept.tool);
            (tool_grants.denied, tool_grants.grants) = (kept.denied, kept.grants);
        }
        Ok(())
    }
}
