//! The current permissions: an index made only from the entries of the trail. It must never answer
//! APPROVED without a grant that it contains. An entry that contradicts the previous ones is an
//! error; the index never guesses.

use std::collections::{HashMap, HashSet};

use model::{Sha256, UtcTime};

use super::allot::allot;
use super::ask::{AskId, OpenAsk};
use super::call::AskedTool;
use super::change::{Change, Denied, Entry, Granted, Use};
use super::finding::Finding;
use super::grant::{Denial, Grant, Standing};
use super::name::{SharedNames, Source, ToolName};
use super::refused::Refused;

/// The maximum number of open permission requests.
pub(super) const OPEN_MAX: usize = 10_000;
/// The maximum number of tools of one source.
pub(super) const STANDINGS_MAX: usize = 1024;
/// The maximum number of grants of one tool of one source.
pub(super) const GRANTS_MAX: usize = 16;
/// The maximum number of sources.
pub(super) const SOURCES_MAX: usize = 4_000_000;

/// The index of current permissions.
#[derive(Debug, Default)]
pub struct Register {
    pub(super) number: u64,
    decided: u64,
    pub(super) held: HashMap<Source, Vec<Standing>>,
    pub(super) open: HashMap<AskId, OpenAsk>,
    pub(super) asked: HashMap<Sha256, AskId>,
    names: SharedNames,
    /// The time of the last entry about each workflow.
    last_entry: HashMap<Source, UtcTime>,
}

impl Register {
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
    pub fn decided(&self) -> u64 {
        self.decided
    }

    /// Returns the permissions of every tool, in no particular order.
    pub fn standings(&self) -> impl Iterator<Item = (&Source, &Standing)> {
        self.held.iter().flat_map(|(source, held)| held.iter().map(move |it| (source, it)))
    }

    /// Returns the open permission requests, in no particular order.
    pub fn open(&self) -> impl Iterator<Item = &OpenAsk> {
        self.open.values()
    }

    /// Returns the workflows that have stored permissions and no entry later than `since`, in no
    /// particular order.
    pub fn idle_since(&self, since: UtcTime) -> impl Iterator<Item = &Source> {
        let asking: HashSet<&Source> = self.open.values().map(|ask| &ask.source).collect();
        let idle = self.last_entry.iter().filter(move |(_, at)| **at <= since);
        let idle = idle.map(|(source, _)| source);
        idle.filter(move |source| self.held.contains_key(*source) || asking.contains(*source))
    }

    /// Returns the permissions of one tool.
    #[must_use]
    pub fn standing(&self, source: &Source, tool: &ToolName) -> Option<&Standing> {
        let held = self.held.get(source)?;
        held.binary_search_by(|it| it.tool.cmp(tool)).ok().map(|at| &held[at])
    }

    /// Returns whether all requested calls are permitted together, with the reason.
    #[must_use]
    pub fn find(
        &self,
        source: &Source,
        tool: &ToolName,
        asked: &AskedTool,
        now: UtcTime,
    ) -> Finding {
        let Some(standing) = self.standing(source, tool) else { return Finding::Missing };
        if let Some(denial) = standing.denied {
            return Finding::Denied(denial);
        }
        let unlimited = |it: &&Grant| it.uses_left.is_none() && it.inputs.is_none();
        if let Some(grant) = standing.grants.iter().filter(unlimited).find(|it| it.is_live(now)) {
            return Finding::Granted(grant.id);
        }
        match allot(standing, asked, now) {
            Ok(grants) => grants.first().map_or(Finding::NotForThese, |id| Finding::Granted(*id)),
            Err(finding) => finding,
        }
    }

    /// Applies the next entry.
    ///
    /// # Errors
    /// [`Refused::Inconsistent`] if it contradicts the previous entries. The index remains readable
    /// then, but no answer may be based on it.
    pub fn apply(&mut self, entry: Entry) -> Result<(), Refused> {
        let number = entry.number;
        let wrong = |why| Refused::Inconsistent { entry: number, why };
        if self.number.checked_add(1) != Some(number) {
            return Err(wrong("does not follow the previous entry"));
        }
        let decides = !matches!(
            entry.change,
            Change::Lodged(_) | Change::Withdrawn { .. } | Change::Spent { .. }
        );
        self.note_entry(&entry.change, entry.at);
        self.take_in(entry.change, entry.at).map_err(wrong)?;
        self.number = number;
        if decides {
            self.decided = number;
        }
        Ok(())
    }

    fn note_entry(&mut self, change: &Change, at: UtcTime) {
        let Some(source) = change.source() else { return };
        match change {
            Change::CleanedUp { .. } => self.last_entry.remove(source),
            _ => self.last_entry.insert(source.clone().shared(&mut self.names), at),
        };
    }

