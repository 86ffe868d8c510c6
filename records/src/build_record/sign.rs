//! Signs the record of a build, and writes its envelope.

use policies::SignerKey;
use serde::{Deserialize, Serialize};

use super::form::{BuildStatement, render};
use super::key::BuilderKey;
use crate::base64;
use crate::dsse::{PAYLOAD_TYPE, pae};
use crate::key_model::SigningError;

/// The envelope of DSSE v1, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BuildEnvelopeForm {
    pub(super) payload_type: String,
    pub(super) payload: String,
    pub(super) signatures: [BuildSignatureForm; 1],
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BuildSignatureForm {
    /// `SHA256:…`, as `ssh-keygen -l` prints it.
    pub(super) keyid: String,
    pub(super) sig: String,
}

/// Returns the text of the file `build.dsse.json`.
///
/// # Errors
/// The key fails.
pub fn sign_build(stated: &BuildStatement, key: &BuilderKey) -> Result<Vec<u8>, SigningError> {
    let payload = render(stated, key.public());
    let signature = key.sign_pae(&pae(PAYLOAD_TYPE, &payload))?;
    Ok(envelope(&payload, &signature, key.public()))
}

pub(super) fn envelope(payload: &[u8], signature: &[u8], key: &SignerKey) -> Vec<u8> {
    let form = BuildEnvelopeForm {
        payload_type: PAYLOAD_TYPE.to_owned(),
        payload: base64::encode(payload),
        signatures: [BuildSignatureForm {
            keyid: key.fingerprint(),
            sig: base64::encode(signature),
        }],
    };
    // Texts are always valid JSON.
    let mut text = serde_json::to_vec(&form).unwrap_or_default();
    text.push(b'\n');
    text
}
