//! The source of a host's two keys, and the only place where they are opened. Keys of two sources
//! must never be mixed, and a failing source is never replaced by another.

use std::path::{Path, PathBuf};

use crate::agent::AgentKey;
use crate::key_error::HostKeyError;
use crate::key_files::{KeyDirectory, KeyFileOwner};
use crate::key_model::KeyFingerprint;
use crate::key_protection;
use crate::log::{LogKey, LogOrigin};
use crate::result_key::ResultKey;
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
pub struct HostKeys {
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

impl HostKeys {
    /// Opens both keys, or makes them if the source is [`KeySource::Directory`], and publishes the
    /// public halves. From then on other processes of the user cannot dump or trace this one.
    ///
    /// # Errors
    /// Any [`HostKeyError`]. No existing file is replaced or repaired.
    pub fn open_or_create(source: &KeySource, origin: &LogOrigin) -> Result<Self, HostKeyError> {
        key_protection::keep_memory_private().map_err(HostKeyError::Protection)?;
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
                let keys = KeyDirectory::open(directory, KeyFileOwner::Credentials)?;
                let (result, log) = (ResultKey::open_in(&keys)?, LogKey::open_in(&keys, origin)?);
                Self { result, log }
            }
            KeySource::Agent { socket, result, log, .. } => Self {
                result: agent_result_key(socket, *result)?,
                log: agent_log_key(socket, *log, origin)?,
            },
        };
        result_key_files::publish(&public, &keys.result.public())?;
        log_key_files::publish(&public, keys.log.public())?;
        Ok(keys)
    }

    /// Opens both keys of a source. Makes and writes nothing.
    pub fn open(source: &KeySource, origin: &LogOrigin) -> Result<Self, HostKeyError> {
        let (directory, owner) = match source {
            KeySource::Directory(directory) => (directory, KeyFileOwner::ThisUser),
            KeySource::Credentials { directory, .. } => (directory, KeyFileOwner::Credentials),
            KeySource::Agent { socket, result, log, .. } => {
                let result = agent_result_key(socket, *result)?;
                return Ok(Self { result, log: agent_log_key(socket, *log, origin)? });
            }
        };
        let keys = KeyDirectory::open(directory, owner)?;
        Ok(Self { result: ResultKey::open_in(&keys)?, log: LogKey::open_in(&keys, origin)? })
    }
}

pub(crate) fn agent_result_key(
    socket: &Path,
    key: KeyFingerprint,
) -> Result<ResultKey, HostKeyError> {
    let wanted = "ECDSA P-256 key, which the result key must be";
    let unfit = |_| HostKeyError::AgentKind { key, wanted };
    ResultKey::from_agent(AgentKey::open(socket, key)?).map_err(unfit)
}

pub(crate) fn agent_log_key(
    socket: &Path,
    key: KeyFingerprint,
    origin: &LogOrigin,
) -> Result<LogKey, HostKeyError> {
    let wanted = "Ed25519 key, which the log key must be";
    let found = LogKey::from_agent(origin.clone(), AgentKey::open(socket, key)?);
    found.ok_or(HostKeyError::AgentKind { key, wanted })
}
