//! Why a key cannot be used, in words for whoever can mend it. No message may hold a byte of a private
//! key.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

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
        let (path, problem) = match self {
            Self::Io { path, act, source } => (path, format!("{act}: {source}")),
            Self::NotAFile { path } => (path, "not a regular file".to_owned()),
            Self::TooLarge { path } => (path, "too large for a key file".to_owned()),
            Self::Exposed { path, mode } => (
                path,
                format!(
                    "mode {mode:04o} lets others at the private key; begin anew (docs/keys.md, a \
                     key that somebody else may have), or chmod 600 if nobody can have read it"
                ),
            ),
            Self::Owner { path, uid } => {
                (path, format!("belongs to uid {uid}, not to this user or root"))
            }
            Self::Writable { path, mode } => (
                path,
                format!(
                    "mode {mode:04o} lets others change what is trusted; chmod go-w, if nobody \
                     can have changed it"
                ),
            ),
            Self::Format { path, source } => {
                (path, format!("not an OpenSSH private key: {source}"))
            }
            Self::NotP256 { path } => {
                (path, "not an ECDSA P-256 key without a passphrase".to_owned())
            }
            Self::NotEd25519 { path } => {
                (path, "not a whole Ed25519 key without a passphrase".to_owned())
            }
            Self::Halves { path } => (path, "private and public half are of two keys".to_owned()),
            Self::Orphan { path } => (path, ORPHAN.to_owned()),
            Self::OtherKey { path } => (path, OTHER_KEY.to_owned()),
            Self::Generate { path, source } => (path, format!("making a new key: {source}")),
            Self::Retired { path, line } => {
                let path = path.display();
                return write!(f, "{path}, line {line}: no line of a key that was retired");
            }
            Self::Unfinished { path } => (path, unfinished(path)),
            Self::Agent(error) => return error.fmt(f),
            Self::AgentKind { key, wanted } => return write!(f, "{key}: no {wanted}"),
            Self::Custody(error) => {
                return write!(f, "this process: keeping it from being dumped: {error}");
            }
        };
        write!(f, "{}: {problem}", path.display())
    }
}

const ORPHAN: &str =
    "its private key is gone; restore it, or move this file away to have a new key made";
const OTHER_KEY: &str = "is of another key than the one that is used; use that one, or move this \
                         file away to have it made again";

fn unfinished(path: &Path) -> String {
    format!(
        "a change of keys was interrupted; finish it with: toolexec keys rotate --key {} (--state \
         or --config of these keys)",
        path.file_stem().unwrap_or_default().display()
    )
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
