//! Why the permissions on disk did not do what was asked. Whichever it is: nothing is permitted.

use std::fmt;
use std::path::{Path, PathBuf};

use policies::permissions::Refused;

use crate::error::SpoolError;
use crate::want::Want;

/// An operation that was not done.
#[derive(Debug)]
pub enum StoreError {
    /// By the rules of permissions.
    Refused(Refused),
    /// The disk.
    Disk(SpoolError),
    /// The trail holds what nobody wrote there.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the line begins that cannot be read, in bytes.
        offset: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A write failed, and nobody knows what of it is on the disk; only opening it anew can tell.
    Doubtful {
        /// The file.
        path: PathBuf,
    },
}

impl StoreError {
    /// Whether it was the rules that said no, and not the store that could not.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// The shortage behind this error, if waiting can end it.
    #[must_use]
    pub fn want(&self) -> Option<Want> {
        match self {
            Self::Disk(error) => error.want(),
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

impl From<Refused> for StoreError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<SpoolError> for StoreError {
    fn from(error: SpoolError) -> Self {
        Self::Disk(error)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Disk(error) => error.fmt(f),
            Self::Damaged { path, offset, why } => write!(
                f,
                "{}: byte {offset}: {why}; nothing is permitted until a person has looked at it",
                path.display()
            ),
            Self::Doubtful { path } => write!(
                f,
                "{}: a write failed before; nothing is permitted until it is opened anew",
                path.display()
            ),
        }
    }
}

impl std::error::Error for StoreError {}
