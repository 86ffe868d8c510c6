//! The DSSE envelope of a statement, and its log entry. Nothing may serialize the signed bytes
//! again. A signature must never serve as an identifier: anyone can derive a second valid one.

use model::Sha256;

use crate::base64;
use crate::key_model::SigningError;
use crate::result_key::{PublicResultKey, ResultKey};

pub(crate) const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Returns the signed bytes of a payload (DSSE v1, pre-authentication encoding).
pub(crate) fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// A signed statement: its exact bytes, one signature, and the key that made it.
#[derive(Clone, Debug)]
pub struct DsseEnvelope {
    payload: Vec<u8>,
    /// ASN.1 DER.
    signature: Vec<u8>,
    key: PublicResultKey,
}

impl DsseEnvelope {
    pub(crate) fn sign(payload: Vec<u8>, key: &ResultKey) -> Result<Self, SigningError> {
        let signature = key.sign_pae(&pae(PAYLOAD_TYPE, &payload))?;
        Ok(Self { payload, signature, key: key.public() })
    }

    /// Returns `None` if `accepts` rejects the signature over these bytes by this key.
    pub(crate) fn from_verified(
        payload: Vec<u8>,
        signature: Vec<u8>,
        key: &PublicResultKey,
        accepts: impl FnOnce(&[u8], &[u8]) -> bool,
    ) -> Option<Self> {
        let fits = accepts(&pae(PAYLOAD_TYPE, &payload), &signature);
        fits.then(|| Self { payload, signature, key: key.clone() })
    }

    /// Returns the statement's bytes.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    pub(crate) fn signature(&self) -> &[u8] {
        &self.signature
    }

    pub(crate) fn key(&self) -> &PublicResultKey {
        &self.key
    }

    /// Returns the log entry of this envelope: a `hashedrekord` 0.0.2 of Rekor v2 over the digest
    /// of the signed bytes, in the canonical form of RFC 8785, so each envelope has only one entry.
    #[must_use]
    pub fn log_entry(&self) -> Vec<u8> {
        let digest = Sha256::of(&pae(PAYLOAD_TYPE, &self.payload));
        let digest = base64::encode(digest.as_bytes());
        let signature = base64::encode(&self.signature);
        let key = base64::encode(self.key.spki());
        // Canonical: sorted names, no space, and no value with a character that JSON escapes.
        let entry = format!(
            "{{\"apiVersion\":\"0.0.2\",\"kind\":\"hashedrekord\",\"spec\":{{\"hashedRekordV002\":\
             {{\"data\":{{\"algorithm\":\"SHA2_256\",\"digest\":\"{digest}\"}},\"signature\":\
             {{\"content\":\"{signature}\",\"verifier\":{{\"keyDetails\":\
             \"PKIX_ECDSA_P256_SHA_256\",\"publicKey\":{{\"rawBytes\":\"{key}\"}}}}}}}}}}}}"
        );
        entry.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_of_the_specification() {
        let pae = pae("http://example.com/HelloWorld", b"hello world");
        assert_eq!(pae, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }
}
