//! A store in memory for the lifetime of a program: for embedding, and for tests that compare the
//! store on disk with it. Its trail is bounded. Permissions that must outlive the program belong in
//! the store on disk.

use std::collections::{BTreeMap, VecDeque};

use super::acceptance::AcceptedAnswer;
use super::call::PermissionCalls;
use super::change::{PermissionChange, TrailEntry};
use super::contract::{CONTRACT, Contract};
use super::error::PermissionError;
use super::finding::ToolFinding;
use super::grant::GrantId;
use super::index::PermissionIndex;
use super::model::{Author, OperationContext};
use super::name::{Domains, PermissionSource, ToolName};
use super::operations::{FiledRequest, PermissionManager};
use super::plan::RequestPlan;
use super::request::{OpenPermissionRequest, PermissionRequestFile, PermissionTerms};

/// The number of entries that the trail keeps.
const TRAIL_MAX: usize = 10_000;

/// Permissions in memory.
#[derive(Debug, Default)]
pub struct InMemoryStore {
    register: PermissionIndex,
    terms: PermissionTerms,
    trail: VecDeque<TrailEntry>,
}

impl InMemoryStore {
    /// Makes an empty store.
    #[must_use]
    pub fn new(terms: PermissionTerms) -> Self {
        Self { terms, ..Self::default() }
    }

    /// Returns the last entries, the oldest first.
    pub fn trail(&self) -> impl Iterator<Item = &TrailEntry> {
        self.trail.iter()
    }

    /// Returns the index of current permissions.
    #[must_use]
    pub fn register(&self) -> &PermissionIndex {
        &self.register
    }

    fn record(
        &mut self,
        change: PermissionChange,
        moment: &OperationContext,
        by: Author,
    ) -> Result<(), PermissionError> {
        let number = self.register.number().saturating_add(1);
        let (at, traceparent) = (moment.now, moment.traceparent);
        let entry = TrailEntry { number, at, traceparent, by, change };
        self.register.apply(entry.clone())?;
        if self.trail.len() == TRAIL_MAX {
            self.trail.pop_front();
        }
        self.trail.push_back(entry);
        Ok(())
    }
}

impl PermissionManager for InMemoryStore {
    type Error = PermissionError;

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn domains(&self) -> Option<&Domains> {
        self.terms.domains.as_ref()
    }

    fn terms(&self) -> &PermissionTerms {
        &self.terms
    }

    fn explain<'c>(
        &mut self,
        source: &PermissionSource,
        calls: &'c PermissionCalls,
        moment: &OperationContext,
    ) -> Result<BTreeMap<&'c ToolName, ToolFinding>, PermissionError> {
        let find = |tool, tool_calls| self.register.find(source, tool, tool_calls, moment.now);
        Ok(calls.iter().map(|(tool, tool_calls)| (tool, find(tool, tool_calls))).collect())
    }

    fn set(
        &mut self,
        source: &PermissionSource,
        answer: &AcceptedAnswer,
        moment: &OperationContext,
    ) -> Result<PermissionChange, PermissionError> {
        let change = self.register.plan_answer(source, answer, moment.now)?;
        self.record(change.clone(), moment, answer.by.clone())?;
        Ok(change)
    }

    fn cleanup(
        &mut self,
        source: &PermissionSource,
        moment: &OperationContext,
    ) -> Result<Option<PermissionChange>, PermissionError> {
        let change = self.register.plan_cleanup(source);
        if let Some(change) = change.clone() {
            self.record(change, moment, moment.by.clone())?;
        }
        Ok(change)
    }

    fn add_request(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
        nonce: u64,
    ) -> Result<FiledRequest, PermissionError> {
        match self.register.plan_request(source, calls, moment.now)? {
            RequestPlan::AlreadyOpen(open) => Ok(FiledRequest { ask: open.clone(), file: None }),
            RequestPlan::New(calls) => {
                let (ask, file): (OpenPermissionRequest, _) =
                    PermissionRequestFile::build(source, &calls, &self.terms, moment, nonce);
                self.record(PermissionChange::Filed(ask.clone()), moment, moment.by.clone())?;
                Ok(FiledRequest { ask, file: Some(file) })
            }
        }
    }

    fn spend(
        &mut self,
        source: &PermissionSource,
        calls: &PermissionCalls,
        moment: &OperationContext,
    ) -> Result<Option<PermissionChange>, PermissionError> {
        let change = self.register.plan_spending(source, calls, moment.now)?;
        if let Some(change) = change.clone() {
            self.record(change, moment, moment.by.clone())?;
        }
        Ok(change)
    }

    fn revoke(
        &mut self,
        source: &PermissionSource,
        tool: &ToolName,
        one: Option<GrantId>,
        moment: &OperationContext,
    ) -> Result<PermissionChange, PermissionError> {
        let change = self.register.plan_revocation(source, tool, one)?;
        self.record(change.clone(), moment, moment.by.clone())?;
        Ok(change)
    }

    fn remove_denial(
        &mut self,
        source: &PermissionSource,
        tool: &ToolName,
        moment: &OperationContext,
    ) -> Result<PermissionChange, PermissionError> {
        let change = self.register.plan_denial_removal(source, tool)?;
        self.record(change.clone(), moment, moment.by.clone())?;
        Ok(change)
    }
}
