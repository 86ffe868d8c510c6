//! Errors of keys. No message may contain a byte of a private key.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::key_model::{AgentError, KeyFingerprint};

/// The reason why a key cannot be used. The message begins with the file or with the agent.
#[derive(Debug)]
pub enum KeyError {
    /// A file operation failed.
    Io {
        path: PathBuf,
        act: &'static str,
        source: io::Error,
    },
    /// Not a regular file.
    NotAFile {
        path: PathBuf,
    },
    /// The file exceeds the limit of its kind.
    TooLarge {
        path: PathBuf,
    },
    /// Other users can access a private key.
    Exposed {
        path: PathBuf,
        mode: u32,
    },
    /// Neither this user nor root owns a private key.
    Owner {
        path: PathBuf,
        uid: u32,
    },
    /// Other users can write to a key directory or to a public file in it.
    Writable {
        path: PathBuf,
        mode: u32,
    },
    /// Not an OpenSSH private key.
    Format {
        path: PathBuf,
        source: ssh_key::Error,
    },
    /// Not an unlocked ECDSA P-256 key.
    NotP256 {
        path: PathBuf,
    },
    /// Not an unlocked Ed25519 key.
    NotEd25519 {
        path: PathBuf,
    },
    /// The private and the public half do not match.
    Halves {
        path: PathBuf,
    },
    /// A public key without its private key.
    Orphan {
        path: PathBuf,
    },
    /// A public file of another key than the one in use.
    OtherKey {
        path: PathBuf,
    },
    /// A new key could not be generated.
    Generate {
        path: PathBuf,
        source: ssh_key::Error,
    },
    /// An invalid line in a file of retired keys.
    Retired {
        path: PathBuf,
        line: usize,
    },
    /// A key rotation that was interrupted.
    Unfinished {
        path: PathBuf,
    },
    /// The agent failed.
    Agent(AgentError),
    /// The agent's key is not of the kind that the result key or the log key needs.
    AgentKind {
        key: KeyFingerprint,
        wanted: &'static str,
    },
    /// The process could not be made non-dumpable.
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
