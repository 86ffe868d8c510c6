//! Takes drafts whose signature counts from `drafts/` to `approved/`: the signature first, the
//! inputs, and the document last, so that no claim sees it without them. The bytes are those that
//! were checked. All files are new ones of the daemon; the draft is removed after that. Agents write
//! in `drafts/`: nothing there is followed.

use std::io;

use policies::{ActionTarget, CountedDocument};
use rustix::fs::{AtFlags, OFlags, fstat, unlinkat};
use rustix::io::Errno;
use validator::REQUEST_BYTES_MAX;

use crate::atomic_file::AtomicFile;
use crate::beneath::{AllowedLinks, open_beneath, read_bounded, read_unlocked};
use crate::draft_inputs::CopiedInputs;
use crate::error::SpoolError;
use crate::inbox::Inbox;
use crate::standing_drafts::input_tree::{InputTreeBounds, InputTreeWork, check_inputs};
use crate::sync;

/// The most files and directories among the inputs of all drafts of one action. A person has
/// reviewed them, so they may be larger than those of an unsigned draft.
const ENTRIES_MAX: usize = 20_000;
/// The most levels of directories among them.
const LEVELS_MAX: usize = 32;
/// As of submitted files: operators read them through the group.
const FILE_MODE: u32 = 0o640;

/// A document as it was in `drafts/`.
#[derive(Clone, Debug)]
pub struct SignedDraft {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The inode and its last change time: seconds, nanoseconds.
    identity: (u64, i64, i64),
}

/// A file that was created here, or that existed with the same bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePlacement {
    Created,
    Existed,
}

/// The end of the removal of a draft.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DraftRemoval {
    Removed,
    /// The name belongs to another file now.
    Changed,
}

/// Returns the limits of the inputs of an action, with so many bytes for each draft.
fn input_bounds(input_bytes_max: u64) -> InputTreeBounds {
    let (entries_max, levels_max) = (ENTRIES_MAX, LEVELS_MAX);
    InputTreeBounds { entries_max, levels_max, bytes_max: input_bytes_max }
}

