//! Errors of the permissions on the disk. After any of them nothing is permitted.

use std::fmt;
use std::path::{Path, PathBuf};

use policies::permissions::PermissionError;

use crate::error::SpoolError;
use crate::shortage::Shortage;

/// The reason why an operation was not done.
#[derive(Debug)]
pub enum PermissionStoreError {
    /// The rules of permissions refused it.
    Refused(PermissionError),
    /// An I/O error.
    Disk(SpoolError),
    /// The trail contains a line that was not written by this program.
    Damaged {
        /// The path of the trail, of its head, or of a replaced lock file.
        path: PathBuf,
        /// The offset of the unreadable line, in bytes.
        offset: u64,
        /// The problem and its help, for the message.
        why: String,
    },
    /// A write failed, so the contents of the disk are unknown until the trail is opened again.
    Uncertain {
        /// The path of the trail.
        path: PathBuf,
    },
}

impl PermissionStoreError {
    /// Returns whether the rules refused the operation, as opposed to a failure of the store.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// Returns the shortage behind this error, if waiting can end it.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        match self {
            Self::Disk(error) => error.shortage(),
            _ => None,
        }
    }

    pub(super) fn disk(path: &Path, act: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let made = SpoolError::io(path, act);
        move |error| Self::Disk(made(error))
    }

    pub(super) fn errno(
        path: &Path,
        act: &'static str,
    ) -> impl FnOnce(rustix::io::Errno) -> Self + use<> {
        let made = SpoolError::errno(path, act);
        move |errno| Self::Disk(made(errno))
    }
}

impl From<PermissionError> for PermissionStoreError {
    fn from(refused: PermissionError) -> Self {
        Self::Refused(refused)
    }
}

impl From<SpoolError> for PermissionStoreError {
    fn from(error: SpoolError) -> Self {
        Self::Disk(error)
    }
}

impl fmt::Display for PermissionStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Disk(error) => error.fmt(f),
            Self::Damaged { path, offset, why } => {
                write!(f, "{}: byte {offset}: permissions are suspended: {why}", path.display())?;
                match why.contains("; help: ") {
                    true => Ok(()),
                    false => f.write_str("; help: restore the newest copy of the trail"),
                }
            }
            Self::Uncertain { path } => write!(
                f,
                "{}: an earlier write failed; permissions are suspended; help: check the disk, \
                 then restart the daemon",
                path.display()
            ),
        }
    }
}

impl std::error::Error for PermissionStoreError {}
