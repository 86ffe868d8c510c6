//! The keys that verify signatures: JWK, PEM or a line of OpenSSH. A key must never exist under
//! which signatures verify that its owner did not make, nor one whose curve is not that of its
//! algorithm.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use p256::elliptic_curve::sec1::FromEncodedPoint;
use p256::pkcs8::DecodePublicKey;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::model::Algorithm;
use crate::approval::{KeyKind, SignerKey};

pub(super) enum PublicKey {
    Ed25519(ed25519_dalek::VerifyingKey),
    P256(p256::ecdsa::VerifyingKey),
    /// A secret shared by signer and verifier.
    Secret(Zeroizing<Vec<u8>>),
}

/// The reason why a value is not a usable key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PublicKeyError {
    /// Neither PEM (`BEGIN PUBLIC KEY`) nor a line of OpenSSH, nor a JWK.
    Form,
    /// A member of a JWK that is missing or wrong.
    Member(&'static str),
    /// A member of a JWK that a trust store does not allow.
    Unknown(String),
    /// A curve or kind that is not accepted.
    Kind,
    /// Not a point of the curve, or one of low order.
    Unsound,
}

impl fmt::Display for PublicKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => {
                f.write_str("no key; help: write a JWK, a PEM `BEGIN PUBLIC KEY` or an SSH line")
            }
            Self::Member(name) => {
                write!(f, "the JWK's `{name}` is missing or wrong; help: export the key again")
            }
            Self::Unknown(name) => {
                let name = model::escape_line(name);
                write!(f, "the JWK has the unknown member `{name}`; help: remove it")
            }
            Self::Kind => f.write_str(
                "neither an Ed25519 nor a P-256 software key; help: use a key of these kinds",
            ),
            Self::Unsound => {
                f.write_str("not a valid point of its curve; help: export the key again")
            }
        }
    }
}

impl std::error::Error for PublicKeyError {}

impl PublicKey {
    /// Returns the only algorithm that verifies under it.
    pub(super) fn algorithm(&self) -> Algorithm {
        match self {
            Self::Ed25519(_) => Algorithm::EdDSA,
            Self::P256(_) => Algorithm::ES256,
            Self::Secret(_) => Algorithm::HS256,
        }
    }

    /// Returns whether both are the same key, regardless of their names.
    pub(super) fn is_same_key(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ed25519(one), Self::Ed25519(two)) => one == two,
            (Self::P256(one), Self::P256(two)) => one == two,
            (Self::Secret(one), Self::Secret(two)) => one == two,
            _ => false,
        }
    }

    /// Reads the value of `key` in a trust store.
    pub(super) fn read(value: &Value) -> Result<Self, PublicKeyError> {
        match value {
            Value::Object(jwk) => Self::from_jwk(jwk),
            Value::String(text) if text.trim_start().starts_with("-----BEGIN") => {
                Self::from_pem(text.trim())
            }
            Value::String(line) => Self::from_openssh(line.trim()),
            _ => Err(PublicKeyError::Form),
        }
    }

    fn from_pem(pem: &str) -> Result<Self, PublicKeyError> {
        if let Ok(key) = p256::PublicKey::from_public_key_pem(pem) {
            return Ok(Self::P256(key.into()));
        }
        let key = ed25519_dalek::VerifyingKey::from_public_key_pem(pem);
        key.map_err(|_| PublicKeyError::Form).and_then(Self::sound)
    }

    fn from_openssh(line: &str) -> Result<Self, PublicKeyError> {
        let key = SignerKey::read(line).map_err(|_| PublicKeyError::Form)?;
        let point = match key.data() {
            ssh_key::public::KeyData::Ed25519(key) => return Self::ed25519(&key.0),
            ssh_key::public::KeyData::Ecdsa(key) if key_is_plain(key) => key.as_sec1_bytes(),
            _ => return Err(PublicKeyError::Kind),
        };
        debug_assert_eq!(key.kind(), KeyKind::P256);
        let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(point);
        key.map(Self::P256).map_err(|_| PublicKeyError::Unsound)
    }

    fn ed25519(point: &[u8; 32]) -> Result<Self, PublicKeyError> {
        let key = ed25519_dalek::VerifyingKey::from_bytes(point);
        key.map_err(|_| PublicKeyError::Unsound).and_then(Self::sound)
    }

    fn sound(key: ed25519_dalek::VerifyingKey) -> Result<Self, PublicKeyError> {
        if key.is_weak() { Err(PublicKeyError::Unsound) } else { Ok(Self::Ed25519(key)) }
    }

    fn from_jwk(jwk: &Map<String, Value>) -> Result<Self, PublicKeyError> {
        let text = |name| jwk.get(name).and_then(Value::as_str);
        let (known, key): (&[&str], _) = match (text("kty"), text("crv")) {
            (Some("OKP"), Some("Ed25519")) => {
                let x = coordinate(jwk, "x")?;
                (&["crv", "x"], Self::ed25519(&x)?)
            }
            (Some("EC"), Some("P-256")) => {
                let (x, y) = (coordinate(jwk, "x")?, coordinate(jwk, "y")?);
                let point = p256::EncodedPoint::from_affine_coordinates(
                    &p256::FieldBytes::from(x),
                    &p256::FieldBytes::from(y),
                    false,
                );
                let key =
                    Option::<p256::PublicKey>::from(p256::PublicKey::from_encoded_point(&point));
                (&["crv", "x", "y"], Self::P256(key.ok_or(PublicKeyError::Unsound)?.into()))
            }
            (Some("oct"), None) => (&["k"], Self::Secret(secret(jwk)?)),
            (Some("OKP" | "EC"), _) => return Err(PublicKeyError::Kind),
            _ => return Err(PublicKeyError::Member("kty")),
        };
        if text("alg").is_some_and(|alg| alg != key.algorithm().as_str()) {
            return Err(PublicKeyError::Member("alg"));
        }
        if text("use").is_some_and(|used| used != "sig") {
            return Err(PublicKeyError::Member("use"));
        }
        let known = |name: &str| ["kty", "alg", "use"].contains(&name) || known.contains(&name);
        match jwk.keys().find(|name| !known(name)) {
            Some(name) => Err(PublicKeyError::Unknown(name.clone())),
            None => Ok(key),
        }
    }
}

fn key_is_plain(key: &ssh_key::public::EcdsaPublicKey) -> bool {
    matches!(key, ssh_key::public::EcdsaPublicKey::NistP256(_))
}

fn coordinate(jwk: &Map<String, Value>, name: &'static str) -> Result<[u8; 32], PublicKeyError> {
    let text = jwk.get(name).and_then(Value::as_str).unwrap_or_default();
    let bytes = Base64UrlUnpadded::decode_vec(text).ok();
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or(PublicKeyError::Member(name))
}

fn secret(jwk: &Map<String, Value>) -> Result<Zeroizing<Vec<u8>>, PublicKeyError> {
    let text = jwk.get("k").and_then(Value::as_str).unwrap_or_default();
    let bytes = Base64UrlUnpadded::decode_vec(text).ok().filter(|bytes| !bytes.is_empty());
    bytes.map(Zeroizing::new).ok_or(PublicKeyError::Member("k"))
}
