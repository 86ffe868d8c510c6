//! Verifies the record of a build: form, subject, and the signature by the key that it names.
//! The policy decides whether this key may build.

use ed25519_dalek::{Signature, VerifyingKey};
use model::Sha256;
use policies::{KeyKind, SignerKey};
use ssh_key::PublicKey;

use super::error::BuildRecordError;
use super::form::{BuildStatement, parse};
use super::sign::BuildEnvelopeForm;
use crate::base64;
use crate::dsse::{PAYLOAD_TYPE, pae};
use crate::result_key::PublicResultKey;

/// The limit of the file.
const RECORD_BYTES_MAX: usize = 64 * 1024;

/// Proof that a key signed these facts about an environment. The key may be anyone's.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildRecord {
    stated: BuildStatement,
    key: SignerKey,
}

impl BuildRecord {
    /// Returns the facts of the build.
    #[must_use]
    pub fn stated(&self) -> &BuildStatement {
        &self.stated
    }

    /// Returns the key that signed them.
    #[must_use]
    pub fn key(&self) -> &SignerKey {
        &self.key
    }
}

/// Verifies the record of the environment with this digest.
///
/// # Errors
/// The first [`BuildRecordError`].
pub fn verify_build_record(bytes: &[u8], sha256: Sha256) -> Result<BuildRecord, BuildRecordError> {
    if bytes.len() > RECORD_BYTES_MAX {
        return Err(BuildRecordError::TooLarge);
    }
    let form: BuildEnvelopeForm =
        serde_json::from_slice(bytes).map_err(|_| BuildRecordError::Form)?;
    let BuildEnvelopeForm { payload_type, payload, signatures: [signature] } = form;
    if payload_type != PAYLOAD_TYPE {
        return Err(BuildRecordError::Field("payloadType"));
    }
    let payload = base64::decode(&payload).ok_or(BuildRecordError::Field("payload"))?;
    let made = base64::decode(&signature.sig).ok_or(BuildRecordError::Field("sig"))?;
    let (stated, key) = parse(&payload)?;
    if signature.keyid != key.fingerprint() {
        return Err(BuildRecordError::OtherKey);
    }
    if !accepts(&key, &pae(PAYLOAD_TYPE, &payload), &made) {
        return Err(BuildRecordError::Signature);
    }
    match stated.environment.sha256 == sha256 {
        true => Ok(BuildRecord { stated, key }),
        false => Err(BuildRecordError::OtherEnvironment),
    }
}

/// Returns whether the key made the signature. A security key cannot sign DSSE.
fn accepts(key: &SignerKey, message: &[u8], signature: &[u8]) -> bool {
    let Ok(public) = PublicKey::from_bytes(key.blob()) else { return false };
    match key.kind() {
        KeyKind::Ed25519 => ed25519_accepts(&public, message, signature),
        KeyKind::P256 => {
            PublicResultKey::from_key(&public).is_some_and(|key| key.accepts(message, signature))
        }
        KeyKind::SkEd25519 | KeyKind::SkP256 => false,
    }
}

fn ed25519_accepts(public: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
    let key = public.key_data().ed25519().and_then(|key| VerifyingKey::from_bytes(&key.0).ok());
    let Some(key) = key else { return false };
    let Ok(signature) = Signature::from_slice(signature) else { return false };
    key.verify_strict(message, &signature).is_ok()
}
