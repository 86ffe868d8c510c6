//! Signing: reads a private key or a secret, and makes a compact JWS over any bytes. It must never
//! add to the signed bytes, and never reveal a private byte.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use ed25519_dalek::Signer as _;
use hmac::Mac;
use p256::pkcs8::DecodePrivateKey;
use serde_json::{Map, Value, json};
use ssh_key::private::{EcdsaKeypair, KeypairData};
use zeroize::Zeroizing;

use super::artifact::AisArtifact;
use super::canonical::canonical;
use super::jws::mac;
use super::model::Algorithm;
use super::unverified::signature_member;

/// A signing key. It is wiped from memory when it is dropped.
pub struct SigningKey(SigningKeyKind);

enum SigningKeyKind {
    Ed25519(Box<ed25519_dalek::SigningKey>),
    P256(Box<p256::ecdsa::SigningKey>),
    Secret(Zeroizing<Vec<u8>>),
}

/// The reason why bytes are not a key for this algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SigningKeyError {
    /// Neither PKCS#8 in PEM nor OpenSSH's format.
    Form,
    /// OpenSSH's format, but an incomplete key, or neither Ed25519 nor P-256.
    OpenSsh,
    /// A key of another kind than the algorithm requires.
    Kind(Algorithm),
    /// A key with a passphrase.
    Encrypted,
    /// A secret without any byte before its final line end.
    Empty,
}

impl fmt::Display for SigningKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str(
                "not a private key in PKCS#8 (PEM) or OpenSSH format; help: make one with \
                 `ssh-keygen -t ed25519 -N ''`",
            ),
            Self::OpenSsh => f.write_str(
                "not a readable Ed25519 or P-256 key in OpenSSH format; help: convert a copy of a \
                 P-256 key with `ssh-keygen -p -N '' -m PKCS8 -f COPY`",
            ),
            Self::Kind(algorithm) => write!(
                f,
                "the key cannot sign with {}; help: use a matching key, or another --alg",
                algorithm.as_str()
            ),
            Self::Encrypted => f.write_str(
                "the key has a passphrase; help: use a copy without one that only you can read",
            ),
            Self::Empty => {
                f.write_str("the secret is empty; help: write random bytes into the file")
            }
        }
    }
}

impl std::error::Error for SigningKeyError {}

impl SigningKey {
    /// Makes a key from the bytes of a secret's file, without one final line end.
    ///
    /// # Errors
    /// The secret is empty.
    pub fn from_secret(file: &[u8]) -> Result<Self, SigningKeyError> {
        let secret = file.strip_suffix(b"\n").unwrap_or(file);
        if secret.is_empty() {
            return Err(SigningKeyError::Empty);
        }
        Ok(Self(SigningKeyKind::Secret(Zeroizing::new(secret.to_vec()))))
    }

    /// Reads a private key, Ed25519 or P-256: PKCS#8 in PEM, or as `ssh-keygen` writes it.
    ///
    /// # Errors
    /// [`SigningKeyError`] says what is wrong.
    pub fn from_private(text: &str) -> Result<Self, SigningKeyError> {
        if text.contains("BEGIN OPENSSH PRIVATE KEY") {
            return Self::from_openssh(text);
        }
        if text.contains("BEGIN ENCRYPTED PRIVATE KEY") {
            return Err(SigningKeyError::Encrypted);
        }
        if let Ok(key) = p256::SecretKey::from_pkcs8_pem(text) {
            return Ok(Self(SigningKeyKind::P256(Box::new(key.into()))));
        }
        let key = ed25519_dalek::SigningKey::from_pkcs8_pem(text);
        key.map(|key| Self(SigningKeyKind::Ed25519(Box::new(key))))
            .map_err(|_| SigningKeyError::Form)
    }

    fn from_openssh(text: &str) -> Result<Self, SigningKeyError> {
        let private =
            ssh_key::PrivateKey::from_openssh(text).map_err(|_| SigningKeyError::OpenSsh)?;
        match private.key_data() {
            KeypairData::Encrypted(_) => Err(SigningKeyError::Encrypted),
            KeypairData::Ed25519(pair) => {
                let key = ed25519_dalek::SigningKey::from_bytes(&pair.private.to_bytes());
                Ok(Self(SigningKeyKind::Ed25519(Box::new(key))))
            }
            KeypairData::Ecdsa(EcdsaKeypair::NistP256 { private, .. }) => {
                let key = p256::ecdsa::SigningKey::from_slice(private.as_slice());
                let key = key.map_err(|_| SigningKeyError::OpenSsh)?;
                Ok(Self(SigningKeyKind::P256(Box::new(key))))
            }
            _ => Err(SigningKeyError::OpenSsh),
        }
    }

    /// Returns the algorithm of its signatures.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self.0 {
            SigningKeyKind::Ed25519(_) => Algorithm::EdDSA,
            SigningKeyKind::P256(_) => Algorithm::ES256,
            SigningKeyKind::Secret(_) => Algorithm::HS256,
        }
    }

    /// Returns the same key if it signs with this algorithm.
    ///
    /// # Errors
    /// The key is for another algorithm.
    pub fn for_algorithm(self, algorithm: Algorithm) -> Result<Self, SigningKeyError> {
        if self.algorithm() == algorithm { Ok(self) } else { Err(SigningKeyError::Kind(algorithm)) }
    }

    fn signature(&self, input: &[u8]) -> Vec<u8> {
        match &self.0 {
            SigningKeyKind::Ed25519(key) => key.sign(input).to_bytes().to_vec(),
            SigningKeyKind::P256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(input);
                signature.normalize_s().unwrap_or(signature).to_bytes().to_vec()
            }
            // HMAC takes a key of any length, so the result always exists.
            SigningKeyKind::Secret(secret) => mac(secret, input)
                .map(|mac| mac.finalize().into_bytes().to_vec())
                .unwrap_or_default(),
        }
    }
}

/// Makes a compact JWS over the payload: `b64url(header).b64url(payload).b64url(signature)`. The
/// header is exactly `{"alg":…,"typ":"JWT"}`, or `{"alg":…,"kid":…,"typ":"JWT"}` if a key is named.
#[must_use]
pub fn sign(payload: &[u8], key: &SigningKey, kid: Option<&str>) -> String {
    let mut header = json!({ "alg": key.algorithm().as_str(), "typ": "JWT" });
    if let Some(kid) = kid {
        header["kid"] = Value::from(kid);
    }
    let encode = Base64UrlUnpadded::encode_string;
    let input = format!("{}.{}", encode(&canonical(&header)), encode(payload));
    let signature = key.signature(input.as_bytes());
    format!("{input}.{}", encode(&signature))
}

/// Returns the artifact with its signature. It is signed with `proof` `{}` (the envelope: `sig`
/// `""`), which replaces any previous value.
#[must_use]
pub fn embed(
    artifact: AisArtifact,
    mut object: Map<String, Value>,
    key: &SigningKey,
    kid: Option<&str>,
) -> Value {
    let name = signature_member(artifact);
    let envelope = artifact == AisArtifact::Ibe;
    object.insert(name.to_owned(), if envelope { json!("") } else { json!({}) });
    let mut signed = Value::Object(object);
    let jws = sign(&canonical(&signed), key, kid);
    signed[name] = if envelope { json!(jws) } else { json!({ "jws": jws }) };
    signed
}
