//! JWS in compact form (RFC 7515), restricted to the seed's needs. The header must never choose the
//! verification algorithm. The key determines it, and a header that differs is refused.

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, Mac};
use p256::ecdsa::signature::Verifier;
use serde_json::Value;
use validator::read_json;

use super::model::Algorithm;
use super::public_key::PublicKey;

const HEADER_BYTES_MAX: usize = 1024;
const COMPACT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A compact JWS, split and not verified.
pub(super) struct CompactJws<'a> {
    input: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
    pub(super) algorithm: Algorithm,
    pub(super) kid: Option<String>,
}

impl<'a> CompactJws<'a> {
    /// Reads a signature in its only permitted encoding.
    pub(super) fn read(jws: &'a str) -> Result<Self, String> {
        if jws.len() > COMPACT_BYTES_MAX {
            return Err("the signature is larger than 2 MiB".to_owned());
        }
        let parts: Vec<&str> = jws.split('.').collect();
        let &[header, payload, signature] = parts.as_slice() else {
            return Err("the signature is not a compact JWS of three parts".to_owned());
        };
        let (algorithm, kid) = read_header(&decode(header, "header")?)?;
        let payload = decode(payload, "payload")?;
        let signature = decode(signature, "signature")?;
        let input = &jws[..jws.len() - parts[2].len() - 1];
        Ok(Self { input, payload, signature, algorithm, kid })
    }

    /// Returns whether the payload is exactly these bytes.
    pub(super) fn is_over(&self, payload: &[u8]) -> bool {
        self.payload == payload
    }

    /// Returns whether this key made the signature.
    pub(super) fn is_by(&self, key: &PublicKey) -> bool {
        if self.algorithm != key.algorithm() {
            return false;
        }
        let input = self.input.as_bytes();
        match key {
            PublicKey::Ed25519(key) => {
                let signature = ed25519_dalek::Signature::from_slice(&self.signature);
                signature.is_ok_and(|it| key.verify_strict(input, &it).is_ok())
            }
            PublicKey::P256(key) => {
                // 64 bytes, no zero, and low S. The high S of the same signature is refused, so
                // that a signature cannot be changed into another.
                let signature = p256::ecdsa::Signature::from_slice(&self.signature).ok();
                let low = signature.filter(|it| it.normalize_s().is_none());
                low.is_some_and(|it| key.verify(input, &it).is_ok())
            }
            PublicKey::Secret(secret) => {
                mac(secret, input).is_some_and(|mac| mac.verify_slice(&self.signature).is_ok())
            }
        }
    }
}

/// Returns the HMAC-SHA256 over these bytes. Every key length is valid.
pub(super) fn mac(secret: &[u8], input: &[u8]) -> Option<Hmac<sha2::Sha256>> {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret).ok()?;
    mac.update(input);
    Some(mac)
}

/// Decodes a part. Padding, other alphabets and unused bits that are not zero are refused.
fn decode(part: &str, name: &str) -> Result<Vec<u8>, String> {
    let bytes = Base64UrlUnpadded::decode_vec(part).ok();
    let bytes = bytes.filter(|bytes| Base64UrlUnpadded::encode_string(bytes) == part);
    bytes.ok_or_else(|| format!("the {name} of the signature is not base64url"))
}

fn read_header(bytes: &[u8]) -> Result<(Algorithm, Option<String>), String> {
    let wrong = |what: String| format!("the header of the signature: {what}");
    let header = read_json(bytes, HEADER_BYTES_MAX).map_err(|error| wrong(error.to_string()))?;
    let Value::Object(mut header) = header else { return Err(wrong("not an object".to_owned())) };
    let algorithm = match header.remove("alg") {
        Some(Value::String(name)) => Algorithm::named(&name)
            .ok_or_else(|| wrong(format!("the algorithm `{name}` is not accepted")))?,
        _ => return Err(wrong("`alg` is missing or not text".to_owned())),
    };
    if header.remove("typ") != Some(Value::String("JWT".to_owned())) {
        return Err(wrong("`typ` is not JWT".to_owned()));
    }
    let kid = match header.remove("kid") {
        None => None,
        Some(Value::String(kid)) => Some(kid),
        Some(_) => return Err(wrong("`kid` is not text".to_owned())),
    };
    match header.keys().next() {
        Some(name) => Err(wrong(format!("unknown member `{name}`"))),
        None => Ok((algorithm, kid)),
    }
}