    fn take_in(&mut self, change: Change, at: UtcTime) -> Result<(), &'static str> {
        match change {
            Change::Lodged(ask) => self.lodge(ask, at),
            Change::Withdrawn { request } => self.close(&request),
            Change::Answered { request, source, granted, denied, commentary: _ } => {
                self.close(&request)?;
                let source = source.shared(&mut self.names);
                denied.into_iter().for_each(|it| self.deny(&source, it));
                granted.into_iter().for_each(|it| self.grant(&source, it, at));
                Ok(())
            }
            Change::Spent { source, uses } => {
                uses.iter().try_for_each(|one| self.spend(&source, one))
            }
            Change::Revoked { source, tool, grants } => {
                self.withdraw(&source, Some(&tool));
                let mut known = true;
                self.change(&source, &tool, |standing| {
                    known = grants.iter().all(|id| standing.grants.iter().any(|it| it.id == *id));
                    standing.grants.retain(|it| !grants.contains(&it.id));
                });
                if known { Ok(()) } else { Err("revokes a grant that does not exist") }
            }
            Change::Lifted { source, tool } => {
                self.change(&source, &tool, |standing| standing.denied = None);
                Ok(())
            }
            Change::CleanedUp { source, idle_sec: _ } => {
                self.withdraw(&source, None);
                self.held.remove(&source);
                Ok(())
            }
            Change::Kept { source, standings } => self.keep(source, standings),
        }
    }

    fn lodge(&mut self, ask: OpenAsk, at: UtcTime) -> Result<(), &'static str> {
        if self.open.contains_key(&ask.id) {
            return Err("files a permission request twice");
        }
        if self.open.len() >= OPEN_MAX {
            self.open.retain(|_, open| at < open.expires);
            let open = &self.open;
            self.asked.retain(|_, id| open.contains_key(id));
        }
        self.asked.insert(ask.asks_sha256, ask.id.clone());
        self.open.insert(ask.id.clone(), ask);
        Ok(())
    }

    fn close(&mut self, id: &AskId) -> Result<(), &'static str> {
        let ask = self.open.remove(id).ok_or("is about a permission request that is not open")?;
        if self.asked.get(&ask.asks_sha256) == Some(id) {
            self.asked.remove(&ask.asks_sha256);
        }
        Ok(())
    }

    /// Closes the open permission requests of a source, all or those about this tool.
    fn withdraw(&mut self, source: &Source, tool: Option<&ToolName>) {
        let about = |ask: &OpenAsk| tool.is_none_or(|tool| ask.about(tool).is_some());
        self.open.retain(|_, ask| ask.source != *source || !about(ask));
        let open = &self.open;
        self.asked.retain(|_, id| open.contains_key(id));
    }

    fn deny(&mut self, source: &Source, Denied { tool, denial }: Denied) {
        let standing = self.standing_mut(source, tool);
        // An explicit denial is reported in preference to an omission.
        standing.denied = match standing.denied {
            Some(Denial::Said) => Some(Denial::Said),
            _ => Some(denial),
        };
        standing.grants = Vec::new();
    }

    fn grant(&mut self, source: &Source, Granted { tool, grant }: Granted, at: UtcTime) {
        let standing = self.standing_mut(source, tool);
        if standing.denied.is_none() {
            standing.grants.retain(|it| it.is_live(at));
            standing.grants.push(grant);
        }
    }

    fn standing_mut(&mut self, source: &Source, tool: ToolName) -> &mut Standing {
        let held = self.held.entry(source.clone()).or_default();
        let at = match held.binary_search_by(|it| it.tool.cmp(&tool)) {
            Ok(at) => at,
            Err(at) => {
                let tool = tool.shared(&mut self.names);
                held.reserve_exact(1);
                held.insert(at, Standing { tool, denied: None, grants: Vec::new() });
                at
            }
        };
        &mut held[at]
    }

    fn spend(&mut self, source: &Source, spent: &Use) -> Result<(), &'static str> {
        let mut known = false;
        self.change(source, &spent.tool, |standing| {
            let at = standing.grants.iter().position(|it| it.id == spent.grant);
            let Some((at, uses)) = at.and_then(|at| Some((at, standing.grants[at].uses_left?)))
            else {
                return;
            };
            known = true;
            match std::num::NonZeroU32::new(uses.get() - 1) {
                None => drop(standing.grants.remove(at)),
                left => standing.grants[at].uses_left = left,
            }
        });
        if known { Ok(()) } else { Err("uses a grant that does not exist") }
    }

    /// Changes the permissions of a tool, and deletes them if none remains.
    fn change(&mut self, source: &Source, tool: &ToolName, act: impl FnOnce(&mut Standing)) {
        let Some(held) = self.held.get_mut(source) else { return };
        let Ok(at) = held.binary_search_by(|it| it.tool.cmp(tool)) else { return };
        act(&mut held[at]);
        if held[at].denied.is_none() && held[at].grants.is_empty() {
            held.remove(at);
        }
        if held.is_empty() {
            self.held.remove(source);
        }
    }

    fn keep(&mut self, source: Source, standings: Vec<Standing>) -> Result<(), &'static str> {
        let source = source.shared(&mut self.names);
        for kept in standings {
            if self.standing(&source, &kept.tool).is_some() {
                return Err("lists a tool twice");
            }
            let standing = self.standing_mut(&source, kept.tool);
            (standing.denied, standing.grants) = (kept.denied, kept.grants);
        }
        Ok(())
    }
}
