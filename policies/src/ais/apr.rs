//! The Alignment Proof: a verifier's statement that a plan serves an intent. Its numbers must never
//! be trusted if they can be computed again.

use serde::Deserialize;

use super::artifact::AisArtifact;
use super::field::{Fraction, NonEmptyText, Uri};
use super::unverified::ArtifactContent;

/// The only method that this program computes (seed, section 4).
pub const SEMANTIC_ENTAILMENT_V1: &str = "semantic-entailment-v1";

/// A proof of alignment (seed, section 4).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apr {
    /// The identifier, by which the envelope refers to the proof.
    pub id: Uri,
    /// The intent.
    pub uia: Uri,
    /// The plan.
    pub apa: Uri,
    /// The method of the evidence; policy can only accept [`SEMANTIC_ENTAILMENT_V1`].
    pub method: NonEmptyText,
    /// The result of the method, which the guard computes again.
    pub evidence: AlignmentEvidence,
}

/// The result of a verifier.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlignmentEvidence {
    /// The share of steps that serve the intent.
    pub coverage: Fraction,
    /// The risk of the plan, 0 to 1; compared with the host's maximum for the user's level.
    pub risk: Fraction,
    /// Obligations of the executing host.
    #[serde(default)]
    pub obligations: Vec<NonEmptyText>,
}

impl ArtifactContent for Apr {
    const ARTIFACT: AisArtifact = AisArtifact::Apr;
}
