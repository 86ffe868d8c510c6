//! The errors of the spool. Each text names the object first, then the operation.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::ledger::LedgerFault;
use crate::shortage::Shortage;

pub(crate) const HELP_SEPARATOR: &str = "; help: ";

/// A failed operation on one file or directory.
#[derive(Debug)]
pub enum SpoolError {
    /// A system call failed.
    Io {
        /// The file or directory that the operation was on.
        path: PathBuf,
        /// The operation as a verb phrase for the message, such as `open`.
        act: &'static str,
        /// The error of the system call, or of this crate if no call failed.
        error: io::Error,
    },
    /// Not a regular file with one link. Nothing of it was read.
    FileKind {
        /// The refused object.
        path: PathBuf,
        /// The kind of the object with its article, such as `a FIFO`.
        kind: &'static str,
    },
    /// The file is larger than the limit.
    TooLarge {
        /// The path of the file, or the name of a request's file.
        path: PathBuf,
        /// The limit, in bytes: that of the file's kind, or the rest of a total.
        bytes_max: u64,
    },
    /// Another daemon or an embedded run uses this spool.
    Busy {
        /// The lock file: `lock` in the state directory, or `.lock` in the spool.
        path: PathBuf,
    },
    /// The file no longer holds the bytes that the user has seen.
    Changed {
        /// The changed file.
        path: PathBuf,
    },
    /// A line that is not a valid ledger line.
    LedgerLine {
        /// The path of the ledger.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// A ledger that cannot be relied on.
    Ledger {
        /// The path of the ledger, or of its head if that cannot be parsed.
        path: PathBuf,
        /// The fault of the ledger as a whole.
        fault: LedgerFault,
    },
    /// A sync failed, so the state on the disk is unknown. Waiting for disk space never ends this.
    Unsynced {
        /// The synced file or directory; of a file system, one of its directories.
        path: PathBuf,
        /// The error of the sync.
        error: io::Error,
    },
    /// Another directory has replaced the locked one.
    Replaced {
        /// The lock file: `lock` in the state directory, or `.lock` in the spool.
        path: PathBuf,
    },
    /// An earlier sync failed. No later one succeeds.
    EarlierSyncFailed {
        /// The object that was to be synced; `the spool` for a sync of whole file systems.
        path: PathBuf,
    },
    /// The daemon could not remove submissions from this directory.
    CannotRemove {
        /// The resolved path of the directory.
        path: PathBuf,
    },
}

impl SpoolError {
    pub(crate) fn io(path: &Path, act: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { path, act, error }
    }

    /// The same for a bare errno.
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

    /// Another object has the name of a file that is to be submitted.
    pub(crate) fn in_the_way(path: &Path) -> Self {
        let what = "another file of this name is waiting; help: remove it, or wait for the daemon";
        Self::io(path, "submit")(io::Error::new(io::ErrorKind::AlreadyExists, what))
    }

    pub(crate) fn ledger(path: &Path, fault: LedgerFault) -> Self {
        Self::Ledger { path: path.to_owned(), fault }
    }

    /// Returns the shortage that waiting can end. Waiting never repairs a failed sync.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        match self {
            Self::Io { error, .. } => Shortage::of(error),
            _ => None,
        }
    }

    /// Returns whether the disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.shortage() == Some(Shortage::DiskSpace)
    }

    /// Returns whether the failure was momentary (ENOMEM, EINTR, EAGAIN), not the object's.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        use rustix::io::Errno;
        let wants = [Errno::NOMEM, Errno::INTR, Errno::AGAIN];
        let code = match self {
            Self::Io { error, .. } => error.raw_os_error(),
            _ => None,
        };
        wants.iter().any(|errno| Some(errno.raw_os_error()) == code)
    }

    /// Returns whether the same operation may succeed later, without a change of the object.
    #[must_use]
    pub fn is_momentary(&self) -> bool {
        self.shortage().is_some() || self.is_transient()
    }

    /// Returns whether the object was changed while the user was reading it.
    #[must_use]
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Changed { .. })
    }

    /// Returns the text without its help, for a message that has its own.
    #[must_use]
    pub fn problem(&self) -> String {
        let text = self.to_string();
        text.rsplit_once(HELP_SEPARATOR).map_or(text.as_str(), |(problem, _)| problem).to_owned()
    }

    /// Returns the path of the object.
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
            | Self::EarlierSyncFailed { path }
            | Self::Replaced { path }
            | Self::CannotRemove { path } => path,
        }
    }

    /// Returns whether the object does not exist.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for SpoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, act, error } => {
                write!(f, "{}: {act}: {}", path.display(), io_text(error))
            }
            Self::FileKind { path, kind } => write!(
                f,
                "{}: is {kind}, not a regular file with one link; help: replace it with a regular \
                 file",
                path.display()
            ),
            Self::TooLarge { path, bytes_max } => write!(
                f,
                "{}: is larger than {bytes_max} bytes; help: use a smaller file",
                path.display()
            ),
            Self::Busy { path } => {
                write!(
                    f,
                    "{}: another daemon or an embedded run uses this spool; help: stop it first",
                    path.display()
                )
            }
            Self::Changed { path } => write!(
                f,
                "{}: the file changed after it was read; help: read it again, then repeat the \
                 command",
                path.display()
            ),
            Self::LedgerLine { path, line } => {
                write!(f, "{}:{line}: invalid ledger line; {}", path.display(), ledger_help(path))
            }
            Self::Unsynced { path, error } => {
                write!(f, "{}: sync: {error}; help: check the disk, then retry", path.display())
            }
            Self::Ledger { path, fault } => {
                write!(f, "{}: {fault}; {}", path.display(), ledger_help(path))
            }
            Self::Replaced { path } => write!(
                f,
                "{}: not the file that this daemon locked: its directory was replaced; help: \
                 restart the daemon",
                path.display()
            ),
            Self::EarlierSyncFailed { path } => write!(
                f,
                "{}: an earlier sync failed; refusing further writes; help: check the disk and \
                 restart the daemon",
                path.display()
            ),
            Self::CannotRemove { path } => write!(
                f,
                "{}: submissions cannot be removed from this directory; help: make the daemon's \
                 user its owner, or give that user write access and clear the sticky bit",
                path.display()
            ),
        }
    }
}

/// Returns the text of an I/O error with help; some of our own errors have help already.
#[must_use]
pub fn io_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.contains(HELP_SEPARATOR) {
        true => text,
        false => format!("{text}{HELP_SEPARATOR}{}", io_help(error)),
    }
}

fn io_help(error: &io::Error) -> &'static str {
    use io::ErrorKind;
    match (Shortage::of(error), error.kind()) {
        (Some(want), _) => want.remedy(),
        (None, ErrorKind::NotFound | ErrorKind::InvalidFilename) => "check the path",
        (None, ErrorKind::PermissionDenied) => "check the owner and the mode of the path",
        (None, ErrorKind::ReadOnlyFilesystem) => "mount the file system read-write",
        (None, ErrorKind::Interrupted | ErrorKind::OutOfMemory | ErrorKind::WouldBlock) => {
            "try again"
        }
        (None, _) => "check the path and its disk",
    }
}

fn ledger_help(path: &Path) -> String {
    let state = path.parent().unwrap_or(path).display();
    format!(
        "runs are suspended; help: restore the newest copy of the ledger, or rebuild it with \
         `toolexec doctor --spool DIR --state {state} --rebuild-ledger` (docs/spool.md)"
    )
}

impl std::error::Error for SpoolError {}
