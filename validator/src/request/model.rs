//! The values of a request's text, and its owner. Only a [`super::Request`] proves a check.

use model::{EnvironmentReference, Language, RequestId, StandingReference, UtcTime};

use crate::declarations::Input;
use crate::extension::RequestAgent;
use crate::limits::CpuCores;
use crate::monty::PureCode;
use crate::network::Network;
use crate::outputs::ExpectedOutput;
use crate::risk::Risk;

model::closed_set! {
    /// The author of the request, as stated in it (seed 002, `requested_by`).
    #[derive(Hash)]
    pub enum RequestedBy {
        /// `human`
        Human = "human",
        /// `core_draft`
        CoreDraft = "core_draft",
    }
}

model::closed_set! {
    /// The backend that a request names (upstream's later key `backend`).
    #[derive(Hash)]
    pub enum Backend {
        /// `ERA`
        Era = "ERA",
        /// `monty`, which runs code of the request, or a script.
        Monty = "monty",
        /// `confined`
        Confined = "confined",
    }
}

/// One sentence of `constraints`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constraint(String);

impl Constraint {
    /// The three constraints that are always enforced (seed 002).
    pub const SEED: [&'static str; 3] =
        ["No network unless allowlisted", "No writes outside /out", "No persistence"];

    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The sentence.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns true for one of the seed's three constraints; any other is stated but not enforced.
    #[must_use]
    pub fn is_seed(&self) -> bool {
        Self::SEED.contains(&self.0.as_str())
    }
}

/// The work that a request asks for.
#[derive(Clone, PartialEq, Debug)]
pub enum Work {
    /// One command, of a backend that executes programs.
    Command {
        /// The words of the command; at least one.
        argv: Vec<String>,
        /// The command as written, without the space around it.
        line: String,
    },
    /// Pure code, which only an interpreter runs.
    Code(PureCode),
}

/// The values that the check read; only [`super::Request`] is a proof.
pub(crate) struct RequestParts {
    pub(crate) id: RequestId,
    pub(crate) created: UtcTime,
    pub(crate) approved: UtcTime,
    pub(crate) approved_by: String,
    pub(crate) requested_by: RequestedBy,
    pub(crate) purpose: String,
    pub(crate) language: Language,
    pub(crate) backend: Option<Backend>,
    pub(crate) network: Network,
    pub(crate) cpu: CpuCores,
    pub(crate) memory_limit_mb: u64,
    pub(crate) time_limit_sec: u64,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs_expected: Vec<ExpectedOutput>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) work: Work,
    pub(crate) risk: Risk,
    pub(crate) requester: Option<String>,
    pub(crate) audience: Option<String>,
    pub(crate) agent: Option<RequestAgent>,
    pub(crate) standing: Option<StandingReference>,
    pub(crate) environment: Option<EnvironmentReference>,
    pub(crate) unknown_extensions: Vec<String>,
}

/// The user who owns a file, as the kernel reports it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OwnerUid(u32);

impl OwnerUid {
    /// The owner with this user id.
    #[must_use]
    pub fn new(uid: u32) -> Self {
        Self(uid)
    }

    /// The user id.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}
