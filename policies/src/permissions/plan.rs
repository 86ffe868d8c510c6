//! The plan of an operation: the one change that does it, or the reason why nothing is done. A plan
//! reads the current permissions and changes nothing. Only a stored entry changes them.

use std::num::NonZeroU32;

use model::UtcTime;

use super::acceptance::AcceptedAnswer;
use super::answer::{CoveredInputs, PermissionAnswer};
use super::call::PermissionCalls;
use super::change::{DeniedTool, GrantUse, GrantedTool, PermissionChange};
use super::error::PermissionError;
use super::finding::ToolFinding;
use super::grant::{GrantId, PermissionDenial, PermissionGrant, ToolGrants};
use super::grant_choice::choose_grants;
use super::index::{GRANTS_MAX, OPEN_MAX, PermissionIndex, SOURCES_MAX, TOOLS_PER_SOURCE_MAX};
use super::model::ToolAuthorizationState;
use super::name::{PermissionSource, ToolName};
use super::request::OpenPermissionRequest;

/// The number of tools in one entry of a rewritten trail.
const SNAPSHOT_TOOLS: usize = 8;

/// The part of the calls that needs a person.
pub enum RequestPlan<'r> {
    /// An equal permission request is open.
    AlreadyOpen(&'r OpenPermissionRequest),
    /// These calls need a new permission request.
    New(PermissionCalls),
}

