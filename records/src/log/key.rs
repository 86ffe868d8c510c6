//! The log's key and name: one Ed25519 key that signs checkpoints and nothing else, and the forms in
//! which its public half is handed out. The private half must never leave this module but into the
//! key file.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use ssh_key::private::{Ed25519Keypair, KeypairData};
use ssh_key::{LineEnding, PrivateKey};
use validator::{Sha256, UtcTime};

use crate::base64;
use crate::spki;

const ORIGIN_BYTES_MAX: usize = 253;
/// The type of an Ed25519 key in a signed note.
const ED25519: u8 = 1;
/// DER of `SubjectPublicKeyInfo` for an Ed25519 key, up to the key (RFC 8410).
const SPKI_HEAD: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The name of a log: a bare host name in lower case. Stock verifiers make it of a URL's host, so a
/// path, a port or a capital letter would be lost on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOrigin(String);

/// The text is no host name in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnOrigin;

impl fmt::Display for NotAnOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a log is named by a host name in lower case, without scheme, port or path")
    }
}

impl std::error::Error for NotAnOrigin {}

impl FromStr for LogOrigin {
    type Err = NotAnOrigin;

    fn from_str(text: &str) -> Result<Self, NotAnOrigin> {
        let label = |label: &str| {
            let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
            (1..=63).contains(&label.len())
                && label.bytes().all(allowed)
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        let fits = text.len() <= ORIGIN_BYTES_MAX && text.split('.').all(label);
        if fits { Ok(Self(text.to_owned())) } else { Err(NotAnOrigin) }
    }
}

impl LogOrigin {
    /// The name of a log whose host has none.
    #[must_use]
    pub fn localhost() -> Self {
        Self("localhost".to_owned())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LogOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key that signs a log's checkpoints. Zeroed when it is dropped.
pub struct LogKey {
    signing: SigningKey,
    public: PublicLogKey,
}

impl LogKey {
    /// The key with this seed, which must be random.
    #[must_use]
    pub fn from_seed(origin: LogOrigin, seed: &[u8; 32]) -> Self {
        let signing = SigningKey::from_bytes(seed);
        let public = PublicLogKey { origin, key: signing.verifying_key() };
        Self { signing, public }
    }

    /// Accepts an unlocked Ed25519 key whose halves fit each other.
    pub(crate) fn from_private(origin: LogOrigin, private: &PrivateKey) -> Option<Self> {
        let KeypairData::Ed25519(pair) = private.key_data() else { return None };
        let key = Self::from_seed(origin, pair.private.as_ref());
        (key.public.key.as_bytes() == &pair.public.0).then_some(key)
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> &PublicLogKey {
        &self.public
    }

    pub(crate) fn sign(&self, text: &str) -> [u8; 64] {
        self.signing.sign(text.as_bytes()).to_bytes()
    }

    /// The OpenSSH private key file.
    pub(crate) fn openssh_file(
        &self,
    ) -> Result<impl std::ops::Deref<Target = String> + use<>, ssh_key::Error> {
        PrivateKey::from(Ed25519Keypair::from(&self.signing)).to_openssh(LineEnding::LF)
    }
}

impl fmt::Debug for LogKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogKey({})", self.public.verifier_line())
    }
}

/// A log's name and the public half of its key: all that checking its word needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicLogKey {
    origin: LogOrigin,
    key: VerifyingKey,
}

impl PublicLogKey {
    /// Reads `name+hash+key` (C2SP signed-note), as [`Self::verifier_line`] writes it; `None` for
    /// any other text, and for a weak key.
    #[must_use]
    pub fn from_verifier_line(line: &str) -> Option<Self> {
        let (origin, rest) = line.trim_end().split_once('+')?;
        let (id, key) = rest.split_once('+')?;
        let key = base64::decode(key)?;
        let key: &[u8; 32] = key.strip_prefix(&[ED25519])?.try_into().ok()?;
        let key = VerifyingKey::from_bytes(key).ok().filter(|key| !key.is_weak())?;
        let public = Self { origin: origin.parse().ok()?, key };
        (hex4(public.short_id()) == id).then_some(public)
    }

    #[must_use]
    pub fn origin(&self) -> &LogOrigin {
        &self.origin
    }

    /// SHA-256 over name and key: the log's id in Sigstore's files. Its first four bytes are the
    /// key id in signed notes.
    #[must_use]
    pub fn id(&self) -> Sha256 {
        let mut bytes = self.origin.0.clone().into_bytes();
        bytes.extend([b'\n', ED25519]);
        bytes.extend(self.key.as_bytes());
        Sha256::of(&bytes)
    }

    pub(crate) fn short_id(&self) -> [u8; 4] {
        let id = self.id();
        let [a, b, c, d, ..] = *id.as_bytes();
        [a, b, c, d]
    }

    /// `name+hash+key`, as C2SP's tools take a log's key.
    #[must_use]
    pub fn verifier_line(&self) -> String {
        let key: Vec<u8> = std::iter::once(ED25519).chain(*self.key.as_bytes()).collect();
        format!("{}+{}+{}", self.origin, hex4(self.short_id()), base64::encode(&key))
    }

    /// SPKI PEM, for `openssl`.
    #[must_use]
    pub fn pem(&self) -> String {
        spki::pem(&self.spki())
    }

    fn spki(&self) -> Vec<u8> {
        SPKI_HEAD.iter().chain(self.key.as_bytes()).copied().collect()
    }

    pub(crate) fn accepts(&self, text: &str, signature: &[u8; 64]) -> bool {
        self.key.verify_strict(text.as_bytes(), &Signature::from_bytes(signature)).is_ok()
    }

    /// Sigstore's `trusted_root.json` with this log as the only one that is trusted, from this time
    /// on.
    #[must_use]
    pub fn trusted_root(&self, valid_from: UtcTime) -> String {
        let (key, id) = (base64::encode(&self.spki()), base64::encode(self.id().as_bytes()));
        // Written by hand: what is filled in has no character that JSON escapes.
        format!(
            r#"{{
  "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
  "tlogs": [
    {{
      "baseUrl": "https://{}",
      "hashAlgorithm": "SHA2_256",
      "publicKey": {{
        "rawBytes": "{key}",
        "keyDetails": "PKIX_ED25519",
        "validFor": {{ "start": "{valid_from}" }}
      }},
      "logId": {{ "keyId": "{id}" }}
    }}
  ],
  "certificateAuthorities": [],
  "ctlogs": [],
  "timestampAuthorities": []
}}
"#,
            self.origin
        )
    }
}

fn hex4(bytes: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(bytes))
}
