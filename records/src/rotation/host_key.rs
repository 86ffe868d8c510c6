//! A private key of either role, held here or by an agent.

use std::sync::Arc;

use crate::key_error::HostKeyError;
use crate::key_files::KeyDirectory;
use crate::log::{KeyRole, LogKey, RotationKey};
use crate::public_keys::PublicHostKey;
use crate::result_key::ResultKey;

/// A private key of either role. Clones share one key, which the last one zeroes on drop.
#[derive(Clone, Debug)]
pub enum HostKey {
    /// A result key.
    Result(Arc<ResultKey>),
    /// A log key.
    Log(Arc<LogKey>),
}

impl From<ResultKey> for HostKey {
    fn from(key: ResultKey) -> Self {
        Self::Result(Arc::new(key))
    }
}

impl From<LogKey> for HostKey {
    fn from(key: LogKey) -> Self {
        Self::Log(Arc::new(key))
    }
}

impl HostKey {
    /// Returns the role of this key.
    #[must_use]
    pub fn role(&self) -> KeyRole {
        match self {
            Self::Result(_) => KeyRole::Result,
            Self::Log(_) => KeyRole::Log,
        }
    }

    pub(super) fn rotation_key(&self) -> RotationKey<'_> {
        match self {
            Self::Result(key) => RotationKey::Result(key),
            Self::Log(key) => RotationKey::Log(key),
        }
    }

    pub(super) fn public(&self) -> PublicHostKey {
        match self {
            Self::Result(key) => PublicHostKey::Result(key.public()),
            Self::Log(key) => PublicHostKey::Log(key.public().clone()),
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        self.role() == other.role() && self.rotation_key().spki() == other.rotation_key().spki()
    }

    pub(super) fn is_in_agent(&self) -> bool {
        match self {
            Self::Result(key) => key.is_in_agent(),
            Self::Log(key) => key.is_in_agent(),
        }
    }

    /// Writes the private half of a local key to this file. Replaces an existing file.
    pub(super) fn write_to(&self, keys: &KeyDirectory, name: &str) -> Result<(), HostKeyError> {
        let failed = |source| HostKeyError::Generate { path: keys.path(name), source };
        match self {
            Self::Result(key) => match key.openssh_file().map_err(failed)? {
                Some(file) => keys.replace_private(name, file.as_bytes()),
                None => Err(keys.missing(name)),
            },
            Self::Log(key) => match key.openssh_file().map_err(failed)? {
                Some(file) => keys.replace_private(name, file.as_bytes()),
                None => Err(keys.missing(name)),
            },
        }
    }
}
