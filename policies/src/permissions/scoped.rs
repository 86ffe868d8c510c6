//! A store in memory for the lifetime of a program: for embedding, and for tests that compare the
//! store on disk with it. Its trail is bounded. Permissions that must outlive the program belong in
//! the store on disk.

use std::collections::{BTreeMap, VecDeque};

use super::acceptance::Accepted;
use super::ask::{AskFile, OpenAsk, Terms};
use super::call::Calls;
use super::change::{Change, Entry};
use super::contract::{CONTRACT, Contract};
use super::finding::Finding;
use super::grant::GrantId;
use super::model::{Author, Moment};
use super::name::{Domains, Source, ToolName};
use super::operations::{Lodged, PermissionManager};
use super::plan::Lodging;
use super::refused::Refused;
use super::register::Register;

/// The number of entries that the trail keeps.
const TRAIL_MAX: usize = 10_000;

/// Permissions in memory.
#[derive(Debug, Default)]
pub struct Scoped {
    register: Register,
    terms: Terms,
    trail: VecDeque<Entry>,
}

impl Scoped {
    /// Makes an empty store.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self { terms, ..Self::default() }
    }

    /// Returns the last entries, the oldest first.
    pub fn trail(&self) -> impl Iterator<Item = &Entry> {
        self.trail.iter()
    }

    /// Returns the index of current permissions.
    #[must_use]
    pub fn register(&self) -> &Register {
        &self.register
    }

    fn keep(&mut self, change: Change, moment: &Moment, by: Author) -> Result<(), Refused> {
        let number = self.register.number().saturating_add(1);
        let (at, traceparent) = (moment.now, moment.traceparent);
        let entry = Entry { number, at, traceparent, by, change };
        self.register.apply(entry.clone())?;
        if self.trail.len() == TRAIL_MAX {
            self.trail.pop_front();
        }
        self.trail.push_back(entry);
        Ok(())
    }
}

impl PermissionManager for Scoped {
    type Error = Refused;

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn domains(&self) -> Option<&Domains> {
        self.terms.domains.as_ref()
    }

    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn explain<'c>(
        &mut self,
        source: &Source,
        calls: &'c Calls,
        moment: &Moment,
    ) -> Result<BTreeMap<&'c ToolName, Finding>, Refused> {
        let find = |tool, asked| self.register.find(source, tool, asked, moment.now);
        Ok(calls.iter().map(|(tool, asked)| (tool, find(tool, asked))).collect())
    }

    fn set(
        &mut self,
        source: &Source,
        answer: &Accepted,
        moment: &Moment,
    ) -> Result<Change, Refused> {
        let change = self.register.plan_answer(source, answer, moment.now)?;
        self.keep(change.clone(), moment, answer.by.clone())?;
        Ok(change)
    }

    fn cleanup(&mut self, source: &Source, moment: &Moment) -> Result<Option<Change>, Refused> {
        let change = self.register.plan_cleanup(source);
        if let Some(change) = change.clone() {
            self.keep(change, moment, moment.by.clone())?;
        }
        Ok(change)
    }

    fn lodge(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
        nonce: u64,
    ) -> Result<Lodged, Refused> {
        match self.register.plan_lodging(source, calls, moment.now)? {
            Lodging::Asked(open) => Ok(Lodged { ask: open.clone(), file: None }),
            Lodging::New(calls) => {
                let (ask, file): (OpenAsk, _) =
                    AskFile::build(source, &calls, &self.terms, moment, nonce);
                self.keep(Change::Lodged(ask.clone()), moment, moment.by.clone())?;
                Ok(Lodged { ask, file: Some(file) })
            }
        }
    }

    fn spend(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
    ) -> Result<Option<Change>, Refused> {
        let change = self.register.plan_spending(source, calls, moment.now)?;
        if let Some(change) = change.clone() {
            self.keep(change, moment, moment.by.clone())?;
        }
        Ok(change)
    }

    fn revoke(
        &mut self,
        source: &Source,
        tool: &ToolName,
        one: Option<GrantId>,
        moment: &Moment,
    ) -> Result<Change, Refused> {
        let change = self.register.plan_revocation(source, tool, one)?;
        self.keep(change.clone(), moment, moment.by.clone())?;
        Ok(change)
    }

    fn lift(
        &mut self,
        source: &Source,
        tool: &ToolName,
        moment: &Moment,
    ) -> Result<Change, Refused> {
        let change = self.register.plan_lifting(source, tool)?;
        self.keep(change.clone(), moment, moment.by.clone())?;
        Ok(change)
    }
}
