//! Permissions: the tools that an agent may call, by workflow and access-control scope (seed 003).
//! The answers of people decide, never the output of a model. Anything missing, unread or doubtful
//! must never count as an approval.
//!
//! Start with [`PermissionManager`]: `get` before a call, `request_builder` for blocked tools,
//! `set` for an answer, `cleanup` at the end of the workflow. [`Scoped`] stores permissions in
//! memory; the crate `spool` stores them on disk. Both consist of a trail of [`Entry`]s and a
//! [`Register`] made from it. `plan` turns an operation into one [`Change`], and only `register`
//! applies changes.

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
mod model;
mod name;
mod operations;
mod plan;
mod refused;
mod register;
mod scoped;
mod trace;

pub use self::model::{Author, Moment, ToolAuthorizationState};
pub use acceptance::{Accepted, AnswerEvidence, AnswerRules, FileOwner, PERMISSION_NAMESPACE};
pub use answer::{
    ANSWER_BYTES_MAX, Answer, AnswerData, Answered, Arguments, GrantLimits, NotAccepted,
};
pub use ask::{
    ASK_BYTES_MAX, ASK_OPEN_SEC, AskFile, AskId, AskedAbout, NotAnAskId, OpenAsk, Terms,
};
pub use call::{AskedTool, CALLS_BYTES_MAX, CALLS_MAX, Calls, NotCalls, TOOLS_MAX};
pub use change::{Change, Denied, Entry, Granted, Use};
pub use contract::{
    ANSWER_TYPE, CONTRACT, CONTRACT_SCHEMA, CONTRACT_VERSION, Contract, REQUEST_TYPE, RequestData,
    ShownCall, ShownInputs, ToolMetaData,
};
pub use finding::Finding;
pub use grant::{Denial, Grant, GrantId, NotAGrantId, Standing};
pub use name::{
    AccessControl, AgentName, Domains, NAME_BYTES_MAX, NotAName, Source, Subject, ToolName,
};
pub use operations::{Lodged, PermissionManager};
pub use plan::Lodging;
pub use refused::Refused;
pub use register::Register;
pub use scoped::Scoped;
pub use trace::{NotATraceparent, Traceparent};
