//! The revocation list: which intents and plans count no longer. A list must never be used after its
//! own end, nor before its beginning.

use serde::Deserialize;

use super::artifact::Artifact;
use super::field::{Time, Uri};
use super::seal::Content;

const REVOKED_MAX: usize = 10_000;

/// A revocation list (seed, section 8.1).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crl {
    /// When it was made.
    pub issued: Time,
    /// Until when it holds.
    pub expires: Time,
    /// What counts no longer.
    pub revoked: Vec<Revoked>,
}

/// What can be revoked.
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
pub struct Revoked {
    /// Of what kind it is.
    #[serde(rename = "type")]
    pub kind: RevokedKind,
    /// Its name.
    pub id: Uri,
    /// Why.
    pub reason: Option<String>,
}

impl Crl {
    /// The revocation of this artifact, if there is one.
    #[must_use]
    pub fn revocation_of(&self, kind: RevokedKind, id: &Uri) -> Option<&Revoked> {
        self.revoked.iter().find(|it| it.kind == kind && it.id == *id)
    }
}

impl Content for Crl {
    const ARTIFACT: Artifact = Artifact::Crl;

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
