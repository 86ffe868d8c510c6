//! The plan of an operation: the one change that does it, or the reason why nothing is done. A plan
//! reads the current permissions and changes nothing. Only a stored entry changes them.

use std::num::NonZeroU32;

use model::UtcTime;

use super::acceptance::Accepted;
use super::allot::allot;
use super::answer::{Answer, Arguments};
use super::ask::OpenAsk;
use super::call::Calls;
use super::change::{Change, Denied, Granted, Use};
use super::finding::Finding;
use super::grant::{Denial, Grant, GrantId, Standing};
use super::model::ToolAuthorizationState;
use super::name::{Source, ToolName};
use super::refused::Refused;
use super::register::{GRANTS_MAX, OPEN_MAX, Register, SOURCES_MAX, STANDINGS_MAX};

/// The number of tools in one entry of a rewritten trail.
const KEPT_AT_ONCE: usize = 8;

/// The part of the calls that needs a person.
pub enum Lodging<'r> {
    /// An equal permission request is open.
    Asked(&'r OpenAsk),
    /// These calls need a new permission request.
    New(Calls),
}

impl Register {
    /// Returns the calls that a person must be asked about, without those that cannot be requested.
    /// Denied tools are never requested again.
    ///
    /// # Errors
    /// No tool can be requested, or too many permission requests are open.
    pub fn plan_lodging(
        &self,
        source: &Source,
        calls: &Calls,
        now: UtcTime,
    ) -> Result<Lodging<'_>, Refused> {
        let mut denied = None;
        let mut wanted = Vec::new();
        for (tool, asked) in calls.iter() {
            let found = self.find(source, tool, asked, now);
            match found.state() {
                ToolAuthorizationState::Requestable => wanted.push(tool),
                ToolAuthorizationState::Denied => denied = Some((tool.clone(), found)),
                ToolAuthorizationState::Approved => {}
            }
        }
        if wanted.is_empty() {
            return Err(match denied {
                Some((tool, found)) => Refused::Blocked(tool, found),
                None if calls.is_empty() => Refused::NothingAsked,
                None => Refused::AllApproved,
            });
        }
        let calls = calls.only(|tool| wanted.contains(&tool));
        let same = self.asked.get(&calls.sha256(source)).and_then(|id| self.open.get(id));
        if let Some(open) = same.filter(|open| now < open.expires) {
            return Ok(Lodging::Asked(open));
        }
        let waiting = self.open.values().filter(|open| now < open.expires).count();
        if waiting >= OPEN_MAX {
            return Err(Refused::Full("10000 requests wait for an answer"));
        }
        Ok(Lodging::New(calls))
    }

    /// Returns the change that an answer makes. A requested tool that `granted` omits is denied.
    ///
    /// # Errors
    /// The answer matches no open permission request, or grants more than was requested.
    pub fn plan_answer(
        &self,
        source: &Source,
        accepted: &Accepted,
        now: UtcTime,
    ) -> Result<Change, Refused> {
        let answer = &accepted.answer;
        let ask = self.answered(source, answer, now)?;
        let mut granted = Vec::new();
        for tool in &answer.data.granted {
            if !answer.data.denied.contains(tool) {
                let place = u32::try_from(granted.len()).unwrap_or(u32::MAX);
                let id = GrantId { entry: self.number.saturating_add(1), place };
                let grant = limited(answer, ask, tool, id, now)?;
                granted.push(Granted { tool: tool.clone(), grant });
            }
        }
        let said = answer.data.denied.iter();
        let denied = said.map(|tool| Denied { tool: tool.clone(), denial: Denial::Said });
        let named = |tool: &ToolName| {
            answer.data.granted.contains(tool) || answer.data.denied.contains(tool)
        };
        let left_out = ask.tools.iter().filter(|it| !named(&it.tool));
        let left_out = left_out.map(|it| Denied { tool: it.tool.clone(), denial: Denial::LeftOut });
        let denied: Vec<Denied> = denied.chain(left_out).collect();
        self.insist_on_room(source, &granted, &denied, now)?;
        Ok(Change::Answered {
            request: ask.id.clone(),
            source: source.clone(),
            granted,
            denied,
            commentary: answer.data.commentary.clone(),
        })
    }

    fn answered(
        &self,
        source: &Source,
        answer: &Answer,
        now: UtcTime,
    ) -> Result<&OpenAsk, Refused> {
        let id = &answer.answers.id;
        let ask = self.open.get(id).ok_or_else(|| Refused::NotOpen(id.clone()))?;
        if now >= ask.expires {
            return Err(Refused::Expired(id.clone()));
        }
        if ask.sha256 != answer.answers.sha256 {
            return Err(Refused::OtherBytes(id.clone()));
        }
        if ask.source != *source || ask.source != answer.answers.source {
            return Err(Refused::OtherSource(id.clone()));
        }
        let mut tools = answer.data.granted.iter().chain(&answer.data.denied);
        match tools.find(|tool| ask.about(tool).is_none()) {
            Some(other) => Err(Refused::NeverAsked(id.clone(), other.clone())),
            None => Ok(ask),
        }
    }

    fn insist_on_room(
        &self,
        source: &Source,
        granted: &[Granted],
        denied: &[Denied],
        now: UtcTime,
    ) -> Result<(), Refused> {
        let held = self.held.get(source);
        if held.is_none() && self.held.len() >= SOURCES_MAX {
            return Err(Refused::Full("4000000 workflows have permissions"));
        }
        let new = granted.iter().map(|it| &it.tool).chain(denied.iter().map(|it| &it.tool));
        let new = new.filter(|tool| self.standing(source, tool).is_none()).count();
        if held.map_or(0, Vec::len) + new > STANDINGS_MAX {
            return Err(Refused::Full("one workflow has 1024 tools"));
        }
        let live =
            |standing: &Standing| standing.grants.iter().filter(|grant| grant.is_live(now)).count();
        let full = |it: &&Granted| {
            self.standing(source, &it.tool).is_some_and(|standing| live(standing) >= GRANTS_MAX)
        };
        match granted.iter().find(full) {
            Some(_) => Err(Refused::Full("one tool has 16 grants")),
            None => Ok(()),
        }
    }

    /// Returns the change that starts these calls, all or none. Returns `None` if no limited grant
    /// is used.
    ///
    /// # Errors
    /// [`Refused::Blocked`] names the first tool that is not permitted.
    pub fn plan_spending(
        &self,
        source: &Source,
        calls: &Calls,
        now: UtcTime,
    ) -> Result<Option<Change>, Refused> {
        if calls.is_empty() {
            return Err(Refused::NothingAsked);
        }
        let mut uses = Vec::new();
        for (tool, asked) in calls.iter() {
            let blocked = |found| Refused::Blocked(tool.clone(), found);
            let standing = self.standing(source, tool);
            let standing = standing.ok_or_else(|| blocked(Finding::Missing))?;
            for id in allot(standing, asked, now).map_err(blocked)? {
                let counted = |it: &Grant| it.id == id && it.uses_left.is_some();
                if standing.grants.iter().any(counted) {
                    uses.push(Use { tool: tool.clone(), grant: id });
                }
            }
        }
        let spent = Change::Spent { source: source.clone(), uses };
        Ok(Some(spent).filter(|it| !matches!(it, Change::Spent { uses, .. } if uses.is_empty())))
    }

    /// Returns the change that revokes one grant of a tool, or all. A denial remains, so the change
    /// never permits more.
    ///
    /// # Errors
    /// The tool has no such grant, or neither grants nor open permission requests.
    pub fn plan_revocation(
        &self,
        source: &Source,
        tool: &ToolName,
        one: Option<GrantId>,
    ) -> Result<Change, Refused> {
        let standing = self.standing(source, tool);
        let grants = standing.into_iter().flat_map(|it| &it.grants).map(|it| it.id);
        let grants: Vec<GrantId> = grants.filter(|id| one.is_none_or(|one| one == *id)).collect();
        let waits = self.open.values().any(|it| it.source == *source && it.about(tool).is_some());
        match (grants.is_empty(), one) {
            (true, Some(id)) => Err(Refused::NoGrant(id)),
            (true, None) if !waits => Err(Refused::NothingThere(tool.clone())),
            _ => Ok(Change::Revoked { source: source.clone(), tool: tool.clone(), grants }),
        }
    }

    /// Returns the source and the tool of a grant.
    ///
    /// # Errors
    /// No such grant exists.
    pub fn holder_of(&self, id: GrantId) -> Result<(Source, ToolName), Refused> {
        let has = |standing: &Standing| standing.grants.iter().any(|grant| grant.id == id);
        let found = self.standings().find(|(_, standing)| has(standing));
        found.map(|(source, it)| (source.clone(), it.tool.clone())).ok_or(Refused::NoGrant(id))
    }

    /// Returns the change that removes a denial, so that the tool may be requested again. Older
    /// grants are not restored.
    ///
    /// # Errors
    /// The tool is not denied.
    pub fn plan_lifting(&self, source: &Source, tool: &ToolName) -> Result<Change, Refused> {
        match self.standing(source, tool) {
            Some(standing) if standing.denied.is_some() => {
                Ok(Change::Lifted { source: source.clone(), tool: tool.clone() })
            }
            _ => Err(Refused::NothingThere(tool.clone())),
        }
    }

    /// Returns the change that deletes a workflow, or `None` if nothing of it is stored.
    #[must_use]
    pub fn plan_cleanup(&self, source: &Source) -> Option<Change> {
        let asked = self.open.values().any(|ask| ask.source == *source);
        let kept = self.held.contains_key(source) || asked;
        kept.then(|| Change::CleanedUp { source: source.clone(), idle_sec: None })
    }

    /// Returns the changes that end every workflow without an entry in the last `idle_sec` seconds.
    /// A clock that was set back makes none of them idle.
    #[must_use]
    pub fn plan_idle_cleanup(&self, idle_sec: u64, now: UtcTime) -> Vec<Change> {
        let idle = i64::try_from(idle_sec).unwrap_or(i64::MAX);
        let since = UtcTime::from_unix(now.unix().saturating_sub(idle));
        let cleaned_up = |source: &Source| Change::CleanedUp {
            source: source.clone(),
            idle_sec: Some(idle_sec),
        };
        self.idle_since(since).map(cleaned_up).collect()
    }

    /// Returns the changes that restore the current permissions in a new trail, without those that
    /// have expired.
    pub fn kept(&self, now: UtcTime) -> impl Iterator<Item = Change> {
        let open = self.open.values().filter(move |ask| now < ask.expires).cloned();
        let held = self.held.iter().flat_map(move |(source, held)| {
            held.chunks(KEPT_AT_ONCE).filter_map(move |chunk| {
                let live = chunk.iter().filter_map(|standing| still(standing, now));
                let standings: Vec<Standing> = live.collect();
                let source = source.clone();
                (!standings.is_empty()).then_some(Change::Kept { source, standings })
            })
        });
        open.map(Change::Lodged).chain(held)
    }
}

