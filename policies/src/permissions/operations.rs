//! The operations on permissions, for a store in memory and for one on disk. An error of any operation must
//! mean that nothing is permitted.

use std::collections::BTreeMap;

use super::acceptance::Accepted;
use super::ask::{OpenAsk, Terms};
use super::call::Calls;
use super::change::Change;
use super::contract::{Contract, RequestData};
use super::finding::Finding;
use super::grant::GrantId;
use super::model::{Moment, ToolAuthorizationState};
use super::name::{Domains, Source, ToolName};

/// A question that waits for its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lodged {
    /// The facts that are kept of it.
    pub ask: OpenAsk,
    /// The bytes to hand to a person; none where the same was asked before and waits still.
    pub file: Option<Vec<u8>>,
}

/// Deterministic authorization of tool calls (seed 003, `IPermissionManager`). An error of any operation
/// means that nothing is permitted.
pub trait PermissionManager {
    /// Why an operation was not done.
    type Error: std::error::Error;

    /// The contract of questions and answers.
    fn contract(&self) -> &'static Contract;

    /// The domains that questions go to; none: the one default place.
    fn domains(&self) -> Option<&Domains>;

    /// The terms of a question to a person.
    fn terms(&self) -> &Terms;

    /// The state of every tool that is asked about, at once. It reads and uses nothing up: a run that
    /// begins on the strength of it must [`spend`](Self::spend).
    ///
    /// # Errors
    /// The stored permissions cannot be read.
    fn get<'c>(
        &mut self,
        source: &Source,
        calls: &'c Calls,
        moment: &Moment,
    ) -> Result<BTreeMap<&'c ToolName, ToolAuthorizationState>, Self::Error> {
        let found = self.explain(source, calls, moment)?;
        Ok(found.into_iter().map(|(tool, found)| (tool, found.state())).collect())
    }

    /// The same with the reasons.
    ///
    /// # Errors
    /// The stored permissions cannot be read.
    fn explain<'c>(
        &mut self,
        source: &Source,
        calls: &'c Calls,
        moment: &Moment,
    ) -> Result<BTreeMap<&'c ToolName, Finding>, Self::Error>;

    /// Takes an answer in, whole, and says what it changed. Denied wins; what the question named and the
    /// answer does not grant is denied; a question is answered once.
    ///
    /// # Errors
    /// It answers nothing that is open here, or it could not be kept.
    fn set(
        &mut self,
        source: &Source,
        answer: &Accepted,
        moment: &Moment,
    ) -> Result<Change, Self::Error>;

    /// The contract's data to ask with, for tools that `get` did not approve.
    fn request_builder(&self, source: &Source, blocked: &Calls, _moment: &Moment) -> RequestData {
        RequestData::of(source, blocked, self.terms().shown)
    }

    /// Ends every permission of a workflow that has ended; returns none where there was none. The run has
    /// ended even if this fails: a caller logs an error and continues.
    ///
    /// # Errors
    /// It could not be kept.
    fn cleanup(&mut self, source: &Source, moment: &Moment) -> Result<Option<Change>, Self::Error>;

    /// Asks a person for what can be asked for. While one waits, the same question is not asked again.
    ///
    /// # Errors
    /// Nothing of it can be asked for, or it could not be kept.
    fn lodge(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
        nonce: u64,
    ) -> Result<Lodged, Self::Error>;

    /// Begins these calls, all or none. Each uses up one use of exactly one grant, where that is limited in
    /// number; returns none where none is. Other callers at the same time must not lead to more uses than
    /// were granted.
    ///
    /// # Errors
    /// One is not permitted, or it could not be kept; nothing may be begun then.
    fn spend(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
    ) -> Result<Option<Change>, Self::Error>;

    /// Takes grants of a tool back, all or one, and closes every open question about the tool, so that no
    /// answer given before can bring them back. A denial stays.
    ///
    /// # Errors
    /// There is nothing to take back, or it could not be kept.
    fn revoke(
        &mut self,
        source: &Source,
        tool: &ToolName,
        one: Option<GrantId>,
        moment: &Moment,
    ) -> Result<Change, Self::Error>;

    /// Takes a denial back: the tool may be asked for again. No older grant comes back.
    ///
    /// # Errors
    /// It is not denied, or it could not be kept.
    fn lift(
        &mut self,
        source: &Source,
        tool: &ToolName,
        moment: &Moment,
    ) -> Result<Change, Self::Error>;
}
