//! The newest head of a log, kept beside it: what tells a log that was deleted, cut back or put back
//! from a copy from one that grew. It must never be ahead of the log, so it is written after the
//! checkpoint; an older one, as a crash may leave it, is still the head of a beginning of the log. Ahead
//! of the checkpoint it can be, where the renaming of a draft over that was lost and this was not: the
//! draft is still there then, and opening the log goes forward to it before it asks for this head.

use std::path::{Path, PathBuf};

use model::Sha256;

use crate::log::checkpoint::{Checkpoint, head_in};
use crate::log::disk::{Disk, Durable};
use crate::log::format::CHECKPOINT;
use crate::log::view::{LogView, grew_into, read_note};
use crate::log::{LogError, Lost};

/// The name of the file in a state directory.
const HEAD: &str = "log.head";

/// Where a log is, and where its newest head is kept beside it.
#[derive(Clone, Debug)]
pub struct LogPlace {
    directory: PathBuf,
    head: Option<PathBuf>,
}

/// A log of which no head is kept.
impl<T: AsRef<Path> + ?Sized> From<&T> for LogPlace {
    fn from(directory: &T) -> Self {
        Self { directory: directory.as_ref().to_owned(), head: None }
    }
}

impl LogPlace {
    /// A log whose head is kept in this state directory, which is outside it and must be there.
    #[must_use]
    pub fn kept_in(state: &Path, directory: &Path) -> Self {
        Self { directory: directory.to_owned(), head: Some(state.join(HEAD)) }
    }

    /// The log of a state directory.
    #[must_use]
    pub fn of_state(state: &Path) -> Self {
        Self::kept_in(state, &state.join("log"))
    }

    /// Where the log is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn kept(&self) -> Result<Option<Kept>, LogError> {
        self.head.as_deref().map(Kept::at).transpose()
    }

    /// Whether a log that was opened to be read grew out of the head that is kept of it.
    ///
    /// # Errors
    /// [`LogError::Lost`], or whatever cannot be read.
    pub fn check(&self, view: &LogView) -> Result<(), LogError> {
        let Some(kept) = self.kept()? else { return Ok(()) };
        kept.head()?.map_or(Ok(()), |from| kept.grew(&view.disk, from, view.head()))
    }

    /// Whether there is no log where there was one.
    ///
    /// # Errors
    /// [`LogError::Lost`], or whatever cannot be read.
    pub fn check_there(&self) -> Result<(), LogError> {
        self.kept()?.map_or(Ok(()), |kept| kept.refuse_loss(&self.directory))
    }
}

/// Where a head is kept.
pub(crate) struct Kept {
    disk: Disk,
    name: String,
}

/// A size and the root that the log had at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    size: u64,
    root: Sha256,
}

impl Kept {
    pub(crate) fn at(path: &Path) -> Result<Self, LogError> {
        let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
        let disk = Disk::open(parent.unwrap_or_else(|| Path::new(".")))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { disk, name })
    }

    /// The head that is kept. Its signature is not asked for: the key may have changed since, and who
    /// can write here can remove the file as well.
    fn head(&self) -> Result<Option<Head>, LogError> {
        let bytes = match read_note(&self.disk, &self.name)? {
            // Where a file system does not order a file before its name, a power cut leaves this.
            Some(bytes) if bytes.is_empty() => return Ok(None),
            Some(bytes) => bytes,
            None => return Ok(None),
        };
        let head = String::from_utf8(bytes).ok().and_then(|note| head_in(&note));
        let wrong = || self.disk.damaged(&self.name, "not the head of a log");
        head.map(|(size, root)| Some(Head { size, root })).ok_or_else(wrong)
    }

    /// Not synced: an older head does as well, and an append has syncs enough.
    pub(crate) fn store(&self, head: &Checkpoint) -> Result<(), LogError> {
        self.place(head, Durable::Directories)
    }

    fn place(&self, head: &Checkpoint, durable: Durable) -> Result<(), LogError> {
        let draft = format!(".{}.draft", self.name);
        self.disk.place_by(&draft, &self.name, head.note().as_bytes(), durable)
    }

    /// Whether there is a log in its place, before one is made there.
    pub(crate) fn refuse_loss(&self, log: &Path) -> Result<(), LogError> {
        match self.head()? {
            Some(head) if head.size > 0 && !log.join(CHECKPOINT).exists() => {
                Err(self.lost(log.to_owned(), head, Lost::Nothing))
            }
            _ => Ok(()),
        }
    }

    /// Whether this log grew out of the head, which from then on is that of this checkpoint.
    pub(crate) fn is_of(&self, disk: &Disk, head: &Checkpoint) -> Result<(), LogError> {
        match self.head()? {
            Some(from) if from == (Head { size: head.size(), root: head.root() }) => Ok(()),
            Some(from) => {
                self.grew(disk, from, head)?;
                self.store(head)
            }
            // From now on there is one, whatever happens.
            None => self.place(head, Durable::All),
        }
    }

    fn grew(&self, disk: &Disk, from: Head, head: &Checkpoint) -> Result<(), LogError> {
        let lost = |found| Err(self.lost(disk.path(""), from, found));
        let size = head.size();
        if size < from.size {
            return lost(Lost::Shorter { entries: size });
        }
        if grew_into(disk, (from.size, from.root), head)? { Ok(()) } else { lost(Lost::Another) }
    }

    fn lost(&self, log: PathBuf, from: Head, found: Lost) -> LogError {
        LogError::Lost { log, head: self.disk.path(&self.name), entries: from.size, found }
    }
}
