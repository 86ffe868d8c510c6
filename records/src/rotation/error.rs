//! Why a key was not changed, in words for whoever asked for it. No message may hold a byte of a
//! private key.

use std::fmt;
use std::path::PathBuf;

use model::UtcTime;

use crate::key_error::KeyError;
use crate::key_model::SigningError;
use crate::log::{KeyChangeFault, KeyRole, LogError};

/// Why a key was not changed. Nothing is in force that was not before, but where the message says so.
#[derive(Debug)]
pub enum RotationError {
    Key(KeyError),
    Log(LogError),
    Signing(SigningError),
    /// What `<key>.change` holds.
    Change(PathBuf, KeyChangeFault),
    /// A file that is of another key than the one that is used.
    Strange(PathBuf),
    /// A key that was changed for another comes back.
    Returns(String),
    /// Another change before it was interrupted.
    Another(KeyRole),
    /// The clock is behind the last change.
    Clock(UtcTime),
    /// Keys of this kind are not made where they are read.
    Source(&'static str),
    /// A key lies in the place of the one in force, and another one in this file beside it.
    Two(PathBuf),
    /// systemd lends other keys than those of the start.
    Lent,
}

impl fmt::Display for RotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
            Self::Signing(error) => write!(f, "the change of keys: signing: {error}"),
            Self::Change(path, fault) => write!(f, "{}: {fault}", path.display()),
            Self::Strange(path) => {
                write!(f, "{}: is of another key than the one that is used", path.display())
            }
            Self::Returns(key) => write!(f, "{key}: was retired before, and cannot come back"),
            Self::Another(role) => write!(
                f,
                "the {role} key: its change was interrupted; finish that first, with: toolexec keys \
                 rotate --key {role} (--state or --config of these keys)"
            ),
            Self::Clock(last) => write!(
                f,
                "the clock is behind the last change of this key, at {last}; set it right first"
            ),
            Self::Source(why) => f.write_str(why),
            Self::Two(path) => write!(
                f,
                "{}: two new keys wait, this one and the one beside it; help: remove one of them",
                path.display()
            ),
            Self::Lent => f.write_str(
                "systemd lends other keys than at the start; help: change them where they are made \
                 (docs/keys.md), then restart the daemon",
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

impl From<KeyError> for RotationError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<LogError> for RotationError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}
