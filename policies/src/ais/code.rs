//! The codes of refusals, spelled as in the seed. A code is never renamed, because programs and
//! records refer to it.

use std::fmt;

use serde_json::{Value, json};

const MESSAGE_CHARS_MAX: usize = 1000;
/// The maximum size of the compared values in a record.
const DETAILS_BYTES_MAX: usize = 4096;

model::closed_set! {
    /// The code of a refused bundle.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum AisCode {
        InputBadJson = "INPUT-BAD-JSON": "The bundle is not JSON with one possible reading.",
        InputSchemaInvalid = "INPUT-SCHEMA-INVALID": "An artifact does not match its schema, or arguments do not match their operation.",
        UiaSigInvalid = "UIA-SIG-INVALID": "The UIA is not signed by a key of its subject in the role user.",
        ApaSigInvalid = "APA-SIG-INVALID": "The APA is not signed by a key in the role agent-runtime.",
        AprSigInvalid = "APR-SIG-INVALID": "The APr is not signed by a key in the role verifier that is independent of the planner.",
        TcaSigInvalid = "TCA-SIG-INVALID": "The TCA is not signed by a key of its operator in the role operator.",
        IbeSigInvalid = "IBE-SIG-INVALID": "The IBE is not signed by a key in the role envelope.",
        ScaSigInvalid = "SCA-SIG-INVALID": "The SCA is not signed by a key in the role host.",
        CrlSigInvalid = "CRL-SIG-INVALID": "The CRL is not signed by a key in the role revocation.",
        IbeExpired = "IBE-EXPIRED": "The time in exp is past.",
        IbeLifetimeExceeded = "IBE-LIFETIME-EXCEEDED": "The time in exp is later than policy allows.",
        UiaExpired = "UIA-EXPIRED": "The time in timeWindow.notAfter is past.",
        IbeReplay = "IBE-REPLAY": "The nonce was used before.",
        CrlStale = "CRL-STALE": "The revocation list is missing or not current.",
        UiaRevoked = "UIA-REVOKED": "The user's intent was revoked.",
        ApaRevoked = "APA-REVOKED": "The plan was revoked.",
        LinkMismatch = "LINK-MISMATCH": "An artifact refers to an artifact that is not in the bundle.",
        IbeStepNotFound = "IBE-STEP-NOT-FOUND": "The plan has no such step.",
        IbeBindingMismatch = "IBE-BINDING-MISMATCH": "The step does not match the request.",
        PlanNotExplicit = "PLAN-NOT-EXPLICIT": "Arguments of a step are missing or are templates.",
        PlanGuardUnmet = "PLAN-GUARD-UNMET": "The step is one of several alternatives, and its guard does not choose it.",
        PlanTotalsLow = "PLAN-TOTALS-LOW": "The totals of the plan are less than the sum of its steps.",
        AlignMismatch = "ALIGN-MISMATCH": "Evidence or a score differs from the result of its method.",
        AlignBelowThreshold = "ALIGN-BELOW-THRESHOLD": "The plan covers less of the intent than policy requires.",
        RiskBudgetExceeded = "RISK-BUDGET-EXCEEDED": "The risk is above what the user's level allows.",
        RiskWritesExceeded = "RISK-WRITES-EXCEEDED": "More writes than the user or the step allows.",
        RiskRecordsExceeded = "RISK-RECORDS-EXCEEDED": "More records than the user allows.",
        RiskCallsExceeded = "RISK-CALLS-EXCEEDED": "More external calls than the user or the step allows.",
        DataClassNotPermitted = "DATA-CLASS-NOT-PERMITTED": "A class of data that the user did not permit.",
        TcaOpNotAllowed = "TCA-OP-NOT-ALLOWED": "The tool's assertion has no such operation.",
        TcaEffectsExceeded = "TCA-EFFECTS-EXCEEDED": "The step would do more than the operation declares.",
        DestinationNotAllowed = "DESTINATION-NOT-ALLOWED": "A host that the user or the operation does not name.",
        ScaMismatch = "SCA-MISMATCH": "A program, policy or model differs from the supply chain assertion.",
        AuthzPolicyDeny = "AUTHZ-POLICY-DENY": "Policy does not accept this profile, method, obligation or jurisdiction.",
    }
}

/// A refusal: the code, its reason, and the compared values.
#[derive(Clone, PartialEq, Debug)]
pub struct AisRefusal {
    /// The stable code, for programs and records.
    pub code: AisCode,
    /// One line for people. Names from the artifacts are escaped.
    pub message: String,
    /// The compared values, for programs.
    pub details: Value,
}

impl AisRefusal {
    pub(super) fn new(code: AisCode, message: impl Into<String>) -> Self {
        // The message may quote an artifact, which may be megabytes long.
        let shown: String = message.into().chars().take(MESSAGE_CHARS_MAX).collect();
        Self { code, message: model::escape_line(&shown), details: json!({}) }
    }

    pub(super) fn with(mut self, details: Value) -> Self {
        let bytes = details.to_string().len();
        let fits = bytes <= DETAILS_BYTES_MAX;
        self.details = if fits { details } else { json!({ "omitted_bytes": bytes }) };
        self
    }

    /// Returns the JSON of a refusal: `{code, message, details}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "code": self.code.as_str(), "message": self.message, "details": self.details })
    }
}

impl fmt::Display for AisRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for AisRefusal {}
