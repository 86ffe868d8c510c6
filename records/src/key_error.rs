//! Why a key cannot be used, in words for whoever can mend it. No message may hold a byte of a private
//! key.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::key_model::{AgentError, KeyFingerprint};

/// Why a key cannot be used. The message begins with the file, or with the agent.
#[derive(Debug)]
pub enum KeyError {
    Io {
        path: PathBuf,
        act: &'static str,
        source: io::Error,
    },
    NotAFile {
        path: PathBuf,
    },
    TooLarge {
        path: PathBuf,
    },
    Exposed {
        path: PathBuf,
        mode: u32,
    },
    Owner {
        path: PathBuf,
        uid: u32,
    },
    /// A directory of keys, or a public file in it, that others can change.
    Writable {
        path: PathBuf,
        mode: u32,
    },
    Format {
        path: PathBuf,
        source: ssh_key::Error,
    },
    NotP256 {
        path: PathBuf,
    },
    NotEd25519 {
        path: PathBuf,
    },
    Halves {
        path: PathBuf,
    },
    Orphan {
        path: PathBuf,
    },
    OtherKey {
        path: PathBuf,
    },
    Generate {
        path: PathBuf,
        source: ssh_key::Error,
    },
    /// A line of the keys that are in force no longer.
    Retired {
        path: PathBuf,
        line: usize,
    },
    /// A change of keys that began and did not end.
    Unfinished {
        path: PathBuf,
    },
    Agent(AgentError),
    /// What the agent has under the fingerprint of the result key, or of the log's.
    AgentKind {
        key: KeyFingerprint,
        wanted: &'static str,
    },
    /// The process cannot be kept from being dumped.
    Custody(io::Error),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, act, source } => write!(f, "{}: {act}: {source}", path.display()),
            Self::NotAFile { path } => write!(f, "{}: not a regular file", path.display()),
            Self::TooLarge { path } => write!(f, "{}: too large for a key file", path.display()),
            Self::Exposed { path, mode } => write!(
                f,
                "{}: mode {mode:04o} lets others at the private key; begin anew (docs/keys.md, a key \
                 that somebody else may have), or chmod 600 if nobody can have read it",
                path.display()
            ),
            Self::Owner { path, uid } => {
                write!(f, "{}: belongs to uid {uid}, not to this user or root", path.display())
            }
            Self::Writable { path, mode } => write!(
                f,
                "{}: mode {mode:04o} lets others change what is trusted; chmod go-w, if nobody can \
                 have changed it",
                path.display()
            ),
            Self::Format { path, source } => {
                write!(f, "{}: not an OpenSSH private key: {source}", path.display())
            }
            Self::NotP256 { path } => {
                write!(f, "{}: not an ECDSA P-256 key without a passphrase", path.display())
            }
            Self::NotEd25519 { path } => {
                write!(f, "{}: not a whole Ed25519 key without a passphrase", path.display())
            }
            Self::Halves { path } => {
                write!(f, "{}: private and public half are of two keys", path.display())
            }
            Self::Orphan { path } => write!(
                f,
                "{}: its private key is gone; restore it, or move this file away to \
                 have a new key made",
                path.display()
            ),
            Self::OtherKey { path } => write!(
                f,
                "{}: is of another key than the one that is used; use that one, or move this file \
                 away to have it made again",
                path.display()
            ),
            Self::Generate { path, source } => {
                write!(f, "{}: making a new key: {source}", path.display())
            }
            Self::Retired { path, line } => {
                write!(f, "{}, line {line}: no line of a key that was retired", path.display())
            }
            Self::Unfinished { path } => write!(
                f,
                "{}: a change of keys was interrupted; finish it with: toolexec keys rotate --key \
                 {} (--state or --config of these keys)",
                path.display(),
                path.file_stem().unwrap_or_default().display()
            ),
            Self::Agent(error) => error.fmt(f),
            Self::AgentKind { key, wanted } => write!(f, "{key}: no {wanted}"),
            Self::Custody(error) => {
                write!(f, "this process: keeping it from being dumped: {error}")
            }
        }
    }
}

impl std::error::Error for KeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Format { source, .. } | Self::Generate { source, .. } => Some(source),
            Self::Agent(source) => Some(source),
            Self::Custody(source) => Some(source),
            _ => None,
        }
    }
}

impl From<AgentError> for KeyError {
    fn from(error: AgentError) -> Self {
        Self::Agent(error)
    }
}