impl PermissionIndex {
    /// Returns the calls that a person must be asked about. Denied tools are never requested again.
    ///
    /// # Errors
    /// No tool can be requested, or too many permission requests are open.
    pub fn plan_request(
        &self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        now: UtcTime,
    ) -> Result<RequestPlan<'_>, PermissionError> {
        let mut denied = None;
        let mut wanted = Vec::new();
        for (tool, tool_calls) in calls.iter() {
            let found = self.find(source, tool, tool_calls, now);
            match found.state() {
                ToolAuthorizationState::Requestable => wanted.push(tool),
                ToolAuthorizationState::Denied => denied = Some((tool.clone(), found)),
                ToolAuthorizationState::Approved => {}
            }
        }
        if wanted.is_empty() {
            return Err(match denied {
                Some((tool, found)) => PermissionError::Blocked(tool, found),
                None if calls.is_empty() => PermissionError::NoToolRequested,
                None => PermissionError::AllApproved,
            });
        }
        let calls = calls.only(|tool| wanted.contains(&tool));
        let same = self.open_by_digest.get(&calls.sha256(source)).and_then(|id| self.open.get(id));
        if let Some(open) = same.filter(|open| now < open.expires) {
            return Ok(RequestPlan::AlreadyOpen(open));
        }
        let waiting = self.open.values().filter(|open| now < open.expires).count();
        if waiting >= OPEN_MAX {
            return Err(PermissionError::Full("10000 requests wait for an answer"));
        }
        Ok(RequestPlan::New(calls))
    }

    /// Returns the change that an answer makes. A requested tool that `granted` omits is denied.
    ///
    /// # Errors
    /// The answer matches no open permission request, or grants more than was requested.
    pub fn plan_answer(
        &self,
        source: &PermissionSource,
        accepted: &AcceptedAnswer,
        now: UtcTime,
    ) -> Result<PermissionChange, PermissionError> {
        let answer = &accepted.answer;
        let ask = self.find_request(source, answer, now)?;
        let mut granted = Vec::new();
        for tool in &answer.data.granted {
            if !answer.data.denied.contains(tool) {
                let place = u32::try_from(granted.len()).unwrap_or(u32::MAX);
                let id = GrantId { entry: self.number.saturating_add(1), place };
                let grant = grant_from(answer, ask, tool, id, now)?;
                granted.push(GrantedTool { tool: tool.clone(), grant });
            }
        }
        let denied = answer.data.denied.iter();
        let denied =
            denied.map(|tool| DeniedTool { tool: tool.clone(), denial: PermissionDenial::Named });
        let named = |tool: &ToolName| {
            answer.data.granted.contains(tool) || answer.data.denied.contains(tool)
        };
        let left_out = ask.tools.iter().filter(|it| !named(&it.tool));
        let left_out = left_out
            .map(|it| DeniedTool { tool: it.tool.clone(), denial: PermissionDenial::LeftOut });
        let denied: Vec<DeniedTool> = denied.chain(left_out).collect();
        self.check_capacity(source, &granted, &denied, now)?;
        Ok(PermissionChange::Answered {
            request: ask.id.clone(),
            source: source.clone(),
            granted,
            denied,
            commentary: answer.data.commentary.clone(),
        })
    }

    fn find_request(
        &self,
        source: &PermissionSource,
        answer: &PermissionAnswer,
        now: UtcTime,
    ) -> Result<&OpenPermissionRequest, PermissionError> {
        let id = &answer.answers.id;
        let ask = self.open.get(id).ok_or_else(|| PermissionError::NotOpen(id.clone()))?;
        if now >= ask.expires {
            return Err(PermissionError::Expired(id.clone()));
        }
        if ask.sha256 != answer.answers.sha256 {
            return Err(PermissionError::DigestMismatch(id.clone()));
        }
        if ask.source != *source || ask.source != answer.answers.source {
            return Err(PermissionError::SourceMismatch(id.clone()));
        }
        let mut tools = answer.data.granted.iter().chain(&answer.data.denied);
        match tools.find(|tool| ask.about(tool).is_none()) {
            Some(other) => Err(PermissionError::NotRequested(id.clone(), other.clone())),
            None => Ok(ask),
        }
    }

    fn check_capacity(
        &self,
        source: &PermissionSource,
        granted: &[GrantedTool],
        denied: &[DeniedTool],
        now: UtcTime,
    ) -> Result<(), PermissionError> {
        let held = self.by_source.get(source);
        if held.is_none() && self.by_source.len() >= SOURCES_MAX {
            return Err(PermissionError::Full("4000000 workflows have permissions"));
        }
        let new = granted.iter().map(|it| &it.tool).chain(denied.iter().map(|it| &it.tool));
        let new = new.filter(|tool| self.grants_of(source, tool).is_none()).count();
        if held.map_or(0, Vec::len) + new > TOOLS_PER_SOURCE_MAX {
            return Err(PermissionError::Full("one workflow has 1024 tools"));
        }
        let live = |tool_grants: &ToolGrants| {
            tool_grants.grants.iter().filter(|grant| grant.is_live(now)).count()
        };
        let full = |it: &&GrantedTool| {
            self.grants_of(source, &it.tool).is_some_and(|one| live(one) >= GRANTS_MAX)
        };
        match granted.iter().find(full) {
            Some(_) => Err(PermissionError::Full("one tool has 16 grants")),
            None => Ok(()),
        }
    }

    /// Returns the change that starts these calls, all or none; `None` if it uses no limited grant.
    ///
    /// # Errors
    /// [`PermissionError::Blocked`] names the first tool that is not permitted.
    pub fn plan_spending(
        &self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        now: UtcTime,
    ) -> Result<Option<PermissionChange>, PermissionError> {
        if calls.is_empty() {
            return Err(PermissionError::NoToolRequested);
        }
        let mut uses = Vec::new();
        for (tool, tool_calls) in calls.iter() {
            let blocked = |found| PermissionError::Blocked(tool.clone(), found);
            let tool_grants = self.grants_of(source, tool);
            let tool_grants = tool_grants.ok_or_else(|| blocked(ToolFinding::Missing))?;
            for id in choose_grants(tool_grants, tool_calls, now).map_err(blocked)? {
                let counted = |it: &PermissionGrant| it.id == id && it.uses_left.is_some();
                if tool_grants.grants.iter().any(counted) {
                    uses.push(GrantUse { tool: tool.clone(), grant: id });
                }
            }
        }
        let spent = PermissionChange::Spent { source: source.clone(), uses };
        Ok(Some(spent)
            .filter(|it| !matches!(it, PermissionChange::Spent { uses, .. } if uses.is_empty())))
    }

    /// Returns the change that revokes one grant of a tool, or all. It never removes a denial.
    ///
    /// # Errors
    /// The tool has no such grant, or neither grants nor open permission requests.
    pub fn plan_revocation(
        &self,
        source: &PermissionSource,
        tool: &ToolName,
        one: Option<GrantId>,
    ) -> Result<PermissionChange, PermissionError> {
        let tool_grants = self.grants_of(source, tool);
        let grants = tool_grants.into_iter().flat_map(|it| &it.grants).map(|it| it.id);
        let grants: Vec<GrantId> = grants.filter(|id| one.is_none_or(|one| one == *id)).collect();
        let waits = self.open.values().any(|it| it.source == *source && it.about(tool).is_some());
        match (grants.is_empty(), one) {
            (true, Some(id)) => Err(PermissionError::NoGrant(id)),
            (true, None) if !waits => Err(PermissionError::NothingToRevoke(tool.clone())),
            _ => {
                Ok(PermissionChange::Revoked { source: source.clone(), tool: tool.clone(), grants })
            }
        }
    }

    /// Returns the source and the tool of a grant.
    ///
    /// # Errors
    /// No such grant exists.
    pub fn owner_of(&self, id: GrantId) -> Result<(PermissionSource, ToolName), PermissionError> {
        let has = |tool_grants: &ToolGrants| tool_grants.grants.iter().any(|grant| grant.id == id);
        let found = self.tool_grants().find(|(_, tool_grants)| has(tool_grants));
        found
            .map(|(source, it)| (source.clone(), it.tool.clone()))
            .ok_or(PermissionError::NoGrant(id))
    }

    /// Returns the change that removes a denial. Older grants are not restored.
    ///
    /// # Errors
    /// The tool is not denied.
    pub fn plan_denial_removal(
        &self,
        source: &PermissionSource,
        tool: &ToolName,
    ) -> Result<PermissionChange, PermissionError> {
        match self.grants_of(source, tool) {
            Some(tool_grants) if tool_grants.denied.is_some() => {
                Ok(PermissionChange::Lifted { source: source.clone(), tool: tool.clone() })
            }
            _ => Err(PermissionError::NothingToRevoke(tool.clone())),
        }
    }

    /// Returns the change that deletes a workflow, or `None` if nothing of it is stored.
    #[must_use]
    pub fn plan_cleanup(&self, source: &PermissionSource) -> Option<PermissionChange> {
        let waiting = self.open.values().any(|ask| ask.source == *source);
        let kept = self.by_source.contains_key(source) || waiting;
        kept.then(|| PermissionChange::CleanedUp { source: source.clone(), idle_sec: None })
    }

    /// Returns the changes that end every workflow without an entry in the last `idle_sec` seconds.
    /// A clock that was set back makes none of them idle.
    #[must_use]
    pub fn plan_idle_cleanup(&self, idle_sec: u64, now: UtcTime) -> Vec<PermissionChange> {
        let idle = i64::try_from(idle_sec).unwrap_or(i64::MAX);
        let since = UtcTime::from_unix(now.unix().saturating_sub(idle));
        let cleaned_up = |source: &PermissionSource| PermissionChange::CleanedUp {
            source: source.clone(),
            idle_sec: Some(idle_sec),
        };
        self.idle_since(since).map(cleaned_up).collect()
    }

    /// Returns the changes that restore the permissions in a new trail, without expired ones.
    pub fn snapshot(&self, now: UtcTime) -> impl Iterator<Item = PermissionChange> {
        let open = self.open.values().filter(move |ask| now < ask.expires).cloned();
        let held = self.by_source.iter().flat_map(move |(source, held)| {
            held.chunks(SNAPSHOT_TOOLS).filter_map(move |chunk| {
                let live = chunk.iter().filter_map(|it| without_expired(it, now));
                let tools: Vec<ToolGrants> = live.collect();
                let source = source.clone();
                (!tools.is_empty()).then_some(PermissionChange::Kept { source, tools })
            })
        });
        open.map(PermissionChange::Filed).chain(held)
    }
}

