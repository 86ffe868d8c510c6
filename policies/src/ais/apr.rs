//! The Alignment Proof: a verifier's word that a plan serves an intent. Its numbers must never be
//! believed where they can be computed again.

use serde::Deserialize;

use super::artifact::Artifact;
use super::field::{Fraction, Text, Uri};
use super::seal::Content;

/// The one method that this host can compute itself (seed, section 4).
pub const SEMANTIC_ENTAILMENT_V1: &str = "semantic-entailment-v1";

/// A proof of alignment (seed, section 4).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apr {
    /// Its name.
    pub id: Uri,
    /// The intent.
    pub uia: Uri,
    /// The plan.
    pub apa: Uri,
    /// How it was found.
    pub method: Text,
    /// What was found.
    pub evidence: Evidence,
}

/// What a verifier found.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The part of the steps that serve the intent.
    pub coverage: Fraction,
    /// How dangerous the plan is.
    pub risk: Fraction,
    /// What whoever acts on it must also do.
    #[serde(default)]
    pub obligations: Vec<Text>,
}

impl Content for Apr {
    const ARTIFACT: Artifact = Artifact::Apr;
}
