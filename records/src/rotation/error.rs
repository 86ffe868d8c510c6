//! Errors of key rotations. No message may contain a byte of a private key.

use std::fmt;
use std::path::PathBuf;

use model::UtcTime;

use crate::key_error::HostKeyError;
use crate::key_model::SigningError;
use crate::log::{KeyChangeError, KeyRole, LogError};

/// The reason why a key was not rotated. The active key is unchanged unless stated otherwise.
#[derive(Debug)]
pub enum RotationError {
    /// A key cannot be used.
    Key(HostKeyError),
    /// The log failed.
    Log(LogError),
    /// The rotation was not signed.
    Signing(SigningError),
    /// `<key>.change` is not a valid rotation.
    Change(PathBuf, KeyChangeError),
    /// A file of another key than the one in use.
    OtherKey(PathBuf),
    /// The new key was retired before.
    RetiredKey(String),
    /// A rotation of the other role was interrupted.
    OtherUnfinished(KeyRole),
    /// The clock is behind the last rotation.
    Clock(UtcTime),
    /// The source cannot hold such a new key.
    Source(&'static str),
    /// Two new keys: one in the place of the active key, one in this file next to it.
    TwoNewKeys(PathBuf),
    /// systemd provides other credentials than at the start.
    CredentialsChanged,
}

impl fmt::Display for RotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
            Self::Signing(error) => write!(f, "key rotation: cannot sign: {error}"),
            Self::Change(path, fault) => {
                write!(f, "{}: {fault}; help: restore the file from a backup", path.display())
            }
            Self::OtherKey(path) => write!(
                f,
                "{}: belongs to another key than the active one; help: restore the keys from a \
                 backup",
                path.display()
            ),
            Self::RetiredKey(key) => {
                write!(f, "{key}: retired before; help: rotate to a key that was never active")
            }
            Self::OtherUnfinished(role) => write!(
                f,
                "{role} key: its rotation was interrupted; help: finish it first with `toolexec \
                 keys rotate --key {role}` and the --state or --config of these keys"
            ),
            Self::Clock(last) => write!(
                f,
                "the clock is behind the last rotation of this key at {last}; help: set the clock"
            ),
            Self::Source(why) => f.write_str(why),
            Self::TwoNewKeys(path) => write!(
                f,
                "{}: a second new key, next to the one in the active key's place; help: remove one \
                 of them",
                path.display()
            ),
            Self::CredentialsChanged => f.write_str(
                "systemd credentials: the keys changed since the start; help: rotate keys in their \
                 source (docs/keys.md), then restart the daemon",
            ),
        }
    }
}

impl std::error::Error for RotationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Key(source) => Some(source),
            Self::Log(source) => Some(source),
            Self::Signing(source) => Some(source),
            Self::Change(_, source) => Some(source),
            _ => None,
        }
    }
}

impl From<HostKeyError> for RotationError {
    fn from(error: HostKeyError) -> Self {
        Self::Key(error)
    }
}

impl From<LogError> for RotationError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}