fn without_expired(tool_grants: &ToolGrants, now: UtcTime) -> Option<ToolGrants> {
    let live = tool_grants.grants.iter().filter(|it| it.is_live(now));
    let grants = live.cloned().collect::<Vec<_>>();
    let is_kept = tool_grants.denied.is_some() || !grants.is_empty();
    let (tool, denied) = (tool_grants.tool.clone(), tool_grants.denied);
    is_kept.then_some(ToolGrants { tool, denied, grants })
}

fn grant_from(
    answer: &PermissionAnswer,
    ask: &OpenPermissionRequest,
    tool: &ToolName,
    id: GrantId,
    now: UtcTime,
) -> Result<PermissionGrant, PermissionError> {
    let limits = answer.limits.get(tool).copied().unwrap_or_default();
    if let Some(end) = limits.expires_utc.filter(|end| now >= *end) {
        return Err(PermissionError::ExpiredGrant(tool.clone(), end));
    }
    let uses_left: Option<NonZeroU32> = limits.uses;
    let inputs = match limits.arguments {
        CoveredInputs::Any => None,
        CoveredInputs::AsRequested => {
            let requested = ask.about(tool).map(|it| it.inputs.clone()).unwrap_or_default();
            if requested.is_empty() {
                return Err(PermissionError::NoInputs(tool.clone()));
            }
            Some(requested.into_boxed_slice())
        }
    };
    Ok(PermissionGrant { id, uses_left, expires: limits.expires_utc, inputs })
}
