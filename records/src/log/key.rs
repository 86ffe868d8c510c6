//! The log's key and name: one Ed25519 key, held here or by an agent, that signs checkpoints and
//! rotations, and the formats of its public half. The private half goes only into the key file.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use model::Sha256;
use ssh_key::private::{Ed25519Keypair, KeypairData};
use ssh_key::public::{Ed25519PublicKey, KeyData};
use ssh_key::{HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

use crate::agent::AgentKey;
use crate::key_model::KeyFingerprint;
use crate::key_model::SigningError;
use crate::log::note_key::{note_id, note_key, short_id, verifier_line};
use crate::spki;

const ORIGIN_BYTES_MAX: usize = 253;
/// The type of an Ed25519 key in a signed note.
const ED25519: u8 = 1;

/// The name of a log: a bare host name in lower case. Stock verifiers derive it from the host of a
/// URL, so a path, a port or a capital letter would be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOrigin(String);

/// The error for a text that is not a lower-case host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnOrigin;

impl fmt::Display for NotAnOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a log name; help: use a host name in lower case, without scheme, port or path",
        )
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
    /// Returns the name of a log whose host has no name.
    #[must_use]
    pub fn localhost() -> Self {
        Self("localhost".to_owned())
    }

    /// Returns the name as text.
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

/// The key that signs a log's checkpoints. A local key is zeroed on drop.
pub struct LogKey {
    holder: LogKeyHolder,
    public: PublicLogKey,
}

enum LogKeyHolder {
    /// Boxed, because a move would leave copies behind.
    Local(Box<SigningKey>),
    Agent(Box<AgentKey>),
}

impl LogKey {
    /// Makes a key from this seed, which must be random.
    #[must_use]
    pub fn from_seed(origin: LogOrigin, seed: &[u8; 32]) -> Self {
        let signing = Box::new(SigningKey::from_bytes(seed));
        let public = PublicLogKey { origin, key: signing.verifying_key() };
        Self { holder: LogKeyHolder::Local(signing), public }
    }

    pub(crate) fn generate(origin: LogOrigin) -> Self {
        // The pair is zeroed on drop, unlike a plain seed.
        let pair = Ed25519Keypair::random(&mut rand_core::OsRng);
        Self::from_seed(origin, pair.private.as_ref())
    }

    /// Accepts an unlocked Ed25519 key with matching halves.
    pub(crate) fn from_private(origin: LogOrigin, private: &PrivateKey) -> Option<Self> {
        let KeypairData::Ed25519(pair) = private.key_data() else { return None };
        let key = Self::from_seed(origin, pair.private.as_ref());
        (key.public.key.as_bytes() == &pair.public.0).then_some(key)
    }

    /// Accepts an Ed25519 key of an agent.
    pub(crate) fn from_agent(origin: LogOrigin, key: AgentKey) -> Option<Self> {
        let public = PublicLogKey::from_key(origin, key.public())?;
        Some(Self { holder: LogKeyHolder::Agent(Box::new(key)), public })
    }

    /// Returns the public half.
    #[must_use]
    pub fn public(&self) -> &PublicLogKey {
        &self.public
    }

    pub(crate) fn sign(&self, text: &str) -> Result<[u8; 64], SigningError> {
        match &self.holder {
            LogKeyHolder::Local(signing) => Ok(signing.sign(text.as_bytes()).to_bytes()),
            LogKeyHolder::Agent(key) => {
                let signature = Signature::try_from(&key.sign(text.as_bytes())?)?.to_bytes();
                // Verify as strictly as every reader of the log.
                let fits = self.public.accepts(text, &signature);
                if fits { Ok(signature) } else { Err(ssh_key::Error::Crypto.into()) }
            }
        }
    }

    pub(crate) fn sshsig(&self, namespace: &str, message: &[u8]) -> Result<SshSig, SigningError> {
        match &self.holder {
            LogKeyHolder::Local(signing) => {
                let private = PrivateKey::from(Ed25519Keypair::from(&**signing));
                Ok(private.sign(namespace, HashAlg::Sha512, message)?)
            }
            LogKeyHolder::Agent(key) => key.sshsig(namespace, message),
        }
    }

    pub(crate) fn is_in_agent(&self) -> bool {
        matches!(self.holder, LogKeyHolder::Agent(_))
    }

    /// Returns the OpenSSH private key file, which is zeroed on drop; `None` for a key of an agent.
    pub(crate) fn openssh_file(
        &self,
    ) -> Result<Option<impl std::ops::Deref<Target = String> + use<>>, ssh_key::Error> {
        let LogKeyHolder::Local(signing) = &self.holder else { return Ok(None) };
        PrivateKey::from(Ed25519Keypair::from(&**signing)).to_openssh(LineEnding::LF).map(Some)
    }
}

impl fmt::Debug for LogKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogKey({})", self.public.verifier_line())
    }
}

/// A log's name and the public half of its key. They suffice to verify the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicLogKey {
    origin: LogOrigin,
    key: VerifyingKey,
}

impl PublicLogKey {
    /// Parses `name+hash+key` (C2SP signed-note); `None` for any other text and for a weak key.
    #[must_use]
    pub fn from_verifier_line(line: &str) -> Option<Self> {
        let (origin, _, key) = note_key(line, ED25519)?;
        Some(Self { origin: origin.parse().ok()?, key })
    }

    /// Accepts an Ed25519 key that is not weak.
    pub(crate) fn from_key(origin: LogOrigin, key: &PublicKey) -> Option<Self> {
        let key = VerifyingKey::from_bytes(&key.key_data().ed25519()?.0).ok()?;
        (!key.is_weak()).then_some(Self { origin, key })
    }

    pub(crate) fn key(&self) -> PublicKey {
        PublicKey::new(KeyData::Ed25519(Ed25519PublicKey(self.key.to_bytes())), "")
    }

    /// Returns `SHA256:…`, as `ssh-keygen -l` prints it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        KeyFingerprint::of(&self.key()).to_string()
    }

    /// Returns the log's name.
    #[must_use]
    pub fn origin(&self) -> &LogOrigin {
        &self.origin
    }

    /// Returns the SHA-256 over name and key: the log's id in Sigstore's files. Its first four
    /// bytes are the key id in signed notes.
    #[must_use]
    pub fn id(&self) -> Sha256 {
        note_id(&self.origin.0, ED25519, &self.key)
    }

    pub(crate) fn short_id(&self) -> [u8; 4] {
        short_id(&self.origin.0, ED25519, &self.key)
    }

    /// Returns `name+hash+key`, the format of C2SP's tools.
    #[must_use]
    pub fn verifier_line(&self) -> String {
        verifier_line(&self.origin.0, ED25519, &self.key)
    }

    /// Returns `ssh-ed25519 AAAA…`.
    #[must_use]
    pub fn openssh_line(&self) -> String {
        // Encoding a key of a known type into memory cannot fail.
        self.key().to_openssh().unwrap_or_default().trim_end().to_owned()
    }

    /// Returns the key as SPKI PEM, for `openssl`.
    #[must_use]
    pub fn pem(&self) -> String {
        spki::pem(&self.spki())
    }

    pub(crate) fn spki(&self) -> Vec<u8> {
        spki::ED25519_HEAD.iter().chain(self.key.as_bytes()).copied().collect()
    }

    pub(crate) fn accepts(&self, text: &str, signature: &[u8; 64]) -> bool {
        self.key.verify_strict(text.as_bytes(), &Signature::from_bytes(signature)).is_ok()
    }
}
