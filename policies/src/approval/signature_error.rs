//! The reasons why a signature proves nothing, as messages. None may show untrusted text unescaped.

use std::fmt;

use super::key::{KeyKind, SignerKeyError};
use super::webauthn::WebauthnProblem;
use super::wire::WireFormatError;

/// The reason why a signature proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SignatureError {
    /// More than [`SIGNATURE_BYTES_MAX`](super::SIGNATURE_BYTES_MAX).
    TooLarge,
    /// Not the armour and the fields of an SSH signature.
    NotASignature,
    /// A version of the signature format (PROTOCOL.sshsig) other than 1.
    Version(u32),
    /// A hash other than sha256 and sha512.
    Hash(String),
    /// A key that may not sign.
    Key(SignerKeyError),
    /// A signature of another kind than its key.
    Mismatch(KeyKind),
    /// A signature of other bytes or by another key.
    Unverified {
        /// The claimed key, `SHA256:…`.
        fingerprint: String,
    },
    /// The security key signed without being touched.
    NoTouch {
        /// The security key, `SHA256:…`.
        fingerprint: String,
    },
    /// A passkey signed, and the statement of its browser is not one that may count.
    Webauthn {
        /// The passkey, `SHA256:…`.
        fingerprint: String,
        /// The part of the statement.
        problem: WebauthnProblem,
    },
    /// A passkey signed for a use that accepts none.
    Passkey {
        /// The passkey, `SHA256:…`.
        fingerprint: String,
    },
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("larger than 16 KiB"),
            Self::NotASignature => f.write_str("not an SSH signature"),
            Self::Version(version) => write!(f, "version {version} is not supported"),
            Self::Hash(name) => {
                let shown = model::escape_line(name);
                write!(f, "made with hash `{shown}`, not sha256 or sha512")
            }
            Self::Key(error) => error.fmt(f),
            Self::Mismatch(kind) => {
                write!(f, "the signature type does not match its key, {}", kind.as_str())
            }
            Self::Unverified { fingerprint } => {
                write!(f, "does not verify over these bytes with key {fingerprint}")
            }
            Self::NoTouch { fingerprint } => {
                write!(f, "security key {fingerprint} signed without a touch")
            }
            Self::Webauthn { fingerprint, problem } => {
                write!(f, "passkey {fingerprint} signed, but {problem}")
            }
            Self::Passkey { fingerprint } => {
                write!(f, "{fingerprint} is a passkey, which does not count for this use")
            }
        }
    }
}

impl std::error::Error for SignatureError {}

impl From<WireFormatError> for SignatureError {
    fn from(_: WireFormatError) -> Self {
        Self::NotASignature
    }
}
