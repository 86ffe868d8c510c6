//! The verdicts of the guard, and the proof that it accepted.

use model::UtcTime;
use serde_json::{Value, json};

use super::super::artifact::AisArtifact;
use super::super::code::{AisCode, AisRefusal};
use super::model::{GuardInput, GuardObservation, GuardResult};

/// The limit of an observation, because an artifact may be megabytes long.
const OBSERVATION_CHARS_MAX: usize = 1000;

model::closed_set! {
    /// The kind of a verdict, as records name it.
    pub(super) enum GuardVerdictKind {
        /// No objection.
        Passed = "pass",
        NotApplicable = "not_asked",
        Refused = "refuse",
    }
}

/// The verdict of one rule.
#[derive(Clone, PartialEq, Debug)]
pub enum GuardVerdict {
    /// No objection.
    Passed,
    /// Not applicable, or an earlier rule made it pointless.
    NotApplicable,
    /// The objection.
    Refused(AisRefusal),
}

impl GuardVerdict {
    fn kind(&self) -> GuardVerdictKind {
        match self {
            Self::Passed => GuardVerdictKind::Passed,
            Self::NotApplicable => GuardVerdictKind::NotApplicable,
            Self::Refused(_) => GuardVerdictKind::Refused,
        }
    }
}

/// One rule with its observation and its verdict.
#[derive(Clone, PartialEq, Debug)]
pub struct GuardCheck {
    /// The stable name of the rule: `uia-signature`, `exp`, `budget`…
    pub rule: &'static str,
    /// The observation: one line, escaped.
    pub observation: String,
    /// The verdict; a refusal has its code and the compared values.
    pub verdict: GuardVerdict,
}

impl GuardCheck {
    pub(super) fn of(rule: &'static str, answer: GuardResult) -> Self {
        match answer {
            Ok(GuardObservation::Passed(saw)) => {
                let shown: String = saw.chars().take(OBSERVATION_CHARS_MAX).collect();
                Self {
                    rule,
                    observation: model::escape_line(&shown),
                    verdict: GuardVerdict::Passed,
                }
            }
            Ok(GuardObservation::NotApplicable(why)) => {
                Self { rule, observation: why.to_owned(), verdict: GuardVerdict::NotApplicable }
            }
            Err(refusal) => Self {
                rule,
                observation: refusal.message.clone(),
                verdict: GuardVerdict::Refused(refusal),
            },
        }
    }

    /// Returns `{rule, verdict, observation, code?, details?}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let verdict = self.verdict.kind().as_str();
        let mut object = json!({ "rule": self.rule, "saw": self.observation, "verdict": verdict });
        if let GuardVerdict::Refused(refusal) = &self.verdict {
            object["code"] = json!(refusal.code.as_str());
            object["details"] = refusal.details.clone();
        }
        object
    }
}

/// The times of the stapled revocation list, for the record.
#[derive(Debug)]
struct StapledCrl {
    issued: UtcTime,
    expires: UtcTime,
}

/// The verdicts of every rule.
#[must_use]
#[derive(Debug)]
pub struct Judgement {
    checks: Vec<GuardCheck>,
    accepted: AcceptedCall,
    bound: bool,
}

/// The proof that the guard accepted a call. Its owner must use up the nonce durably before the
/// call is executed, and keep it until [`AcceptedCall::expires`] and the allowed skew are past.
#[must_use]
#[derive(Debug)]
pub struct AcceptedCall {
    names: Vec<(AisArtifact, String)>,
    signers: Vec<(AisArtifact, String)>,
    step: String,
    nonce: String,
    expires: UtcTime,
    crl: Option<StapledCrl>,
}

impl Judgement {
    pub(super) fn of(
        case: &GuardInput<'_>,
        checks: Vec<GuardCheck>,
        signers: Vec<(AisArtifact, String)>,
    ) -> Self {
        let (bundle, ibe) = (case.bundle, case.bundle.ibe());
        let names = vec![
            (AisArtifact::Uia, bundle.uia().id.to_string()),
            (AisArtifact::Apa, bundle.apa().id.to_string()),
            (AisArtifact::Apr, bundle.apr().id.to_string()),
            (AisArtifact::Tca, bundle.tca().id.to_string()),
            (AisArtifact::Ibe, ibe.id.to_string()),
        ];
        let crl = bundle
            .crl()
            .map(|crl| StapledCrl { issued: crl.issued.utc(), expires: crl.expires.utc() });
        let accepted = AcceptedCall {
            names,
            signers,
            step: ibe.apa_step_ref.to_string(),
            nonce: ibe.nonce.to_string(),
            expires: ibe.exp.utc(),
            crl,
        };
        Self { checks, accepted, bound: case.request.is_some() }
    }

    /// Returns every rule, in the order in which refusals count.
    #[must_use]
    pub fn checks(&self) -> &[GuardCheck] {
        &self.checks
    }

    /// Returns the refusal that counts, or `None` if no rule refuses.
    #[must_use]
    pub fn refusal(&self) -> Option<&AisRefusal> {
        self.checks.iter().find_map(|check| match &check.verdict {
            GuardVerdict::Refused(refusal) => Some(refusal),
            _ => None,
        })
    }

    /// Returns the proof that no rule refuses.
    ///
    /// # Errors
    /// The refusal that counts, or a refusal because no request was given to bind the bundle to.
    pub fn accepted(self) -> Result<AcceptedCall, AisRefusal> {
        match self.refusal() {
            Some(refusal) => Err(refusal.clone()),
            None if !self.bound => Err(AisRefusal::new(
                AisCode::IbeBindingMismatch,
                "no request was given to bind it to",
            )),
            None => Ok(self.accepted),
        }
    }

    /// Returns everything as JSON: `{verdict, code?, message?, details?, bundle, checks}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = match self.refusal() {
            Some(refusal) => {
                let mut refused = refusal.to_json();
                refused["verdict"] = json!("refuse");
                refused
            }
            None if self.bound => json!({ "verdict": "accept" }),
            None => json!({ "verdict": "unbound" }),
        };
        object["bundle"] = self.accepted.to_json();
        object["checks"] = self.checks.iter().map(GuardCheck::to_json).collect();
        object
    }
}

impl AcceptedCall {
    /// Returns the reference of the step, as in the envelope.
    #[must_use]
    pub fn step(&self) -> &str {
        &self.step
    }

    /// Returns the nonce to use up.
    #[must_use]
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Returns the end of the envelope.
    #[must_use]
    pub fn expires(&self) -> UtcTime {
        self.expires
    }

    /// Returns the data for a record: names, step, signers (`kid`), nonce, end, times of the list.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let listed = |list: &[(AisArtifact, String)]| -> Value {
            let pairs = list.iter().map(|(artifact, name)| {
                (artifact.as_str().to_ascii_lowercase(), Value::from(name.as_str()))
            });
            Value::Object(pairs.collect())
        };
        json!({
            "ids": listed(&self.names),
            "signers": listed(&self.signers),
            "step": self.step,
            "nonce": self.nonce,
            "exp": self.expires.to_string(),
            "crl": self.crl.as_ref().map(|crl| json!({
                "issued": crl.issued.to_string(),
                "expires": crl.expires.to_string(),
            })),
        })
    }
}
