//! Permissions: which agent may call which tool, in which workflow, for whom (seed 003). It is decided by
//! what people answered, never by what a model says; nothing that is missing, unread or in doubt may ever
//! be an approval.
//!
//! The way in is [`PermissionManager`]: `get` before a tool is called, `request_builder` for what is
//! blocked, `set` when the answer is there, `cleanup` at the workflow's end. [`Scoped`] keeps them in
//! memory; the one on disk is the spool's. Both are a trail of [`Entry`]s and a [`Register`] made of it:
//! `plan` turns an operation into the one [`Change`] that does it, and `register` alone takes changes in.

mod acceptance;
mod allot;
mod answer;
mod as_text;
mod ask;
mod call;
mod change;
mod contract;
mod finding;
mod grant;
mod name;
mod plan;
mod refused;
mod register;
mod scoped;
mod trace;

use std::collections::BTreeMap;

pub use acceptance::{Accepted, AnswerEvidence, AnswerRules, FileOwner, PERMISSION_NAMESPACE};
pub use answer::{
    ANSWER_BYTES_MAX, Answer, AnswerData, Answered, Arguments, GrantLimits, NotAccepted,
};
pub use ask::{
    ASK_BYTES_MAX, ASK_OPEN_SEC, AskFile, AskId, AskedAbout, NotAnAskId, OpenAsk, Terms,
};
pub use call::{AskedTool, CALLS_BYTES_MAX, CALLS_MAX, Calls, NotCalls, TOOLS_MAX};
pub use change::{Author, Change, Denied, Entry, Granted, Moment, Use};
pub use contract::{
    ANSWER_TYPE, CONTRACT, CONTRACT_SCHEMA, CONTRACT_VERSION, Contract, REQUEST_TYPE, RequestData,
    ShownCall, ShownInputs, ToolMetaData,
};
pub use finding::{Finding, ToolAuthorizationState};
pub use grant::{Denial, Grant, GrantId, NotAGrantId, Standing};
pub use name::{
    AccessControl, AgentName, Domains, NAME_BYTES_MAX, NotAName, Source, Subject, ToolName,
};
pub use plan::Lodging;
pub use refused::Refused;
pub use register::Register;
pub use scoped::Scoped;
pub use trace::{NotATraceparent, Traceparent};

/// A question that waits for its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lodged {
    /// What is remembered of it.
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

    /// Where questions go; none: to the one default place.
    fn domains(&self) -> Option<&Domains>;

    /// How people are asked.
    fn terms(&self) -> &Terms;

    /// The state of every tool that is asked about, at once. It reads and uses nothing up: a run that
    /// begins on the strength of it must [`spend`](Self::spend).
    ///
    /// # Errors
    /// What is kept cannot be read.
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
    /// What is kept cannot be read.
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

    /// Lets go of everything of a workflow that has ended; none where nothing was kept. Whatever it
    /// answers, the run has ended as it ended: a caller logs an error and goes on.
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

    /// Begins these calls, all or none: each uses up one use of exactly one grant, where that is limited
    /// in number; none where none is. At most as often as was granted, whoever else is at it.
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
