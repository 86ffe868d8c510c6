//! Key types that several files share: fingerprints, keys with their validity, and signing errors.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use model::UtcTime;
use ssh_key::{HashAlg, PublicKey};

/// The longest message that OpenSSH's agent accepts. It rejects a longer one without a reply.
pub(crate) const MESSAGE_BYTES_MAX: usize = 256 * 1024;

/// The fingerprint of a key, as `ssh-keygen -l` prints it: `SHA256:` and 43 digits of base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFingerprint(pub(crate) [u8; 32]);

/// The error for a text that is not a SHA-256 fingerprint of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAFingerprint;

impl fmt::Display for NotAFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a fingerprint of the form SHA256:…; help: print it with `ssh-add -l`")
    }
}

impl std::error::Error for NotAFingerprint {}

impl FromStr for KeyFingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        let fingerprint: ssh_key::Fingerprint = text.parse().map_err(|_| NotAFingerprint)?;
        fingerprint.sha256().map(Self).ok_or(NotAFingerprint)
    }
}

impl fmt::Display for KeyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ssh_key::Fingerprint::Sha256(self.0).fmt(f)
    }
}

impl KeyFingerprint {
    pub(crate) fn of(key: &PublicKey) -> Self {
        Self(key.fingerprint(HashAlg::Sha256).sha256().unwrap_or_default())
    }
}

/// The reason why an agent did not sign. The message begins with its socket.
#[derive(Debug)]
pub struct AgentError {
    pub(crate) socket: PathBuf,
    pub(crate) problem: AgentProblem,
}

#[derive(Debug)]
pub(crate) enum AgentProblem {
    Io(&'static str, io::Error),
    /// No complete reply within this time.
    Timeout(Duration),
    /// More bytes to sign than an agent accepts.
    TooLarge(usize),
    /// A reply that breaks the protocol.
    InvalidReply(&'static str),
    NoKey(KeyFingerprint),
    NoKeyList,
    Refused(KeyFingerprint),
    /// A signature that does not verify with this key.
    InvalidSignature(KeyFingerprint),
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent {}: ", self.socket.display())?;
        match &self.problem {
            AgentProblem::Io(act, error) => {
                write!(f, "cannot {act}: {error}; help: check that the agent runs at this socket")
            }
            AgentProblem::Timeout(within) => write!(
                f,
                "no reply within {} seconds; help: unlock or restart the agent",
                within.as_secs()
            ),
            AgentProblem::TooLarge(bytes) => write!(
                f,
                "{bytes} bytes to sign; an agent accepts messages of at most {MESSAGE_BYTES_MAX} \
                 bytes; help: use a key file"
            ),
            AgentProblem::InvalidReply(what) => {
                write!(f, "invalid reply: {what}; help: use another agent")
            }
            AgentProblem::NoKey(key) => {
                write!(f, "does not hold key {key}; help: add it with `ssh-add`")
            }
            AgentProblem::NoKeyList => {
                write!(f, "refuses to list its keys; help: unlock it with `ssh-add -X`")
            }
            AgentProblem::Refused(key) => write!(
                f,
                "refuses to sign with {key}; help: unlock it with `ssh-add -X`, or confirm the use \
                 of the key"
            ),
            AgentProblem::InvalidSignature(key) => write!(
                f,
                "returned a signature that does not verify with {key}; help: use another agent"
            ),
        }
    }
}

impl AgentError {
    pub(crate) fn is_too_large(&self) -> bool {
        matches!(self.problem, AgentProblem::TooLarge(_))
    }
}

impl std::error::Error for AgentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            AgentProblem::Io(_, source) => Some(source),
            _ => None,
        }
    }
}

/// A public key and its validity, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatedKey<K> {
    pub(crate) key: K,
    pub(crate) valid_after: Option<UtcTime>,
    pub(crate) valid_before: Option<UtcTime>,
}

impl<K> DatedKey<K> {
    /// Returns the key.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Returns the start; `None` for the first key.
    #[must_use]
    pub fn valid_after(&self) -> Option<UtcTime> {
        self.valid_after
    }

    /// Returns the end; `None` for the active key.
    #[must_use]
    pub fn valid_before(&self) -> Option<UtcTime> {
        self.valid_before
    }
}

/// The reason why nothing was signed.
#[derive(Debug)]
pub enum SigningError {
    /// The local key failed.
    Key(ssh_key::Error),
    /// The agent failed.
    Agent(AgentError),
}

impl fmt::Display for SigningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(error) => write!(f, "{error}; help: report this as a bug"),
            Self::Agent(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SigningError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Key(source) => Some(source),
            Self::Agent(source) => Some(source),
        }
    }
}

impl From<ssh_key::Error> for SigningError {
    fn from(error: ssh_key::Error) -> Self {
        Self::Key(error)
    }
}

impl From<AgentError> for SigningError {
    fn from(error: AgentError) -> Self {
        Self::Agent(error)
    }
}
