//! The saved head of a log, kept outside the log. It distinguishes a log that grew from one that
//! was deleted, truncated or restored from a copy. It must never be ahead of the log, so it is
//! written after the checkpoint. A crash may leave an older one, which is still a beginning of the
//! log. It can be ahead only if the rename of a draft was lost and this file was not. The draft
//! then still exists, and opening the log rolls forward to it before it reads the saved head.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::Sha256;

use crate::log::checkpoint::{Checkpoint, parse_head};
use crate::log::disk::{LogDisk, LogDurability};
use crate::log::format::CHECKPOINT;
use crate::log::view::{LogView, grew_into, read_note};
use crate::log::{LogError, LogLoss, PublicLogKey};

const HEAD: &str = "log.head";

/// Decides after a crash whether the caller's files of a batch survived. The caller's barrier makes
/// them durable together with the log, but a power cut before it may leave any part of either.
pub trait BatchCheck: Debug + Send + Sync {
    /// Returns whether the files that belong to these entries are intact. `log` verifies the draft.
    /// If it returns false, the batch was never published, and the log drops it.
    ///
    /// # Errors
    /// Files that exist cannot be read now. The log is not opened then, and the batch stays.
    fn is_intact(&self, entries: &[&[u8]], log: &PublicLogKey) -> Result<bool, LogError>;
}

/// The directory of a log, the path of its saved head, and the check of interrupted batches.
#[derive(Clone, Debug)]
pub struct LogLocation {
    directory: PathBuf,
    head: Option<PathBuf>,
    batch_check: Option<Arc<dyn BatchCheck>>,
}

/// A log without a saved head. Interrupted batches are completed from the entries alone.
impl<T: AsRef<Path> + ?Sized> From<&T> for LogLocation {
    fn from(directory: &T) -> Self {
        Self { directory: directory.as_ref().to_owned(), head: None, batch_check: None }
    }
}

impl LogLocation {
    /// Returns a log whose head is saved in this state directory, which must exist outside the log.
    #[must_use]
    pub fn persisted_in(state: &Path, directory: &Path) -> Self {
        let head = Some(state.join(HEAD));
        Self { directory: directory.to_owned(), head, batch_check: None }
    }

    /// Returns the log of a state directory.
    #[must_use]
    pub fn of_state(state: &Path) -> Self {
        Self::persisted_in(state, &state.join("log"))
    }

    /// Completes an interrupted batch only if `check` finds the files of its entries intact.
    #[must_use]
    pub fn with_batch_check(self, check: Arc<dyn BatchCheck>) -> Self {
        Self { batch_check: Some(check), ..self }
    }

    /// Returns the log's directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn is_batch_intact(
        &self,
        entries: &[&[u8]],
        log: &PublicLogKey,
    ) -> Result<bool, LogError> {
        self.batch_check.as_ref().map_or(Ok(true), |check| check.is_intact(entries, log))
    }

    pub(crate) fn persisted_state(&self) -> Result<Option<PersistedState>, LogError> {
        self.head.as_deref().map(PersistedState::at).transpose()
    }

    /// Checks that a log opened for reading grew out of its saved head.
    ///
    /// # Errors
    /// [`LogError::Lost`], or a failed read.
    pub fn check(&self, view: &LogView) -> Result<(), LogError> {
        let Some(kept) = self.persisted_state()? else { return Ok(()) };
        kept.head()?.map_or(Ok(()), |from| kept.check_grew(&view.disk, from, view.head()))
    }

    /// Checks that a log exists if a head is saved.
    ///
    /// # Errors
    /// [`LogError::Lost`], or a failed read.
    pub fn check_exists(&self) -> Result<(), LogError> {
        self.persisted_state()?.map_or(Ok(()), |kept| kept.check_log_exists(&self.directory))
    }
}

/// The file of a saved head.
pub(crate) struct PersistedState {
    disk: LogDisk,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TreeHead {
    size: u64,
    root: Sha256,
}

impl PersistedState {
    pub(crate) fn at(path: &Path) -> Result<Self, LogError> {
        let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
        let disk = LogDisk::open(parent.unwrap_or_else(|| Path::new(".")))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { disk, name })
    }

    /// Reads the saved head without checking its signature: the key may have changed since, and a
    /// user who can write here can also remove the file.
    fn head(&self) -> Result<Option<TreeHead>, LogError> {
        let bytes = match read_note(&self.disk, &self.name)? {
            // A power cut leaves an empty file if the file system does not order file before name.
            Some(bytes) if bytes.is_empty() => return Ok(None),
            Some(bytes) => bytes,
            None => return Ok(None),
        };
        let head = String::from_utf8(bytes).ok().and_then(|note| parse_head(&note));
        let wrong = || self.disk.damaged(&self.name, "not a saved head of a log");
        head.map(|(size, root)| Some(TreeHead { size, root })).ok_or_else(wrong)
    }

    /// Saves the head, unsynced: an older head suffices, and an append already has several syncs.
    pub(crate) fn store(&self, head: &Checkpoint) -> Result<(), LogError> {
        self.place(head, LogDurability::Directories)
    }

    fn place(&self, head: &Checkpoint, durable: LogDurability) -> Result<(), LogError> {
        let draft = format!(".{}.draft", self.name);
        self.disk.write_through(&draft, &self.name, head.note().as_bytes(), durable)
    }

    /// Fails if a head is saved but the log does not exist. Called before a log is created.
    pub(crate) fn check_log_exists(&self, log: &Path) -> Result<(), LogError> {
        match self.head()? {
            Some(head) if head.size > 0 && !log.join(CHECKPOINT).exists() => {
                Err(self.lost_error(log.to_owned(), head, LogLoss::Missing))
            }
            _ => Ok(()),
        }
    }

    /// Checks that this log grew out of the saved head, and saves the present one.
    pub(crate) fn check_and_store(
        &self,
        disk: &LogDisk,
        head: &Checkpoint,
    ) -> Result<(), LogError> {
        match self.head()? {
            Some(from) if from == (TreeHead { size: head.size(), root: head.root() }) => Ok(()),
            Some(from) => {
                self.check_grew(disk, from, head)?;
                self.store(head)
            }
            // Save it durably, so that from now on one always exists.
            None => self.place(head, LogDurability::All),
        }
    }

    fn check_grew(
        &self,
        disk: &LogDisk,
        from: TreeHead,
        head: &Checkpoint,
    ) -> Result<(), LogError> {
        let lost = |found| Err(self.lost_error(disk.path(""), from, found));
        let size = head.size();
        if size < from.size {
            return lost(LogLoss::Shorter { entries: size });
        }
        if grew_into(disk, (from.size, from.root), head)? {
            Ok(())
        } else {
            lost(LogLoss::Replaced)
        }
    }

    fn lost_error(&self, log: PathBuf, from: TreeHead, found: LogLoss) -> LogError {
        LogError::Lost { log, head: self.disk.path(&self.name), entries: from.size, found }
    }
}
