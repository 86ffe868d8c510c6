//! The differences between a request and the standing approval that it names. Each names the bound.

use std::fmt;

use validator::{BindingError, HostPort};

/// A bound of a standing approval that a request does not keep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StandingDifference {
    /// `x-standing` names another document, or none.
    Reference,
    /// The request has an extension key that no bound covers.
    Extension,
    /// The host is another than `x-audience`.
    Host,
    /// The request names another host, or none.
    Audience,
    /// The request comes from another agent, or names none.
    Agent,
    /// The request names an access-control scope, which no bound covers.
    Scope,
    /// The request comes from another workflow.
    Subject,
    /// Another language.
    Language,
    /// Another environment, or only one of both names one.
    Environment,
    /// The request names a backend.
    Backend,
    /// The work is code, not a command.
    Code,
    /// The command or the names of the inputs differ.
    Binding(BindingError),
    /// A fixed input has other bytes.
    InputBytes(String),
    /// A file of a slot is too large, or its size is unknown.
    InputSize(String),
    /// A limit is higher, or the inputs together are larger.
    Limit(StandingLimit),
    /// A host that the standing approval does not list.
    NetworkHost(HostPort),
    /// An output that only one of both has.
    Output(String),
    /// An output that is the patch of another folder, or of a folder in only one of both.
    Patch(String),
    /// A constraint of the standing approval is missing.
    Constraint(String),
    /// A higher risk.
    Risk,
    /// A higher sensitivity.
    Sensitivity,
    /// Approved by or at another than the standing approval.
    Approval,
}

model::closed_set! {
    /// A limit, by its key.
    pub enum StandingLimit {
        /// `cpu_limit`
        Cpu = "cpu_limit",
        /// `memory_limit_mb`
        Memory = "memory_limit_mb",
        /// `time_limit_sec`
        Time = "time_limit_sec",
        /// `inputs_bytes_max`
        Inputs = "inputs_bytes_max",
    }
}

impl fmt::Display for StandingDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| model::quote(text);
        match self {
            Self::Reference => {
                f.write_str("x-standing: the request names another document, or none")
            }
            Self::Extension => f.write_str("the request has an extension key that is not known"),
            Self::Host => f.write_str("x-audience: this host is another"),
            Self::Audience => f.write_str("x-audience: the request names another host, or none"),
            Self::Agent => f.write_str("agents: the request's agent is not listed"),
            Self::Scope => f.write_str("x-agent: the request names an access-control scope"),
            Self::Subject => f.write_str("subject: the request's workflow is another"),
            Self::Language => f.write_str("language: the request's is another"),
            Self::Environment => f.write_str("environment: not that of the standing approval"),
            Self::Backend => f.write_str("backend: the request names one"),
            Self::Code => f.write_str("the request has code instead of a command"),
            Self::Binding(error) => binding(error, f),
            Self::InputBytes(name) => write!(f, "inputs: {} has other bytes", quoted(name)),
            Self::InputSize(name) => write!(f, "inputs: {} is too large", quoted(name)),
            Self::Limit(limit) => write!(f, "{}: the request's is higher", limit.as_str()),
            Self::NetworkHost(host) => write!(f, "network_allowlist: {host} is not listed"),
            Self::Output(path) => {
                write!(f, "outputs_expected: {} is in one of both only", quoted(path))
            }
            Self::Patch(path) => {
                write!(f, "outputs_expected: {} differs in x-patch-of", quoted(path))
            }
            Self::Constraint(text) => write!(f, "constraints: {} is missing", quoted(text)),
            Self::Risk => f.write_str("risk: the request's is higher"),
            Self::Sensitivity => f.write_str("sensitivity: the request's is higher"),
            Self::Approval => {
                f.write_str("approved_by, approved_utc: not those of the standing approval")
            }
        }
    }
}

fn binding(error: &BindingError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let quoted = |text: &str| model::quote(text);
    match error {
        BindingError::WordCount { found, expected } => {
            write!(f, "command: {found} words instead of {expected}")
        }
        BindingError::Word(at) => write!(f, "command: word {} is another", at + 1),
        BindingError::Value(at, name) => {
            write!(f, "command: word {} is not a value of {{{name}}}", at + 1)
        }
        BindingError::TwoValues(name) => write!(f, "command: {{{name}}} has two values"),
        BindingError::SlotWord(at, slot) => {
            write!(f, "command: word {} is not the file of {{in:{slot}}}", at + 1)
        }
        BindingError::Input(name) => write!(f, "inputs: {} is not foreseen", quoted(name)),
        BindingError::MissingInput(name) => write!(f, "inputs: {} is missing", quoted(name)),
        BindingError::SlotCount(slot) => {
            write!(f, "inputs: too few or too many files in slot {}", quoted(slot))
        }
    }
}
