//! The values from which a request's text is made. Only the check of the text decides.

use model::{EnvironmentReference, Language, RequestId, Sha256, StandingReference, UtcTime};

use super::line::OneLine;
use crate::monty::PureCode;
use crate::request::{Backend, RequestedBy};
use crate::risk::{RiskLevel, Sensitivity};

/// All values in the text of a request, for [`Composition::to_text`]. The values are unchecked: the
/// check of the text decides whether a name, a host or a limit is allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Composition {
    /// `request_id`, and the title.
    pub id: RequestId,
    /// `created_utc`.
    pub created: UtcTime,
    /// `requested_by`.
    pub requested_by: RequestedBy,
    /// `approved_by` and `approved_utc`; both are written empty until the request is approved.
    pub approval: Option<(OneLine, UtcTime)>,
    /// `purpose`.
    pub purpose: OneLine,
    /// `language`.
    pub language: Language,
    /// `backend`; the key is omitted for None.
    pub backend: Option<Backend>,
    /// `network_allowlist`, as `host` or `host:port`; None is `network: none`.
    pub hosts: Option<Vec<OneLine>>,
    /// `cpu_limit`, a decimal number of cores.
    pub cpu: OneLine,
    /// `memory_limit_mb`, in MiB.
    pub memory_limit_mb: u64,
    /// `time_limit_sec`, in seconds.
    pub time_limit_sec: u64,
    /// `inputs`.
    pub inputs: Vec<ComposedInput>,
    /// `outputs_expected`.
    pub outputs_expected: Vec<ComposedOutput>,
    /// `constraints`.
    pub constraints: Vec<OneLine>,
    /// The work to run.
    pub work: ComposedWork,
    /// The section `## Risk Assessment`.
    pub risk: ComposedRisk,
    /// `x-requester`.
    pub requester: Option<OneLine>,
    /// `x-agent`.
    pub agent: Option<ComposedAgent>,
    /// `x-audience`.
    pub audience: Option<OneLine>,
    /// `x-standing`.
    pub standing: Option<StandingReference>,
    /// `x-environment`.
    pub environment: Option<EnvironmentReference>,
}

/// The work to run, and the sections that state it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ComposedWork {
    /// The line under `## Command`, which [`crate::quote_words`] makes from words. The list of the
    /// request's files follows it.
    Command(OneLine),
    /// `## Code` and `## Inputs (JSON)`, of the monty backend.
    Code(PureCode),
}

/// An item of `inputs`, and its line under `## Input Files`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComposedInput {
    /// The path below /in.
    pub name: OneLine,
    /// The digest of the file.
    pub sha256: Sha256,
}

/// An item of `outputs_expected`, and its line under `## Output Expectations`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComposedOutput {
    /// The path below /out.
    pub path: OneLine,
    /// The purpose of the file. It may have several lines: it is only written as a quoted scalar.
    pub description: String,
    /// `x-patch-of`: the name of a folder input, with its final `/`; the key is omitted for None.
    pub patch_of: Option<String>,
}

/// The lines of the risk assessment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComposedRisk {
    /// `Risk level:`
    pub level: RiskLevel,
    /// `Justification:`
    pub justification: OneLine,
    /// `Data sensitivity:`
    pub sensitivity: Sensitivity,
    /// `Network rationale:`
    pub network_rationale: OneLine,
}

/// `x-agent`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComposedAgent {
    /// The agent's name.
    pub name: OneLine,
    /// The workflow execution that it works in.
    pub subject: OneLine,
    /// The access-control scope.
    pub accesscontrol: Option<OneLine>,
}
