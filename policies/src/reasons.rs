//! The reasons of a decision: the verdict of every rule and the whole result of the gate. They are
//! for the record and for people, and prove nothing to a later step.

use model::UtcTime;
use serde_json::Value;
use validator::CLOCK_SKEW_SEC;

use crate::aana::GateResult;
use crate::ais;
use crate::permissions::{PermissionSource, ToolFinding, ToolName};

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
    /// The rules of a decision. Every decision contains one verdict of each; `ais.ledger` occurs
    /// only if a bundle was judged. The checks of the AIS guard are added under their own names.
    #[derive(PartialOrd, Ord)]
    pub enum RuleName {
        Backend = "backend": "The backend of the request.",
        Command = "command": "The first word of the command.",
        Language = "language": "The language that the command runs.",
        Environment = "environment": "The environment that the request names.",
        Runtime = "runtime": "The runtime on this host.",
        LimitsCpu = "limits.cpu": "The processors asked for.",
        LimitsMemory = "limits.memory": "The memory asked for.",
        LimitsTime = "limits.time": "The time asked for.",
        Network = "network": "The hosts asked for.",
        Constraints = "constraints": "The constraints that nothing enforces.",
        Layers = "layers": "The layers that the sandbox must have.",
        ApprovalStanding = "approval.standing": "The standing approval that the request uses.",
        ApprovalRisk = "approval.risk": "The risk class, which sets the number of approvers.",
        ApprovalDateOrder = "approval.date-order": "The order of the dates.",
        ApprovalAge = "approval.age": "The age of the approval.",
        ApprovalAudience = "approval.audience": "The host that the approval is for.",
        ApprovalSingleUse = "approval.single-use": "The use of an approval for one run.",
        ApprovalRejected = "approval.rejected": "The rejections by approvers.",
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

/// The verdict of one rule, for the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleVerdict {
    /// The rule's stable name.
    pub rule: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason of the verdict, as text for people.
    pub reason: String,
}

model::closed_set! {
    /// The mode of the gate: whether its result decides.
    pub enum GateMode {
        /// The result decides.
        Enforce = "enforce",
        /// The gate is evaluated and its result is recorded, but it decides nothing.
        Shadow = "shadow",
    }
}

/// The result of the gate, with its mode.
#[derive(Clone, PartialEq, Debug)]
pub struct GateFinding {
    /// The mode that policy sets.
    pub mode: GateMode,
    /// The whole result, whether it decides or not.
    pub result: GateResult,
}

/// The state of the permission that a run needs.
#[derive(Clone, PartialEq, Debug)]
pub struct PermissionFinding {
    /// The agent that needs the permission, in its workflow and scope.
    pub source: PermissionSource,
    /// The tool that the run calls: `toolexec.run.<language>`.
    pub tool: ToolName,
    /// The state of the tool, with its reason.
    pub finding: ToolFinding,
}

/// The result of the AIS guard for the bundle of the request.
#[derive(Clone, PartialEq, Debug)]
pub struct AisFinding {
    answer: Value,
    verdict: AisResult,
}

#[derive(Clone, PartialEq, Debug)]
enum AisResult {
    Accepted { nonce: String, expires: UtcTime },
    Refused(ais::AisCode),
}

impl AisFinding {
    pub(crate) fn accepted(answer: Value, accepted: &ais::AcceptedCall) -> Self {
        let (nonce, expires) = (accepted.nonce().to_owned(), accepted.expires());
        Self { answer, verdict: AisResult::Accepted { nonce, expires } }
    }

    pub(crate) fn refused(answer: Value, code: ais::AisCode) -> Self {
        Self { answer, verdict: AisResult::Refused(code) }
    }

    /// Returns the whole result, as `toolexec ais verify` prints it.
    #[must_use]
    pub fn answer(&self) -> &Value {
        &self.answer
    }

    /// Returns the code of the refusal, or `None` if the guard accepted.
    #[must_use]
    pub fn refused_by(&self) -> Option<ais::AisCode> {
        match self.verdict {
            AisResult::Accepted { .. } => None,
            AisResult::Refused(code) => Some(code),
        }
    }

    /// Returns the nonce that a start uses up.
    #[must_use]
    pub fn nonce(&self) -> Option<&str> {
        match &self.verdict {
            AisResult::Accepted { nonce, .. } => Some(nonce),
            AisResult::Refused(_) => None,
        }
    }

    /// Returns the end of the envelope if it is past by more than the allowed clock skew.
    pub(crate) fn ended_before(&self, now: UtcTime) -> Option<UtcTime> {
        let AisResult::Accepted { expires, .. } = &self.verdict else { return None };
        (expires.unix().saturating_add(CLOCK_SKEW_SEC) < now.unix()).then_some(*expires)
    }
}

/// The reasons of one decision.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Rationale {
    /// The verdict of every rule, in the order of evaluation.
    pub rules: Vec<RuleVerdict>,
    /// The result of the AANA gate. `None` if no runtime was chosen, because no event exists then.
    pub gate: Option<GateFinding>,
    /// The result of the permission check. `None` if policy does not cover the request.
    pub permission: Option<PermissionFinding>,
    /// The result of the AIS guard. `None` if no bundle was judged.
    pub ais: Option<AisFinding>,
}
