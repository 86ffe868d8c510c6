//! Test keys, made from a seed, that sign as `ssh-keygen` and security keys do. The encoding is
//! written out here from the protocols, so that the reader under test does not check itself. A test
//! cannot use a real security key, so tests of `policies` verify these signatures with stock
//! `ssh-keygen`. Crates include this folder by path, for none may depend on `tests/`.

#![allow(dead_code, reason = "each test binary uses its part of the keys")]

pub(crate) mod passkey;

use base64ct::{Base64, Encoding};
use ed25519_dalek::Signer;
use model::Sha256;
use policies::SignatureFile;

/// The flag of a touch.
pub(crate) const PRESENT: u8 = 1;
/// The flag of a PIN or a finger.
pub(crate) const VERIFIED: u8 = 4;

enum SoftSecret {
    Ed25519(Box<ed25519_dalek::SigningKey>),
    P256(p256::ecdsa::SigningKey),
}

pub(crate) struct SoftKey {
    secret: SoftSecret,
    /// The application of a security key.
    application: Option<String>,
    pub(crate) flags: u8,
    pub(crate) counter: u32,
}

fn string(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("short");
    [&length.to_be_bytes()[..], bytes].concat()
}

/// Encodes a positive number without leading zeros, except one if the first bit would be a sign.
fn mpint(bytes: &[u8]) -> Vec<u8> {
    let from = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let bytes = &bytes[from..];
    let sign: &[u8] = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { &[0] } else { &[] };
    string(&[sign, bytes].concat())
}

/// Returns the fields that are in the signed text and in the signature.
fn common_fields(namespace: &str) -> Vec<u8> {
    [string(namespace.as_bytes()), string(b""), string(b"sha256")].concat()
}

/// Returns the bytes that an SSH signature over the message signs.
pub(crate) fn signed_data(namespace: &str, message: &[u8]) -> Vec<u8> {
    let digest = Sha256::of(message);
    [b"SSHSIG", &common_fields(namespace)[..], &string(digest.as_bytes())].concat()
}

/// Returns the bytes inside the armour: the key, the use, and the signature with its type.
fn envelope(public: &[u8], namespace: &str, seal: &[u8]) -> Vec<u8> {
    let common = common_fields(namespace);
    [b"SSHSIG\0\0\0\x01", &string(public)[..], &common, &string(seal)].concat()
}

impl SoftKey {
    pub(crate) fn ed25519(seed: u8) -> Self {
        let key = ed25519_dalek::SigningKey::from_bytes(&[seed; 32]);
        Self { secret: SoftSecret::Ed25519(Box::new(key)), application: None, flags: 0, counter: 0 }
    }

    pub(crate) fn p256(seed: u8) -> Self {
        let key = p256::ecdsa::SigningKey::from_slice(&[seed; 32]).expect("a scalar");
        Self { secret: SoftSecret::P256(key), application: None, flags: 0, counter: 0 }
    }

    /// Returns the same key inside a security key.
    pub(crate) fn in_security_key(self, application: &str, flags: u8, counter: u32) -> Self {
        Self { application: Some(application.to_owned()), flags, counter, ..self }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match (&self.secret, &self.application) {
            (SoftSecret::Ed25519(_), None) => "ssh-ed25519",
            (SoftSecret::P256(_), None) => "ecdsa-sha2-nistp256",
            (SoftSecret::Ed25519(_), Some(_)) => "sk-ssh-ed25519@openssh.com",
            (SoftSecret::P256(_), Some(_)) => "sk-ecdsa-sha2-nistp256@openssh.com",
        }
    }

    pub(crate) fn blob(&self) -> Vec<u8> {
        let mut blob = string(self.kind().as_bytes());
        match &self.secret {
            SoftSecret::Ed25519(key) => blob.extend(string(key.verifying_key().as_bytes())),
            SoftSecret::P256(key) => {
                blob.extend(string(b"nistp256"));
                blob.extend(string(key.verifying_key().to_encoded_point(false).as_bytes()));
            }
        }
        if let Some(application) = &self.application {
            blob.extend(string(application.as_bytes()));
        }
        blob
    }

    /// Returns a P-256 key with a compressed point, which OpenSSH does not read.
    pub(crate) fn public_compressed(&self) -> String {
        let SoftSecret::P256(key) = &self.secret else { panic!("not a P-256 key") };
        let point = key.verifying_key().to_encoded_point(true);
        let parts = [self.kind().as_bytes(), b"nistp256", point.as_bytes()];
        let blob: Vec<u8> = parts.iter().flat_map(|part| string(part)).collect();
        format!("{} {}", self.kind(), Base64::encode_string(&blob))
    }

    pub(crate) fn public(&self) -> String {
        format!("{} {}", self.kind(), Base64::encode_string(&self.blob()))
    }

    /// Returns the bytes inside the armour of a signature.
    pub(crate) fn signature(&self, namespace: &str, message: &[u8]) -> Vec<u8> {
        let seal = self.signature_blob(&signed_data(namespace, message));
        envelope(&self.blob(), namespace, &seal)
    }

    fn signature_blob(&self, signed: &[u8]) -> Vec<u8> {
        let trailer = [&[self.flags][..], &self.counter.to_be_bytes()].concat();
        let (message, trailer) = match &self.application {
            None => (signed.to_vec(), Vec::new()),
            Some(application) => {
                let (application, message) =
                    (Sha256::of(application.as_bytes()), Sha256::of(signed));
                let parts = [application.as_bytes(), &trailer[..], message.as_bytes()];
                (parts.concat(), trailer)
            }
        };
        let raw = match &self.secret {
            SoftSecret::Ed25519(key) => key.sign(&message).to_bytes().to_vec(),
            SoftSecret::P256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(&message);
                let (r, s) = signature.split_bytes();
                [mpint(&r), mpint(&s)].concat()
            }
        };
        [string(self.kind().as_bytes()), string(&raw), trailer].concat()
    }

    pub(crate) fn sign(&self, namespace: &str, message: &[u8]) -> SignatureFile {
        let bytes = armour(&self.signature(namespace, message));
        SignatureFile { name: "r.md.sig".to_owned(), bytes }
    }
}

/// Encodes a signature as `ssh-keygen` writes it.
pub(crate) fn armour(blob: &[u8]) -> Vec<u8> {
    let text = Base64::encode_string(blob);
    let lines: Vec<&str> =
        text.as_bytes().chunks(70).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    let body = lines.join("\n");
    format!("-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n").into_bytes()
}
