//! Errors of keys. No message may contain a byte of a private key.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::key_model::{AgentError, KeyFingerprint};
use crate::reason::reason_with_own_file_help;

/// The reason why a key cannot be used. The message begins with the file or with the agent.
#[derive(Debug)]
pub enum HostKeyError {
    /// A file operation failed.
    Io {
        /// The key file or its directory.
        path: PathBuf,
        /// The failed operation, as it follows `cannot` in the message.
        act: &'static str,
        /// The error of the operation; `NotFound` if a required file is missing.
        source: io::Error,
    },
    /// Not a regular file.
    NotAFile {
        /// The object in place of a file with keys.
        path: PathBuf,
    },
    /// The file exceeds the limit of its kind.
    TooLarge {
        /// The file, private or public.
        path: PathBuf,
    },
    /// Other users can access a private key.
    Exposed {
        /// The file of the private key.
        path: PathBuf,
        /// Its permission bits, with set-id and sticky bits.
        mode: u32,
    },
    /// Neither this user nor root owns a private key.
    Owner {
        /// The file of the private key, or its directory.
        path: PathBuf,
        /// The uid of the owner.
        uid: u32,
    },
    /// Other users can write to a key directory or to a public file in it.
    Writable {
        /// The key directory or the file in it.
        path: PathBuf,
        /// Its permission bits, with set-id and sticky bits.
        mode: u32,
    },
    /// Not an OpenSSH private key.
    Format {
        /// The file of the private key, or of a public key that cannot be parsed.
        path: PathBuf,
        /// The error of the OpenSSH parser.
        source: ssh_key::Error,
    },
    /// Not an unlocked ECDSA P-256 key.
    NotP256 {
        /// The file of the result key, private or public.
        path: PathBuf,
    },
    /// Not an unlocked Ed25519 key.
    NotEd25519 {
        /// The file of the log key, private or public.
        path: PathBuf,
    },
    /// The private and the public half do not match.
    HalvesDiffer {
        /// The file of the private key.
        path: PathBuf,
    },
    /// A public key without its private key.
    PrivateKeyMissing {
        /// The file of the public key, which shows that a private key existed.
        path: PathBuf,
    },
    /// A public file of another key than the one in use.
    OtherKey {
        /// The public file.
        path: PathBuf,
    },
    /// A new key could not be generated.
    Generate {
        /// The file of the private key that was to be created.
        path: PathBuf,
        /// The error of the generation or of the OpenSSH encoding.
        source: ssh_key::Error,
    },
    /// An invalid line in a file of retired keys.
    Retired {
        /// The file `retired` in the key directory.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// A key rotation that was interrupted.
    Unfinished {
        /// The file of the rotation: `result.change` or `log.change` in the key directory.
        path: PathBuf,
    },
    /// The agent failed.
    Agent(AgentError),
    /// The agent's key is not of the kind that the result key or the log key needs.
    AgentKind {
        /// The fingerprint of the key, as configured.
        key: KeyFingerprint,
        /// The required kind and use, as they end the message after `not an`.
        wanted: &'static str,
    },
    /// The process could not be made non-dumpable.
    Protection(io::Error),
}

impl fmt::Display for HostKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, problem) = match self {
            Self::Io { path, act, source } => {
                let problem = format!("cannot {act}: {source}");
                (path, reason_with_own_file_help(&problem, source, RESTORE))
            }
            Self::NotAFile { path } => (path, NOT_A_FILE.to_owned()),
            Self::TooLarge { path } => (path, format!("too large for a key file; {RESTORE}")),
            Self::Exposed { path, mode } => (
                path,
                format!(
                    "private key has mode {mode:04o}, accessible to other users; help: run `chmod \
                     600` if no other user can have read it, otherwise replace it (docs/keys.md)"
                ),
            ),
            Self::Owner { path, uid } => (
                path,
                format!(
                    "owned by uid {uid}, not by this user or root; help: change the owner, or run \
                     this as that user"
                ),
            ),
            Self::Writable { path, mode } => (
                path,
                format!(
                    "mode {mode:04o} lets other users write; help: run `chmod go-w` if no other \
                     user can have changed it, otherwise restore it"
                ),
            ),
            Self::Format { path, source } => {
                (path, format!("not an OpenSSH private key: {source}; {RESTORE}"))
            }
            Self::NotP256 { path } => (path, NOT_P256.to_owned()),
            Self::NotEd25519 { path } => (path, NOT_ED25519.to_owned()),
            Self::HalvesDiffer { path } => {
                (path, format!("the public key does not match the private key; {RESTORE}"))
            }
            Self::PrivateKeyMissing { path } => (path, ORPHAN.to_owned()),
            Self::OtherKey { path } => (path, OTHER_KEY.to_owned()),
            Self::Generate { path, source } => {
                (path, format!("cannot generate a key: {source}; help: report this as a bug"))
            }
            Self::Retired { path, line } => {
                let path = path.display();
                return write!(f, "{path}:{line}: not a line of a retired key; {RESTORE}");
            }
            Self::Unfinished { path } => (path, unfinished(path)),
            Self::Agent(error) => return error.fmt(f),
            Self::AgentKind { key, wanted } => {
                return write!(
                    f,
                    "{key}: not an {wanted}; help: add such a key with `ssh-add`, and name its \
                     fingerprint"
                );
            }
            Self::Protection(error) => {
                return write!(
                    f,
                    "this process: cannot disable core dumps: {error}; help: check what confines \
                     it (a container, a systemd unit)"
                );
            }
        };
        write!(f, "{}: {problem}", path.display())
    }
}

const NOT_A_FILE: &str = "not a regular file; help: replace it with the key file";
const NOT_P256: &str = "not an ECDSA P-256 key without a passphrase; help: replace it with one \
                        (docs/keys.md)";
const NOT_ED25519: &str = "not a complete Ed25519 key without a passphrase; help: replace it with \
                           one (docs/keys.md)";
const ORPHAN: &str =
    "the private key is missing; help: restore it, or move this file away to get a new key";
const OTHER_KEY: &str = "belongs to another key than the active one; help: use the matching key, \
                         or move this file away to get a new one";
const RESTORE: &str = "help: restore the file from a backup";

fn unfinished(path: &Path) -> String {
    format!(
        "a key rotation was interrupted; help: finish it with `toolexec keys rotate --key {}` and \
         the --state or --config of these keys",
        path.file_stem().unwrap_or_default().display()
    )
}

impl std::error::Error for HostKeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Format { source, .. } | Self::Generate { source, .. } => Some(source),
            Self::Agent(source) => Some(source),
            Self::Protection(source) => Some(source),
            _ => None,
        }
    }
}

impl From<AgentError> for HostKeyError {
    fn from(error: AgentError) -> Self {
        Self::Agent(error)
    }
}
