//! Why a decision is what it is: what every rule said, and the whole answer of the gate. It tells, for the
//! record and for people, and proves nothing to a later step.

use model::UtcTime;
use serde_json::Value;
use validator::CLOCK_SKEW_SEC;

use crate::aana::GateResult;
use crate::ais;
use crate::permissions::{Finding, Source, ToolName};

model::closed_set! {
    /// The verdict of one rule.
    #[derive(Hash)]
    pub enum Verdict {
        /// The rule has no objection.
        Pass = "pass",
        /// The rule forbids the run.
        Refuse = "refuse",
        /// The rule had nothing to decide.
        NotApplicable = "not_applicable",
    }
}

model::closed_set! {
    /// The rules of a decision. Each leaves one verdict in every decision; `ais.ledger` only where a
    /// bundle was judged. The checks of the AIS guard are added under their own names.
    #[derive(PartialOrd, Ord)]
    pub enum RuleName {
        Backend = "backend": "The backend of the request.",
        Command = "command": "The first word of the command.",
        Language = "language": "The language that the command runs.",
        Runtime = "runtime": "The runtime on this host.",
        LimitsCpu = "limits.cpu": "The processors asked for.",
        LimitsMemory = "limits.memory": "The memory asked for.",
        LimitsTime = "limits.time": "The time asked for.",
        Network = "network": "The hosts asked for.",
        Constraints = "constraints": "The constraints that nothing enforces.",
        Layers = "layers": "The layers that the sandbox must have.",
        ApprovalRisk = "approval.risk": "The risk class, which sets the number of approvers.",
        ApprovalDateOrder = "approval.date-order": "The order of the dates.",
        ApprovalAge = "approval.age": "The age of the approval.",
        ApprovalAudience = "approval.audience": "The host that the approval is for.",
        ApprovalSingleUse = "approval.single-use": "The use of an approval for one run.",
        ApprovalRejected = "approval.rejected": "The rejections by operators.",
        ApprovalSignature = "approval.signature": "The signatures that do not verify.",
        ApprovalRevoked = "approval.revoked": "The signatures by revoked keys.",
        ApprovalSelf = "approval.self": "The approvals by the requester.",
        ApprovalCount = "approval.count": "The number of approvers.",
        ApprovalPrincipal = "approval.principal": "The approver whom the request names.",
        ApprovalSubmitter = "approval.submitter": "The submitter, where no signature is asked for.",
        Gate = "aana.gate": "The AANA gate.",
        Permission = "permission": "The permission of the agent.",
        Ais = "ais": "The AIS bundle.",
        AisLedger = "ais.ledger": "The use of the nonce of a bundle for one run.",
    }
}

/// One rule of the decision, for the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleVerdict {
    /// The rule's stable name.
    pub rule: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// The reason, in words.
    pub reason: String,
}

model::closed_set! {
    /// Whether the gate's answer counts.
    pub enum GateMode {
        /// It does.
        Enforce = "enforce",
        /// It is asked and told, and decides nothing.
        Shadow = "shadow",
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

/// What the AIS guard said of the bundle beside the request.
#[derive(Clone, PartialEq, Debug)]
pub struct AisFinding {
    answer: Value,
    verdict: AisVerdict,
}

#[derive(Clone, PartialEq, Debug)]
enum AisVerdict {
    Accepted { nonce: String, expires: UtcTime },
    Refused(ais::Code),
}

impl AisFinding {
    pub(crate) fn accepted(answer: Value, accepted: &ais::Accepted) -> Self {
        let (nonce, expires) = (accepted.nonce().to_owned(), accepted.expires());
        Self { answer, verdict: AisVerdict::Accepted { nonce, expires } }
    }

    pub(crate) fn refused(answer: Value, code: ais::Code) -> Self {
        Self { answer, verdict: AisVerdict::Refused(code) }
    }

    /// The whole answer, as `toolexec ais verify` prints it.
    #[must_use]
    pub fn answer(&self) -> &Value {
        &self.answer
    }

    /// The code that counts, where it refuses.
    #[must_use]
    pub fn refused_by(&self) -> Option<ais::Code> {
        match self.verdict {
            AisVerdict::Accepted { .. } => None,
            AisVerdict::Refused(code) => Some(code),
        }
    }

    /// The nonce that a start uses up.
    #[must_use]
    pub fn nonce(&self) -> Option<&str> {
        match &self.verdict {
            AisVerdict::Accepted { nonce, .. } => Some(nonce),
            AisVerdict::Refused(_) => None,
        }
    }

    /// The end of the envelope, where that is past by more than clocks may differ.
    pub(crate) fn ended_before(&self, now: UtcTime) -> Option<UtcTime> {
        let AisVerdict::Accepted { expires, .. } = &self.verdict else { return None };
        (expires.unix().saturating_add(CLOCK_SKEW_SEC) < now.unix()).then_some(*expires)
    }
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
    /// What the AIS guard said; nothing where there was no bundle to judge.
    pub ais: Option<AisFinding>,
}