impl Inbox {
    /// Reads a draft. Returns `None` if there is none of this name. The bytes may be those of two
    /// versions: the caller must compare them with what was signed, or judge and place them.
    ///
    /// # Errors
    /// It is not a regular file with one link, is too large, or cannot be read.
    pub fn read_draft(&self, target: &ActionTarget) -> Result<Option<SignedDraft>, SpoolError> {
        let name = target.file_name();
        let path = self.path().join(&name);
        let file = match open_beneath(self.handle(), &name, OFlags::RDONLY) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => {
                return Err(SpoolError::FileKind { path, kind: "a symbolic link" });
            }
            opened => opened.map_err(SpoolError::errno(&path, "open"))?,
        };
        let bytes = read_unlocked(&file, &path, REQUEST_BYTES_MAX)?;
        let stat = fstat(&file).map_err(SpoolError::errno(&path, "stat"))?;
        let nanoseconds = i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX);
        Ok(Some(SignedDraft { bytes, identity: (stat.st_ino, stat.st_ctime, nanoseconds) }))
    }

    /// Checks that each of these documents can be placed here with the inputs that it has in
    /// `drafts`, at most so many bytes each. Nothing is changed.
    ///
    /// # Errors
    /// Another object has a name of one, or its inputs exceed the limits.
    pub fn check_signed(
        &self,
        drafts: &Self,
        documents: &[CountedDocument],
        input_bytes_max: u64,
    ) -> Result<(), SpoolError> {
        let (bounds, mut work) = (input_bounds(input_bytes_max), InputTreeWork::default());
        for document in documents {
            let CountedDocument { target, bytes, signature } = document;
            self.check_free(&target.file_name(), bytes)?;
            self.check_free(&signature.name, &signature.bytes)?;
            let inputs = format!("{target}.inputs");
            check_inputs(drafts, &inputs, bounds, &mut work)?;
            // Inputs of another request of this name would have it refused.
            if self.identity(&inputs).is_some() {
                return Err(SpoolError::in_the_way(&self.path().join(inputs)));
            }
        }
        Ok(())
    }

    /// Takes a draft: places its signature, a copy of its inputs and the counted bytes here, and
    /// removes it from `drafts`. A draft that changed meanwhile stays there. A failure after the
    /// document has its name is logged only.
    ///
    /// # Errors
    /// An I/O error, or another object has the name. The document is not here then.
    pub fn take_signed_draft(
        &self,
        drafts: &Self,
        document: &CountedDocument,
        draft: &SignedDraft,
        input_bytes_max: u64,
    ) -> Result<(), SpoolError> {
        let CountedDocument { target, bytes, signature } = document;
        let (name, inputs) = (target.file_name(), format!("{target}.inputs"));
        let copied = CopiedInputs::of(drafts, self, &inputs, input_bounds(input_bytes_max));
        let mut copied = copied.map_err(|error| self.unless_replaced(error))?;
        let placed = self.place_once(&signature.name, &signature.bytes)?;
        // The signature is durable before the document has its name.
        let done = copied.place(self, &inputs).and_then(|()| self.sync_names());
        if let Err(error) = done.and_then(|()| self.place_document(&name, bytes)) {
            return Err(self.take_back(&signature.name, placed, error));
        }
        // From here on the action is taken: the document may already be claimed.
        let original = copied.keep();
        warn_if_failed(self.sync_names().and_then(|()| match drafts.remove_draft(&name, draft)? {
            DraftRemoval::Removed => drafts.remove_inputs(&inputs, original),
            DraftRemoval::Changed => Ok(()),
        }));
        Ok(())
    }

    /// Places a document here that is not a draft, with its signature. A failure after the document
    /// has its name is logged only.
    ///
    /// # Errors
    /// An I/O error, or another object has the name. The document is not here then.
    pub fn place_signed(&self, document: &CountedDocument) -> Result<(), SpoolError> {
        let CountedDocument { target, bytes, signature } = document;
        let placed = self.place_once(&signature.name, &signature.bytes)?;
        let done = self.sync_names();
        if let Err(error) = done.and_then(|()| self.place_document(&target.file_name(), bytes)) {
            return Err(self.take_back(&signature.name, placed, error));
        }
        warn_if_failed(self.sync_names());
        Ok(())
    }

    pub(crate) fn sync_names(&self) -> Result<(), SpoolError> {
        sync::sync_dir(self.path()).map_err(SpoolError::io(self.path(), "sync"))
    }

    /// Places a file by a rename, unless it exists with the same bytes.
    pub(crate) fn place_once(&self, name: &str, bytes: &[u8]) -> Result<FilePlacement, SpoolError> {
        let path = self.path().join(name);
        if self.identity(name).is_some() {
            self.check_free(name, bytes)?;
            return Ok(FilePlacement::Existed);
        }
        // By handle, as the copies of inputs: the directory of this path may be another one now.
        let directory = self.handle().try_clone().map_err(SpoolError::io(&path, "create"))?;
        let created = AtomicFile::create_in(directory, name.as_ref(), FILE_MODE);
        let mut fresh = created.map_err(SpoolError::io(&path, "create"))?;
        let written = fresh.write(bytes).and_then(|()| fresh.set_mode(FILE_MODE));
        written.map_err(SpoolError::io(&path, "write"))?;
        match fresh.place() {
            Ok(()) => Ok(FilePlacement::Created),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(SpoolError::in_the_way(&path))
            }
            Err(error) => Err(SpoolError::io(&path, "submit")(error)),
        }
    }

    /// Places a document, after which its draft is removed. If this directory was replaced since it
    /// was opened, nothing would claim the document: it is taken back, and the error is momentary.
    pub(crate) fn place_document(&self, name: &str, bytes: &[u8]) -> Result<(), SpoolError> {
        let placed = self.place_once(name, bytes)?;
        if self.is_in_place() {
            return Ok(());
        }
        Err(self.take_back(name, placed, self.was_replaced()))
    }

    /// Returns the error, or a momentary one if this directory was replaced since it was opened.
    fn unless_replaced(&self, error: SpoolError) -> SpoolError {
        if self.is_in_place() { error } else { self.was_replaced() }
    }

    fn was_replaced(&self) -> SpoolError {
        SpoolError::errno(self.path(), "submit to")(Errno::AGAIN)
    }

    /// Checks that no object has this name, or a file with the same bytes.
    fn check_free(&self, name: &str, bytes: &[u8]) -> Result<(), SpoolError> {
        let path = self.path().join(name);
        let file = match open_beneath(self.handle(), name, OFlags::RDONLY) {
            Err(Errno::NOENT) => return Ok(()),
            Err(_) => return Err(SpoolError::in_the_way(&path)),
            Ok(file) => file,
        };
        match read_bounded(&file, &path, bytes.len(), AllowedLinks::One) {
            Ok((there, _)) if there == bytes => Ok(()),
            Err(error) if error.is_momentary() => Err(error),
            _ => Err(SpoolError::in_the_way(&path)),
        }
    }

    /// Removes a file that this call placed. Returns the error that was the reason.
    fn take_back(&self, name: &str, placed: FilePlacement, error: SpoolError) -> SpoolError {
        if placed == FilePlacement::Created
            && let Err(errno) = unlinkat(self.handle(), name, AtFlags::empty())
        {
            tracing::warn!("{}: remove: {errno}", self.path().join(name).display());
        }
        error
    }

    /// Removes a draft that still is the file that was read.
    pub(crate) fn remove_draft(
        &self,
        name: &str,
        draft: &SignedDraft,
    ) -> Result<DraftRemoval, SpoolError> {
        if self.identity(name) != Some(draft.identity) {
            return Ok(DraftRemoval::Changed);
        }
        let path = self.path().join(name);
        match unlinkat(self.handle(), name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(SpoolError::errno(&path, "remove")(errno)),
        }
        self.sync_names().map(|()| DraftRemoval::Removed)
    }
}

fn warn_if_failed(settled: Result<(), SpoolError>) {
    if let Err(error) = settled {
        tracing::warn!("a signed document was placed, but then: {error}");
    }
}

#[cfg(test)]
mod tests;
