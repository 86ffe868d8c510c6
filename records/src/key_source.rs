//! The source of a host's two keys, and the only place where they are opened. Keys of two sources
//! must never be mixed, and a failing source is never replaced by another.

use std::path::{Path, PathBuf};

use crate::agent::AgentKey;
use crate::custody;
use crate::key_error::KeyError;
use crate::key_files::{Custody, KeyDirectory};
use crate::key_model::KeyFingerprint;
use crate::keys::ResultKey;
use crate::log::{LogKey, LogOrigin};
use crate::{log_key_files, result_key_files};

/// The place of the private halves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The files `result` and `log` of a directory, made on first use, with their public halves.
    Directory(PathBuf),
    /// The same files in systemd's `$CREDENTIALS_DIRECTORY`, which is read-only.
    Credentials {
        /// The directory of the private halves.
        directory: PathBuf,
        /// The directory of the public halves.
        public: PathBuf,
    },
    /// An ssh-agent. The process never holds a private byte.
    Agent {
        /// The agent's socket.
        socket: PathBuf,
        /// The result key.
        result: KeyFingerprint,
        /// The log key.
        log: KeyFingerprint,
        /// The directory of the public halves.
        public: PathBuf,
    },
}

/// A host's two keys.
#[derive(Debug)]
pub struct Keys {
    /// Signs records.
    pub result: ResultKey,
    /// Signs the log's checkpoints.
    pub log: LogKey,
}

impl KeySource {
    /// Returns the directory with the public halves of these keys and of their predecessors.
    #[must_use]
    pub fn public(&self) -> &Path {
        match self {
            Self::Directory(public)
            | Self::Credentials { public, .. }
            | Self::Agent { public, .. } => public,
        }
    }
}

impl Keys {
    /// Opens both keys, or makes them if the source is [`KeySource::Directory`], and publishes the
    /// public halves. From then on other processes of the user cannot dump or trace this one.
    ///
    /// # Errors
    /// Any [`KeyError`]. No existing file is replaced or repaired.
    pub fn open_or_create(source: &KeySource, origin: &LogOrigin) -> Result<Self, KeyError> {
        custody::keep_memory_private().map_err(KeyError::Custody)?;
        if let KeySource::Directory(directory) = source {
            let result = ResultKey::open_or_create(directory)?;
            let log = LogKey::open_or_create(directory, origin)?;
            return Ok(Self { result, log });
        }
        let public = KeyDirectory::make(source.public())?;
        public.refuse_unfinished(result_key_files::CHANGE)?;
        public.refuse_unfinished(log_key_files::CHANGE)?;
        let keys = match source {
            KeySource::Directory(directory) | KeySource::Credentials { directory, .. } => {
                let keys = KeyDirectory::open(directory, Custody::Credentials)?;
                let (result, log) = (ResultKey::open_in(&keys)?, LogKey::open_in(&keys, origin)?);
                Self { result, log }
            }
            KeySource::Agent { socket, result, log, .. } => Self {
                result: result_of_agent(socket, *result)?,
                log: log_of_agent(socket, *log, origin)?,
            },
        };
        result_key_files::publish(&public, &keys.result.public())?;
        log_key_files::publish(&public, keys.log.public())?;
        Ok(keys)
    }

    /// Opens both keys of a source. Makes and writes nothing.
    pub fn open(source: &KeySource, origin: &LogOrigin) -> Result<Self, KeyError> {
        let (directory, custody) = match source {
            KeySource::Directory(directory) => (directory, Custody::Ours),
            KeySource::Credentials { directory, .. } => (directory, Custody::Credentials),
            KeySource::Agent { socket, result, log, .. } => {
                let result = result_of_agent(socket, *result)?;
                return Ok(Self { result, log: log_of_agent(socket, *log, origin)? });
            }
        };
        let keys = KeyDirectory::open(directory, custody)?;
        Ok(Self { result: ResultKey::open_in(&keys)?, log: LogKey::open_in(&keys, origin)? })
    }
}

pub(crate) fn result_of_agent(socket: &Path, key: KeyFingerprint) -> Result<ResultKey, KeyError> {
    let wanted = "ECDSA P-256 key, which the result key must be";
    let unfit = |_| KeyError::AgentKind { key, wanted };
    ResultKey::from_agent(AgentKey::open(socket, key)?).map_err(unfit)
}

pub(crate) fn log_of_agent(
    socket: &Path,
    key: KeyFingerprint,
    origin: &LogOrigin,
) -> Result<LogKey, KeyError> {
    let wanted = "Ed25519 key, which the log key must be";
    let found = LogKey::from_agent(origin.clone(), AgentKey::open(socket, key)?);
    found.ok_or(KeyError::AgentKind { key, wanted })
}
