//! Publishing: a result is collected under a hidden name and appears whole, by one rename.
//! Everything is written through the open directory: if the results directory is removed meanwhile,
//! the write fails and never creates a second directory with half a result.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use model::ResultId;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, mkdirat, openat};

use crate::assigned_ids::assign_id;
use crate::barrier::Barrier;
use crate::beneath::{remove_tree, try_remove_tree};
use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::paths::Spool;
use crate::sync;

/// The prefix of a result whose record did not verify, before its id. The operator examines it.
pub(crate) const UNVERIFIED_PREFIX: &str = ".unverified-";

/// A result that is being collected, as `.new-<result_id>` in the results directory.
#[must_use]
pub struct ResultDraft {
    result_id: ResultId,
    hidden: PathBuf,
    results: PathBuf,
    /// Locked while this process or the launcher uses it: recovery sees that it is not a leftover.
    directory: File,
}

/// The proof that a result is published durably.
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

    /// Returns the id of the result.
    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }
}

/// The state of the files in `approved/` after their request was recorded.
#[must_use]
#[derive(Debug)]
pub enum SubmissionState {
    /// They are in their final places.
    Removed,
    /// The `.md` could not be removed, for this reason. It must not be claimed again.
    NotRemoved(SpoolError),
}

/// A result that has its name, which a power cut may still undo.
#[must_use]
pub struct PlacedResult {
    path: PathBuf,
    results: PathBuf,
    result_id: ResultId,
}

impl Spool {
    /// Makes this result durable if the spool syncs files one by one. Otherwise [`Self::commit`]
    /// syncs all at once. A full disk may only be reported here.
    ///
    /// # Errors
    /// An I/O error.
    pub fn sync_result(&self, result: &ResultDraft) -> Result<(), SpoolError> {
        match self.barrier() {
            Barrier::Each => self.barrier().pass(&[&result.hidden]),
            Barrier::FileSystems(_) => Ok(()),
        }
    }

    /// The first half of the second barrier. When this returns, the collected results are durable,
    /// with everything else written to the covered file systems.
    ///
    /// # Errors
    /// An I/O error. No result may be given its name then.
    pub fn commit(&self, results: &[&ResultDraft]) -> Result<(), SpoolError> {
        let trees: Vec<&Path> = results.iter().map(|one| one.hidden.as_path()).collect();
        self.barrier().pass(&trees)
    }

    /// The second half. When this returns, the results are visible, whole and durable.
    ///
    /// # Errors
    /// The disk.
    pub fn commit_names(&self, placed: Vec<PlacedResult>) -> Result<Vec<Receipt>, SpoolError> {
        let directories: BTreeSet<&Path> = placed.iter().map(|one| one.results.as_path()).collect();
        self.barrier().pass_names(&directories.into_iter().collect::<Vec<_>>())?;
        let receipt = |one: PlacedResult| {
            reach(Failpoint::PublishedDurable);
            Receipt { path: one.path, result_id: one.result_id }
        };
        Ok(placed.into_iter().map(receipt).collect())
    }

    /// Begins to collect a result. Returns `None` if a result of this id exists or is being
    /// collected in a results directory of this state. The caller then takes a later second.
    ///
    /// # Errors
    /// The disk.
    pub fn draft_result(&self, result_id: &ResultId) -> Result<Option<ResultDraft>, SpoolError> {
        let Some(draft) = Self::draft_result_in(self.results(), result_id)? else {
            return Ok(None);
        };
        match assign_id(self.state_dir(), result_id) {
            Ok(true) => Ok(Some(draft)),
            given => {
                draft.discard();
                given.map(|_| None)
            }
        }
    }

    /// Begins to collect a run's result in its directory. Returns `None` if the id is taken there.
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
            Err(error) => return Err(SpoolError::io(&hidden, "create")(error)),
        }
        let directory = File::open(&hidden).map_err(SpoolError::io(&hidden, "open"))?;
        flock(&directory, FlockOperation::NonBlockingLockExclusive)
            .map_err(SpoolError::errno(&hidden, "lock"))?;
        // Another process may have published it between the check and the mkdir.
        if results.join(result_id.as_str()).exists() {
            remove_tree(&hidden);
            return Ok(None);
        }
        Ok(Some(ResultDraft { result_id: result_id.clone(), hidden, results, directory }))
    }
}

