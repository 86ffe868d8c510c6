//! The Intent-Bound Envelope, which binds one call to a plan and an intent.

use serde::Deserialize;

use super::artifact::AisArtifact;
use super::field::{ArtifactTime, NonEmptyText, Uri};
use super::unverified::ArtifactContent;

const NONCE_BYTES_MAX: usize = 256;
/// Long enough for an identifier of a plan, `#`, and a step.
const STEP_CHARS_MAX: usize = 4096;

/// The binding of one call (seed, section 6).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Ibe {
    /// The identifier, by which records refer to the envelope.
    pub id: Uri,
    /// The intent.
    pub uia_ref: Uri,
    /// The step: its name, or the identifier of the plan, `#`, and its name.
    pub apa_step_ref: NonEmptyText,
    /// The proof.
    pub apr_ref: Uri,
    /// The tool capability assertion.
    pub tca_ref: Uri,
    /// A value that must never be used twice; 1 to 256 printable ASCII characters.
    pub nonce: NonEmptyText,
    /// The end of validity.
    pub exp: ArtifactTime,
}

impl ArtifactContent for Ibe {
    const ARTIFACT: AisArtifact = AisArtifact::Ibe;

    fn check(&self) -> Result<(), String> {
        let nonce = self.nonce.as_str();
        if nonce.len() > NONCE_BYTES_MAX || !nonce.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("`nonce` is not 1 to 256 printable ASCII characters".to_owned());
        }
        if self.apa_step_ref.as_str().chars().count() > STEP_CHARS_MAX {
            return Err("`apaStepRef` has more than 4096 characters".to_owned());
        }
        Ok(())
    }
}
