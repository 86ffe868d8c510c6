//! Converts the run of a tool request into an event. Every reference is typed and has a text of
//! ours. Text of others occurs only where the gate evaluates no words. An event must never claim
//! more than its facts.

use model::{Language, RequestId, Sha256, UtcTime};
use serde_json::{Map, Value, json};

use super::model::CONTRACT;
use super::vocabulary::{
    AuthorizationState, EvidenceKind, RedactionStatus, RiskDomain, Route, ToolCategory, TrustTier,
};
use super::{GateResult, gate_pre_tool_call, leak, wording};

/// The limit for names; longer names are replaced by their digest.
const NAME_BYTES_MAX: usize = 64;
/// Parts of words that indicate an authority. A name must not add them to its reference.
const AUTHORITY: [&str; 6] =
    ["confirm", "authenticated", "validat", "allowed", "eligible", "ownership"];

/// A fact about a request that the caller verified, or a claim in its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact<'a> {
    /// One of a complete set of approvals: a signature that counts, or the act of the invoker where
    /// policy accepts it.
    Approval {
        /// The signer's name in `allowed_signers`; without signatures the submitter's user name.
        principal: &'a str,
    },
    /// A signature that counts while policy requires further ones.
    Signature {
        /// The signer's name in `allowed_signers`.
        principal: &'a str,
    },
    /// The owner of the file is an approver.
    Owner {
        /// The submitter's user name, or `submitter` if the host knows none.
        name: &'a str,
    },
    /// The text names an approver, without any proof.
    Claim {
        /// The approver's name in the request's `approved_by`.
        name: &'a str,
    },
    /// The policy by which the request is judged.
    Policy {
        /// The digest of the policy file.
        sha256: Sha256,
    },
    /// The request itself.
    Request {
        /// The digest of the request file.
        sha256: Sha256,
    },
    /// An input file that the request declares.
    Input {
        /// The digest that the request declares. The file was not read yet.
        sha256: Sha256,
    },
}

/// A proposed run.
#[derive(Clone, Copy, Debug)]
pub struct ProposedRun<'a> {
    /// The id of the tool request, which is also the id of the event.
    pub request_id: &'a RequestId,
    /// The language of the tool, which is part of its name.
    pub language: Language,
    /// The category of the tool, according to policy.
    pub category: ToolCategory,
    /// The risk domain of the tool, according to policy.
    pub domain: RiskDomain,
    /// The verified state of the approval.
    pub state: AuthorizationState,
    /// The command; the event proposes it as the argument `argv`.
    pub argv: &'a [String],
    /// The input files: name and digest, as declared.
    pub inputs: &'a [(&'a str, Sha256)],
    /// The facts that support it.
    pub facts: &'a [Fact<'a>],
    /// The time at which they were verified.
    pub now: UtcTime,
}

/// A pre-tool-call event made by this program.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    value: Value,
    now: UtcTime,
}

impl Event {
    /// Makes the event of a proposed run. It recommends `accept` if the state is confirmed, else
    /// `ask`. No event may propose `accept` for a tool of an unknown category.
    #[must_use]
    pub fn of(run: &ProposedRun<'_>) -> Self {
        let confirmed = run.state == AuthorizationState::Confirmed;
        let accept = confirmed && run.category != ToolCategory::Unknown;
        let route = if accept { Route::Accept } else { Route::Ask };
        let references: Vec<Value> =
            run.facts.iter().map(|fact| reference(fact, run.now)).collect();
        let inputs: Map<String, Value> = run
            .inputs
            .iter()
            .map(|(name, sha256)| ((*name).to_owned(), sha256.to_string().into()))
            .collect();
        let value = json!({
            "schema_version": CONTRACT,
            "request_id": run.request_id.as_str(),
            "tool_name": format!("toolexec.run.{}", run.language.as_str()),
            "tool_category": run.category,
            "authorization_state": run.state,
            "evidence_refs": references,
            "risk_domain": run.domain,
            "proposed_arguments": { "argv": run.argv, "inputs": inputs },
            "recommended_route": route,
        });
        Self { value, now: run.now }
    }

    /// Returns the event as JSON, ready for any gate of this contract.
    #[must_use]
    pub fn as_value(&self) -> &Value {
        &self.value
    }

    /// Evaluates the gate for the event, at the time when its facts were verified.
    pub fn gate(&self) -> GateResult {
        gate_pre_tool_call(&self.value, self.now)
    }
}

/// Converts a fact into source, kind, trust, redaction, summary and provenance. The summaries avoid
/// every marker of the contract and support no state that the kind does not have.
fn reference(fact: &Fact<'_>, now: UtcTime) -> Value {
    use EvidenceKind as Kind;
    let (source_id, kind, trust, summary, provenance) = match fact {
        Fact::Approval { principal } => (
            format!("approval.{}", source_name(principal)),
            Kind::Approval,
            TrustTier::Verified,
            "An approval of exactly these bytes; with it every approval that policy asks for is there.",
            "approvals",
        ),
        Fact::Signature { principal } => (
            format!("signature.{}", source_name(principal)),
            Kind::ToolResult,
            TrustTier::Verified,
            "The signature over exactly these bytes was validated; policy asks for more of them.",
            "approvals",
        ),
        Fact::Owner { name } => (
            format!("owner.{}", source_name(name)),
            Kind::AuthEvent,
            TrustTier::Verified,
            "The file belongs to a user whom policy names as an approver.",
            "file owner",
        ),
        Fact::Claim { name } => (
            format!("claim.{}", source_name(name)),
            Kind::UserMessage,
            TrustTier::UserClaimed,
            "The text of the request names an approver.",
            "request",
        ),
        Fact::Policy { sha256 } => digest("policy", sha256, Kind::Policy, "The active policy."),
        Fact::Request { sha256 } => {
            digest("request", sha256, Kind::SystemState, "The bytes of the request.")
        }
        Fact::Input { sha256 } => {
            let summary = "An input file, as the request declares it.";
            let parts = digest("input", sha256, Kind::SystemState, summary);
            // The input was not read yet. A different file is refused before the run.
            (parts.0, parts.1, TrustTier::Runtime, parts.3, parts.4)
        }
    };
    json!({
        "source_id": source_id,
        "kind": kind,
        "trust_tier": trust,
        "redaction_status": RedactionStatus::Redacted,
        "summary": summary,
        "retrieved_at": now.to_string(),
        "freshness": { "status": "fresh", "checked_at": now.to_string() },
        "provenance": provenance,
    })
}

type ReferenceParts = (String, EvidenceKind, TrustTier, &'static str, &'static str);

fn digest(
    what: &str,
    sha256: &Sha256,
    kind: EvidenceKind,
    summary: &'static str,
) -> ReferenceParts {
    (format!("{what}.sha256:{sha256}"), kind, TrustTier::Verified, summary, "toolexec")
}

/// Keeps a plain name as a source and replaces any other by its digest. People choose names: a name
/// must neither block a run by looking like personal data, nor support a state.
fn source_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+@".contains(c);
    let lower = name.to_ascii_lowercase();
    let speaks = AUTHORITY.iter().any(|word| lower.contains(word)) || wording::name_denies(&lower);
    let good = (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(plain);
    if good && !speaks && !leak::secret(name) {
        name.to_owned()
    } else {
        format!("sha256:{}", Sha256::of(name.as_bytes()))
    }
}
