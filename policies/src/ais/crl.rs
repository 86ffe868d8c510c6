//! The revocation list of intents and plans. A list must never be used after it expires or before
//! it is issued.

use serde::Deserialize;

use super::artifact::AisArtifact;
use super::field::{ArtifactTime, Uri};
use super::unverified::ArtifactContent;

const REVOKED_MAX: usize = 10_000;

/// A revocation list (seed, section 8.1).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crl {
    /// The time of issue. A list from the future is refused.
    pub issued: ArtifactTime,
    /// The end of validity, later than `issued`.
    pub expires: ArtifactTime,
    /// The revoked intents and plans, at most 10,000.
    pub revoked: Vec<Revocation>,
}

/// The kind of a revoked artifact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RevokedKind {
    /// An intent.
    Uia,
    /// A plan.
    Apa,
}

/// One revocation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    /// The kind of the artifact; `type` in JSON.
    #[serde(rename = "type")]
    pub kind: RevokedKind,
    /// The identifier of the artifact, in any spelling of the same URI.
    pub id: Uri,
    /// The reason as text, for the refusal; `None` if the list states none.
    pub reason: Option<String>,
}

impl Crl {
    /// Returns the revocation of this artifact, if the list contains one.
    #[must_use]
    pub fn revocation_of(&self, kind: RevokedKind, id: &Uri) -> Option<&Revocation> {
        self.revoked.iter().find(|it| it.kind == kind && it.id == *id)
    }
}

impl ArtifactContent for Crl {
    const ARTIFACT: AisArtifact = AisArtifact::Crl;

    fn check(&self) -> Result<(), String> {
        if self.expires <= self.issued {
            return Err("`expires` is not after `issued`".to_owned());
        }
        if self.revoked.len() > REVOKED_MAX {
            return Err(format!("more than {REVOKED_MAX} revocations"));
        }
        Ok(())
    }
}
