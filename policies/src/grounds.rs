//! Why a decision is what it is: what every rule said, and the whole answer of the gate. It tells, for the
//! record and for people, and proves nothing to a later step.

use crate::aana::GateResult;
use crate::decision::RuleVerdict;
use crate::permissions::{Finding, Source, ToolName};

/// Whether the gate's answer counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GateMode {
    /// It does.
    Enforce,
    /// It is asked and told, and decides nothing.
    Shadow,
}

impl GateMode {
    /// `enforce` or `shadow`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Shadow => "shadow",
        }
    }
}

/// The gate's answer, and whether it counted.
#[derive(Clone, PartialEq, Debug)]
pub struct GateFinding {
    /// Whether it counted.
    pub mode: GateMode,
    /// The answer.
    pub result: GateResult,
}

/// What people answered of the run, and of whose.
#[derive(Clone, PartialEq, Debug)]
pub struct PermissionFinding {
    /// Whose permission it is.
    pub source: Source,
    /// For which tool.
    pub tool: ToolName,
    /// The state and its reason.
    pub finding: Finding,
}

/// The grounds of one decision.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Grounds {
    /// What every rule said, in the order in which they were asked.
    pub rules: Vec<RuleVerdict>,
    /// What the AANA gate said; nothing where no runtime was chosen, so that there is no event.
    pub gate: Option<GateFinding>,
    /// What the permission manager said; nothing where policy does not cover the request.
    pub permission: Option<PermissionFinding>,
}
