//! Permissions: the tools that an agent may call, by workflow and access-control scope (seed 003).
//! The answers of people decide, never the output of a model. Anything missing, unread or doubtful
//! must never count as an approval.
//!
//! Start with [`PermissionManager`]. [`InMemoryStore`] stores permissions in memory; the crate
//! `spool` stores them on disk. Both consist of a trail of [`TrailEntry`]s and a
//! [`PermissionIndex`] made from it. `plan` turns an operation into one [`PermissionChange`], and
//! only `index` applies changes.

mod acceptance;
mod answer;
mod as_text;
mod call;
mod change;
mod contract;
mod error;
mod finding;
mod grant;
mod grant_choice;
mod in_memory;
mod index;
mod model;
mod name;
mod operations;
mod plan;
mod request;
mod trace;

pub use self::model::{Author, OperationContext, ToolAuthorizationState};
pub use acceptance::{
    AcceptedAnswer, AnswerEvidence, AnswerRules, FileOwner, PERMISSION_NAMESPACE,
};
pub use answer::{
    ANSWER_BYTES_MAX, AnswerData, AnsweredRequest, CoveredInputs, GrantLimits, PermissionAnswer,
    PermissionAnswerError,
};
pub use call::{CALLS_BYTES_MAX, CALLS_MAX, CallsError, PermissionCalls, TOOLS_MAX, ToolCalls};
pub use change::{DeniedTool, GrantUse, GrantedTool, PermissionChange, TrailEntry};
pub use contract::{
    ANSWER_TYPE, CONTRACT, CONTRACT_SCHEMA, CONTRACT_VERSION, Contract, REQUEST_TYPE, RequestData,
    ShownCall, ShownInputs, ToolMetaData,
};
pub use error::PermissionError;
pub use finding::ToolFinding;
pub use grant::{GrantId, GrantIdError, PermissionDenial, PermissionGrant, ToolGrants};
pub use in_memory::InMemoryStore;
pub use index::PermissionIndex;
pub use name::{
    AccessControl, AgentName, Domains, NAME_BYTES_MAX, NameError, PermissionSource, Subject,
    ToolName,
};
pub use operations::{FiledRequest, PermissionManager};
pub use plan::RequestPlan;
pub use request::{
    OpenPermissionRequest, PERMISSION_REQUEST_BYTES_MAX, PermissionRequestFile,
    PermissionRequestId, PermissionRequestIdError, PermissionTerms, RequestedTool,
};
pub use trace::{Traceparent, TraceparentError};
