//! Publishing: a result is gathered under a hidden name and appears whole, by one rename.
//!
//! Everything is written through the open directory: a results directory that is taken away meanwhile
//! is an error, never a second directory with half a result in it.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, mkdirat, openat};
use validator::ResultId;

use crate::claim::remove_tree;
use crate::durable;
use crate::error::SpoolError;
use crate::places::Spool;

/// A result that is being gathered, as `.new-<result_id>` in the results directory.
#[must_use]
pub struct ResultDraft {
    result_id: ResultId,
    hidden: PathBuf,
    results: PathBuf,
    /// Locked for as long as this lives, so that recovery can tell it from a leftover.
    directory: File,
}

/// The proof that a result is published, durably.
#[must_use]
#[derive(Debug)]
pub struct Receipt {
    path: PathBuf,
    result_id: ResultId,
}

impl Receipt {
    /// The directory of the published result.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }
}

/// What became of the files in `approved/` after their story was told.
#[must_use]
#[derive(Debug)]
pub enum Originals {
    /// They are where they belong now.
    Gone,
    /// The `.md` is still there, and this is why. It must not be taken again.
    Left(SpoolError),
}

impl Spool {
    /// Begins to gather a result. `None` if a result of this id exists or is being gathered: result
    /// ids have whole seconds in them, and the caller takes a later one.
    ///
    /// # Errors
    /// The disk.
    pub fn draft_result(&self, result_id: &ResultId) -> Result<Option<ResultDraft>, SpoolError> {
        Self::draft_result_in(self.results(), result_id)
    }

    /// The same in another results directory: that of a run which was begun there.
    ///
    /// # Errors
    /// The disk.
    pub fn draft_result_in(
        results: &Path,
        result_id: &ResultId,
    ) -> Result<Option<ResultDraft>, SpoolError> {
        let results = results.to_owned();
        let hidden = results.join(format!(".new-{result_id}"));
        if results.join(result_id.as_str()).exists() {
            return Ok(None);
        }
        match DirBuilder::new().mode(0o755).create(&hidden) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(SpoolError::io(&hidden, "make")(error)),
        }
        let directory = File::open(&hidden).map_err(SpoolError::io(&hidden, "open"))?;
        flock(&directory, FlockOperation::NonBlockingLockExclusive)
            .map_err(SpoolError::errno(&hidden, "lock"))?;
        Ok(Some(ResultDraft { result_id: result_id.clone(), hidden, results, directory }))
    }
}

impl ResultDraft {
    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// Where streams and artifacts go.
    #[must_use]
    pub fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// The first `bytes_max` bytes of a file gathered here.
    ///
    /// # Errors
    /// The disk; a file that is not there is an error too.
    pub fn head(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, SpoolError> {
        let path = self.hidden.join(name);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&self.directory, name, flags, Mode::empty());
        let file = File::from(opened.map_err(SpoolError::errno(&path, "open"))?);
        let mut head = Vec::new();
        file.take(bytes_max).read_to_end(&mut head).map_err(SpoolError::io(&path, "read"))?;
        Ok(head)
    }

    /// Adds one file, by its path relative to the result: a name, or a directory and a name.
    ///
    /// # Errors
    /// The disk.
    pub fn add(&self, name: &str, bytes: &[u8]) -> Result<(), SpoolError> {
        let path = self.hidden.join(name);
        let written = || -> io::Result<()> {
            let (parent, last) = self.place(name)?;
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat(&parent, last, flags, Mode::from_raw_mode(0o644))?;
            File::from(file).write_all(bytes)
        };
        written().map_err(SpoolError::io(&path, "write"))
    }

    fn place<'a>(&self, name: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let Some((directory, last)) = name.split_once('/') else {
            return Ok((self.directory.as_fd().try_clone_to_owned()?, name));
        };
        match mkdirat(&self.directory, directory, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok((openat(&self.directory, directory, flags, Mode::empty())?, last))
    }

    /// Removes one file again: what a full disk left of it.
    ///
    /// # Errors
    /// The disk; also a file that is not there.
    pub fn take_back(&self, name: &str) -> Result<(), SpoolError> {
        let removed = rustix::fs::unlinkat(&self.directory, name, AtFlags::empty());
        removed.map_err(SpoolError::errno(&self.hidden.join(name), "remove"))
    }

    /// Throws away everything gathered, to say less in the same place.
    ///
    /// # Errors
    /// The disk.
    pub fn clear(&self) -> Result<(), SpoolError> {
        let cleared = || -> io::Result<()> {
            for entry in fs::read_dir(&self.hidden)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    fs::remove_dir_all(entry.path())?;
                } else {
                    fs::remove_file(entry.path())?;
                }
            }
            Ok(())
        };
        cleared().map_err(SpoolError::io(&self.hidden, "clear"))
    }

    /// Makes everything gathered durable: the first half of the barrier.
    ///
    /// # Errors
    /// The disk. A full one may say so only now.
    pub fn settle(&self) -> Result<(), SpoolError> {
        durable::sync_tree(&self.hidden).map_err(SpoolError::io(&self.hidden, "make durable"))
    }

    /// The second barrier: when this returns the result is there, whole and durable.
    ///
    /// # Errors
    /// The disk; then nothing is visible.
    pub fn publish(self) -> Result<Receipt, SpoolError> {
        self.settle()?;
        let path = self.results.join(self.result_id.as_str());
        durable::rename_new(&self.hidden, &path).map_err(SpoolError::io(&path, "publish"))?;
        durable::sync_dir(&self.results).map_err(SpoolError::io(&self.results, "make durable"))?;
        Ok(Receipt { path, result_id: self.result_id })
    }

    /// Takes everything back; nothing of it was ever visible.
    pub fn discard(self) {
        remove_tree(&self.hidden);
    }
}
