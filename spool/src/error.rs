//! What can go wrong in the spool: the object first, then the act.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::ledger::LedgerFault;
use crate::want::Want;

/// An act on one file or directory that failed.
#[derive(Debug)]
pub enum SpoolError {
    Io {
        path: PathBuf,
        act: &'static str,
        error: io::Error,
    },
    /// Not a regular file with one link: nothing of it was read.
    FileKind {
        path: PathBuf,
        kind: &'static str,
    },
    TooLarge {
        path: PathBuf,
        bytes_max: u64,
    },
    /// Another daemon works on this spool.
    Busy {
        path: PathBuf,
    },
    /// It holds other bytes than its person has seen.
    Changed {
        path: PathBuf,
    },
    /// A ledger line that is not one of ours.
    LedgerLine {
        path: PathBuf,
        line: usize,
    },
    /// A ledger that cannot be relied on.
    Ledger {
        path: PathBuf,
        fault: LedgerFault,
    },
    /// A sync failed: what of it is on the disk nobody knows. It is never a want of room that can be waited for.
    Unsynced {
        path: PathBuf,
        error: io::Error,
    },
    /// Another directory has taken the place of the one that was locked.
    Replaced {
        path: PathBuf,
    },
    /// An earlier failure to make something durable: nothing more is.
    Stopped {
        path: PathBuf,
    },
    /// What others drop here could not be taken away again.
    NotOurs {
        path: PathBuf,
    },
}

impl SpoolError {
    pub(crate) fn io(path: &Path, act: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { path, act, error }
    }

    /// The same for errors that are bare errnos.
    pub(crate) fn errno(
        path: &Path,
        act: &'static str,
    ) -> impl FnOnce(rustix::io::Errno) -> Self + use<> {
        let path = path.to_owned();
        move |errno| Self::Io { path, act, error: errno.into() }
    }

    pub(crate) fn unsynced(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Unsynced { path, error }
    }

    pub(crate) fn ledger(path: &Path, fault: LedgerFault) -> Self {
        Self::Ledger { path: path.to_owned(), fault }
    }

    /// The shortage behind this error, if waiting can end it. Waiting never repairs a failed sync.
    #[must_use]
    pub fn want(&self) -> Option<Want> {
        match self {
            Self::Io { error, .. } => Want::of(error),
            _ => None,
        }
    }

    /// Whether the disk has no room left.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.want() == Some(Want::Room)
    }

    /// Whether this process lacked memory or the rest of a call for a moment. It says nothing of the object.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        use rustix::io::Errno;
        let wants = [Errno::NOMEM, Errno::INTR, Errno::AGAIN];
        let code = match self {
            Self::Io { error, .. } => error.raw_os_error(),
            _ => None,
        };
        wants.iter().any(|errno| Some(errno.raw_os_error()) == code)
    }

    /// Whether the object is there and is somebody's who does not let us read it.
    #[must_use]
    pub fn is_closed_to_us(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Whether somebody wrote to the object while its person looked at it.
    #[must_use]
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Changed { .. })
    }

    /// The object.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::FileKind { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Busy { path }
            | Self::Changed { path }
            | Self::LedgerLine { path, .. }
            | Self::Ledger { path, .. }
            | Self::Unsynced { path, .. }
            | Self::Stopped { path }
            | Self::Replaced { path }
            | Self::NotOurs { path } => path,
        }
    }

    /// Whether the object is not there.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for SpoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, act, error } => write!(f, "{}: {act}: {error}", path.display()),
            Self::FileKind { path, kind } => {
                write!(
                    f,
                    "{}: is {kind}; only regular files with one link are read",
                    path.display()
                )
            }
            Self::TooLarge { path, bytes_max } => {
                write!(f, "{}: is larger than {bytes_max} bytes", path.display())
            }
            Self::Busy { path } => {
                write!(
                    f,
                    "{}: another daemon works on this spool (or an embedded run does); stop it first",
                    path.display()
                )
            }
            Self::Changed { path } => {
                write!(f, "{}: was changed meanwhile; look at it again", path.display())
            }
            Self::LedgerLine { path, line } => {
                write!(f, "{}:{line}: not a ledger line; {}", path.display(), ledger_help(path))
            }
            Self::Unsynced { path, error } => write!(
                f,
                "{}: make durable: {error}; help: check the disk, and start again",
                path.display()
            ),
            Self::Ledger { path, fault } => {
                write!(f, "{}: {fault}; {}", path.display(), ledger_help(path))
            }
            Self::Replaced { path } => write!(
                f,
                "{}: is not the file that this daemon locked; its directory was replaced",
                path.display()
            ),
            Self::Stopped { path } => write!(
                f,
                "{}: something could not be made durable before; nothing more is",
                path.display()
            ),
            Self::NotOurs { path } => write!(
                f,
                "{}: must belong to this user, or be writable and not sticky: requests that were \
                 taken could not be removed",
                path.display()
            ),
        }
    }
}

/// What to do about a ledger that cannot be relied on.
fn ledger_help(path: &Path) -> String {
    let state = path.parent().unwrap_or(path).display();
    format!(
        "nothing is run; help: put back the newest copy of the ledger, or have it rebuilt with \
         `toolexec doctor --spool DIR --state {state} --rebuild-ledger` (docs/spool.md)"
    )
}

impl std::error::Error for SpoolError {}
