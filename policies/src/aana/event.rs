//! How the run that a tool request asks for becomes an event: every reference is typed, its texts are
//! ours, and what somebody else wrote stands only where no word of it counts. An event must never
//! claim more than the facts that it was made of.

use model::{Language, RequestId, Sha256, UtcTime};
use serde_json::{Map, Value, json};

use super::model::CONTRACT;
use super::vocabulary::{
    AuthorizationState, EvidenceKind, RedactionStatus, RiskDomain, Route, ToolCategory, TrustTier,
};
use super::{GateResult, gate_pre_tool_call, leak, wording};

/// Longer names are told by their digest.
const NAME_BYTES_MAX: usize = 64;
/// Parts of words that speak of an authority; no name may lend them to its reference.
const AUTHORITY: [&str; 6] =
    ["confirm", "authenticated", "validat", "allowed", "eligible", "ownership"];

/// Something that was verified about a request, or that its text alone says. The caller has looked;
/// nothing here does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact<'a> {
    /// One of the approvals by which everything that policy asks for is there: a signature that
    /// counts, or the word of the person who invoked the run, where policy takes that.
    Approval {
        /// Whose.
        principal: &'a str,
    },
    /// A signature that counts, where policy asks for more of them.
    Signature {
        /// Whose.
        principal: &'a str,
    },
    /// The file's owner is known as an approver.
    Owner {
        /// Who.
        name: &'a str,
    },
    /// The text names an approver, and that is all.
    Claim {
        /// Whom.
        name: &'a str,
    },
    /// The policy by which the request is judged.
    Policy {
        /// Of its bytes.
        sha256: Sha256,
    },
    /// The request itself.
    Request {
        /// Of its bytes.
        sha256: Sha256,
    },
    /// An input file that the request declares.
    Input {
        /// Of its bytes.
        sha256: Sha256,
    },
}

/// The run that is proposed.
#[derive(Clone, Copy, Debug)]
pub struct ProposedRun<'a> {
    /// The request's id.
    pub request_id: &'a RequestId,
    /// The language of the tool, which names it.
    pub language: Language,
    /// What policy says that the runtime does.
    pub category: ToolCategory,
    /// What policy says that it puts at risk.
    pub domain: RiskDomain,
    /// How far the approval is verified.
    pub state: AuthorizationState,
    /// The command's words.
    pub argv: &'a [String],
    /// The input files: name and digest, as declared.
    pub inputs: &'a [(&'a str, Sha256)],
    /// What speaks for it.
    pub facts: &'a [Fact<'a>],
    /// When that was verified.
    pub now: UtcTime,
}

/// A pre-tool-call event of ours.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    value: Value,
    now: UtcTime,
}

impl Event {
    /// The event of a proposed run. Its own recommendation is `accept` where the state is confirmed
    /// (but for tools of an unknown category, which no event may propose to accept), else `ask`.
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

    /// The event as JSON, as it may be sent to any gate of this contract.
    #[must_use]
    pub fn as_value(&self) -> &Value {
        &self.value
    }

    /// What the gate says of it at the time when its facts were verified.
    pub fn gate(&self) -> GateResult {
        gate_pre_tool_call(&self.value, self.now)
    }
}

/// How a fact is told: source, kind, trust, redaction, summary, provenance. The summaries avoid every
/// marker of the contract, and speak for no state that the kind does not have.
fn reference(fact: &Fact<'_>, now: UtcTime) -> Value {
    use EvidenceKind as Kind;
    let (source_id, kind, trust, summary, provenance) = match fact {
        Fact::Approval { principal } => (
            format!("approval.{}", label(principal)),
            Kind::Approval,
            TrustTier::Verified,
            "An approval of exactly these bytes; with it every approval that policy asks for is there.",
            "approvals",
        ),
        Fact::Signature { principal } => (
            format!("signature.{}", label(principal)),
            Kind::ToolResult,
            TrustTier::Verified,
            "The signature over exactly these bytes was validated; policy asks for more of them.",
            "approvals",
        ),
        Fact::Owner { name } => (
            format!("owner.{}", label(name)),
            Kind::AuthEvent,
            TrustTier::Verified,
            "The file belongs to a user whom policy names as an approver.",
            "file owner",
        ),
        Fact::Claim { name } => (
            format!("claim.{}", label(name)),
            Kind::UserMessage,
            TrustTier::UserClaimed,
            "The text of the request names an approver.",
            "request",
        ),
        Fact::Policy { sha256 } => digest("policy", sha256, Kind::Policy, "The policy in force."),
        Fact::Request { sha256 } => {
            digest("request", sha256, Kind::SystemState, "The bytes of the request.")
        }
        Fact::Input { sha256 } => {
            let summary = "An input file, as the request declares it.";
            let told = digest("input", sha256, Kind::SystemState, summary);
            // Nothing of it was read yet: what differs is refused before the run.
            (told.0, told.1, TrustTier::Runtime, told.3, told.4)
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

type Told = (String, EvidenceKind, TrustTier, &'static str, &'static str);

fn digest(what: &str, sha256: &Sha256, kind: EvidenceKind, summary: &'static str) -> Told {
    (format!("{what}.sha256:{sha256}"), kind, TrustTier::Verified, summary, "toolexec")
}

/// A name as the source of a reference: itself, where it is plain, or else the digest of it. Names are
/// given by people, and must not stop a run for looking like a number of theirs, nor speak for it.
fn label(name: &str) -> String {
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
