//! The types shared by grants, permission requests and changes: the state of a tool, and the author
//! and time of an operation. Each has one written form.

use std::fmt;

use model::UtcTime;
use serde::{Deserialize, Serialize};

use super::trace::Traceparent;

model::closed_set! {
    /// The state of a tool (seed 003, `ToolAuthorizationState`).
    #[derive(Hash)]
    pub enum ToolAuthorizationState {
        /// The tool may not be called, and no person is asked.
        Denied = "DENIED",
        /// The tool may be called.
        Approved = "APPROVED",
        /// The tool may not be called, but a person can be asked.
        Requestable = "REQUESTABLE",
    }
}

model::serialize_closed_set!(ToolAuthorizationState);
model::deserialize_closed_set!(ToolAuthorizationState);

/// The author of a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Author {
    /// A person whose signature verified.
    Signed {
        /// The names that `allowed_signers` gives the key.
        principal: String,
        /// The key, `SHA256:…`.
        fingerprint: String,
    },
    /// A process of this user of the host.
    Uid(u32),
    /// The program that this library is part of.
    Program(String),
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed { principal, fingerprint } => write!(f, "{principal} {fingerprint}"),
            Self::Uid(uid) => write!(f, "uid {uid}"),
            Self::Program(name) => f.write_str(name),
        }
    }
}

/// The time, the trace and the author of an operation (seed 003, `config.otelInfo`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperationContext {
    /// The time of the operation.
    pub now: UtcTime,
    /// The trace of the caller, or a new one if the caller has none.
    pub traceparent: Traceparent,
    /// The actor. For an answer, the person who gave it counts instead.
    pub by: Author,
}