fn still(standing: &Standing, now: UtcTime) -> Option<Standing> {
    let grants = standing.grants.iter().filter(|it| it.is_live(now)).cloned().collect::<Vec<_>>();
    let stands = standing.denied.is_some() || !grants.is_empty();
    let (tool, denied) = (standing.tool.clone(), standing.denied);
    stands.then_some(Standing { tool, denied, grants })
}

fn limited(
    answer: &Answer,
    ask: &OpenAsk,
    tool: &ToolName,
    id: GrantId,
    now: UtcTime,
) -> Result<Grant, Refused> {
    let limits = answer.limits.get(tool).copied().unwrap_or_default();
    if let Some(end) = limits.expires_utc.filter(|end| now >= *end) {
        return Err(Refused::OverAlready(tool.clone(), end));
    }
    let uses_left: Option<NonZeroU32> = limits.uses;
    let inputs = match limits.arguments {
        Arguments::Any => None,
        Arguments::AsRequested => {
            let asked = ask.about(tool).map(|it| it.inputs.clone()).unwrap_or_default();
            if asked.is_empty() {
                return Err(Refused::NoInputs(tool.clone()));
            }
            Some(asked.into_boxed_slice())
        }
    };
    Ok(Grant { id, uses_left, expires: limits.expires_utc, inputs })
}
