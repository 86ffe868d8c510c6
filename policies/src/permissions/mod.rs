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