impl ResultDraft {
    /// Returns the id of the result.
    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// Returns the directory for streams and artifacts.
    #[must_use]
    pub fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Returns the first `bytes_max` bytes of a collected file.
    ///
    /// # Errors
    /// An I/O error, also if the file does not exist.
    pub fn head(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, SpoolError> {
        let path = self.hidden.join(name);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&self.directory, name, flags, Mode::empty());
        let file = File::from(opened.map_err(SpoolError::errno(&path, "open"))?);
        let mut head = Vec::new();
        file.take(bytes_max).read_to_end(&mut head).map_err(SpoolError::io(&path, "read"))?;
        Ok(head)
    }

    /// Adds one file by its path in the result: a name, or a directory and a name.
    ///
    /// # Errors
    /// The disk.
    pub fn add(&self, name: &str, bytes: &[u8]) -> Result<(), SpoolError> {
        let path = self.hidden.join(name);
        let written = || -> io::Result<()> {
            let (parent, last) = self.open_parent(name)?;
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat(&parent, last, flags, Mode::from_raw_mode(0o644))?;
            File::from(file).write_all(bytes)
        };
        written().map_err(SpoolError::io(&path, "write"))
    }

    fn open_parent<'a>(&self, name: &'a str) -> io::Result<(OwnedFd, &'a str)> {
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

    /// Removes one file if it exists, such as one left incomplete by a full disk.
    ///
    /// # Errors
    /// The disk.
    pub fn remove_file(&self, name: &str) -> Result<(), SpoolError> {
        match rustix::fs::unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(errno) => Err(SpoolError::errno(&self.hidden.join(name), "remove")(errno)),
        }
    }

    /// Removes one directory with its content, if it exists.
    ///
    /// # Errors
    /// The disk.
    pub fn remove_directory(&self, name: &str) -> Result<(), SpoolError> {
        let path = self.hidden.join(name);
        try_remove_tree(&path).map_err(SpoolError::io(&path, "remove"))
    }

    /// Deletes everything collected, so that a shorter result can be written in the same place.
    ///
    /// # Errors
    /// The disk.
    pub fn clear(&self) -> Result<(), SpoolError> {
        self.clear_except(&[])
    }

    /// Deletes the files of a record, and keeps the output of its tool.
    ///
    /// # Errors
    /// The disk.
    pub fn clear_record(&self) -> Result<(), SpoolError> {
        self.clear_except(&["stdout", "stderr", "artifacts", "work"])
    }

    fn clear_except(&self, kept: &[&str]) -> Result<(), SpoolError> {
        let cleared = || -> io::Result<()> {
            for entry in fs::read_dir(&self.hidden)? {
                let entry = entry?;
                if entry.file_name().to_str().is_some_and(|name| kept.contains(&name)) {
                    continue;
                }
                if entry.file_type()?.is_dir() {
                    try_remove_tree(&entry.path())?;
                } else {
                    fs::remove_file(entry.path())?;
                }
            }
            Ok(())
        };
        cleared().map_err(SpoolError::io(&self.hidden, "clear"))
    }

    /// Moves everything to another hidden path, returned for the operator, and begins again.
    ///
    /// # Errors
    /// The disk.
    pub fn keep_unverified(self) -> Result<(PathBuf, Self), SpoolError> {
        let kept = self.results.join(format!("{UNVERIFIED_PREFIX}{}", self.result_id));
        sync::rename_new(&self.hidden, &kept).map_err(SpoolError::io(&kept, "rename"))?;
        let Self { result_id, hidden, results, .. } = self;
        match Spool::draft_result_in(&results, &result_id)? {
            Some(anew) => Ok((kept, anew)),
            None => Err(SpoolError::io(&hidden, "create")(io::ErrorKind::AlreadyExists.into())),
        }
    }

    /// Gives the result its name, which makes it visible. It must be durable before.
    ///
    /// # Errors
    /// An I/O error. Nothing is visible then.
    pub fn place(self) -> Result<PlacedResult, SpoolError> {
        let path = self.results.join(self.result_id.as_str());
        sync::rename_new(&self.hidden, &path).map_err(SpoolError::io(&path, "publish"))?;
        reach(Failpoint::Published);
        Ok(PlacedResult { path, results: self.results, result_id: self.result_id })
    }

    /// Deletes the draft. Nothing of it was ever visible.
    pub fn discard(self) {
        remove_tree(&self.hidden);
    }
}
