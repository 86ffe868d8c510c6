//! What the guard said, rule by rule, and the proof that it accepted.

use model::UtcTime;
use serde_json::{Value, json};

use super::super::artifact::Artifact;
use super::super::code::{Code, Refusal};
use super::model::{Answer, Case, Said};

/// What a rule looked at may be megabytes of somebody else's.
const SAW_CHARS_MAX: usize = 1000;

model::closed_set! {
    /// The kinds of a verdict, as records name them.
    pub(super) enum VerdictKind {
        /// Nothing against it.
        Passed = "pass",
        /// There was nothing to look at.
        NotAsked = "not_asked",
        /// Refused.
        Refused = "refuse",
    }
}

/// What one rule said.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Nothing against it.
    Passed,
    /// There was nothing to look at, or an earlier rule made it pointless.
    NotAsked,
    /// Refused.
    Refused(Refusal),
}

impl Verdict {
    fn kind(&self) -> VerdictKind {
        match self {
            Self::Passed => VerdictKind::Passed,
            Self::NotAsked => VerdictKind::NotAsked,
            Self::Refused(_) => VerdictKind::Refused,
        }
    }
}

/// One rule, what it looked at, and what it said.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// The rule's name, stable: `uia-signature`, `exp`, `budget`…
    pub rule: &'static str,
    /// What it looked at, one line, escaped.
    pub saw: String,
    /// What it said.
    pub verdict: Verdict,
}

impl Check {
    pub(super) fn of(rule: &'static str, answer: Answer) -> Self {
        match answer {
            Ok(Said::Good(saw)) => {
                let shown: String = saw.chars().take(SAW_CHARS_MAX).collect();
                Self { rule, saw: model::escape_line(&shown), verdict: Verdict::Passed }
            }
            Ok(Said::NotAsked(why)) => {
                Self { rule, saw: why.to_owned(), verdict: Verdict::NotAsked }
            }
            Err(refusal) => {
                Self { rule, saw: refusal.message.clone(), verdict: Verdict::Refused(refusal) }
            }
        }
    }

    /// `{rule, verdict, saw, code?, details?}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let verdict = self.verdict.kind().as_str();
        let mut said = json!({ "rule": self.rule, "saw": self.saw, "verdict": verdict });
        if let Verdict::Refused(refusal) = &self.verdict {
            said["code"] = json!(refusal.code.as_str());
            said["details"] = refusal.details.clone();
        }
        said
    }
}

/// The times of the revocation list that came with the call, for the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StapledCrl {
    /// When it was made.
    pub issued: UtcTime,
    /// Until when it holds.
    pub expires: UtcTime,
}

/// What every rule said.
#[must_use]
#[derive(Debug)]
pub struct Judgement {
    checks: Vec<Check>,
    accepted: Accepted,
    bound: bool,
}

/// The proof that the guard accepted a call. Whoever has it must use up the nonce, durably, before the
/// call is executed, and keep it until [`Accepted::expires`] and the allowed skew are past.
#[must_use]
#[derive(Debug)]
pub struct Accepted {
    names: Vec<(Artifact, String)>,
    signers: Vec<(Artifact, String)>,
    step: String,
    nonce: String,
    expires: UtcTime,
    crl: Option<StapledCrl>,
}

impl Judgement {
    pub(super) fn of(
        case: &Case<'_>,
        checks: Vec<Check>,
        signers: Vec<(Artifact, String)>,
    ) -> Self {
        let (bundle, ibe) = (case.bundle, case.bundle.ibe());
        let names = vec![
            (Artifact::Uia, bundle.uia().id.to_string()),
            (Artifact::Apa, bundle.apa().id.to_string()),
            (Artifact::Apr, bundle.apr().id.to_string()),
            (Artifact::Tca, bundle.tca().id.to_string()),
            (Artifact::Ibe, ibe.id.to_string()),
        ];
        let crl = bundle
            .crl()
            .map(|crl| StapledCrl { issued: crl.issued.utc(), expires: crl.expires.utc() });
        let accepted = Accepted {
            names,
            signers,
            step: ibe.apa_step_ref.to_string(),
            nonce: ibe.nonce.to_string(),
            expires: ibe.exp.utc(),
            crl,
        };
        Self { checks, accepted, bound: case.request.is_some() }
    }

    /// Every rule, in the order in which refusals count.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The times of the stapled revocation list, whatever the rules said; those of a list whose
    /// signature was not good are nobody's word.
    #[must_use]
    pub fn stapled(&self) -> Option<StapledCrl> {
        self.accepted.crl
    }

    /// The refusal that counts; nothing where no rule refuses.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        self.checks.iter().find_map(|check| match &check.verdict {
            Verdict::Refused(refusal) => Some(refusal),
            _ => None,
        })
    }

    /// The proof that no rule refuses.
    ///
    /// # Errors
    ///
    /// The refusal that counts; or that no request was given to bind the bundle to.
    pub fn accepted(self) -> Result<Accepted, Refusal> {
        match self.refusal() {
            Some(refusal) => Err(refusal.clone()),
            None if !self.bound => {
                Err(Refusal::new(Code::IbeBindingMismatch, "no request was given to bind it to"))
            }
            None => Ok(self.accepted),
        }
    }

    /// The whole of it for programs: `{verdict, code?, message?, details?, crl, checks}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut said = match self.refusal() {
            Some(refusal) => {
                let mut said = refusal.to_json();
                said["verdict"] = json!("refuse");
                said
            }
            None if self.bound => json!({ "verdict": "accept" }),
            None => json!({ "verdict": "unbound" }),
        };
        said["bundle"] = self.accepted.to_json();
        said["checks"] = self.checks.iter().map(Check::to_json).collect();
        said
    }
}

impl Accepted {
    /// The step's reference, as the envelope has it.
    #[must_use]
    pub fn step(&self) -> &str {
        &self.step
    }

    /// The nonce to use up.
    #[must_use]
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Until when the envelope holds.
    #[must_use]
    pub fn expires(&self) -> UtcTime {
        self.expires
    }

    /// The times of the stapled revocation list.
    #[must_use]
    pub fn stapled(&self) -> Option<StapledCrl> {
        self.crl
    }

    /// What to keep in a record: names, step, signers (`kid`), nonce, end, times of the list.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let listed = |list: &[(Artifact, String)]| -> Value {
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
            "crl": self.crl.map(|crl| json!({
                "issued": crl.issued.to_string(),
                "expires": crl.expires.to_string(),
            })),
        })
    }
}
