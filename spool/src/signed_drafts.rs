//! Moves drafts whose signature counts from `drafts/` to `approved/`: the signature first, the
//! inputs, and the document last, so that no claim sees it without them. The bytes are those that
//! were checked, in a file of the daemon; the draft is removed after that. Agents write in
//! `drafts/`: nothing there is followed.

use std::io;
use std::path::Path;

use policies::{ActionTarget, CountedDocument};
use rustix::fs::{AtFlags, OFlags, RenameFlags, fstat, renameat_with, unlinkat};
use rustix::io::Errno;
use validator::REQUEST_BYTES_MAX;

use crate::atomic_file::AtomicFile;
use crate::beneath::{AllowedLinks, open_beneath, read_bounded};
use crate::error::SpoolError;
use crate::inbox::Inbox;
use crate::standing_drafts::input_tree::{InputTreeBounds, InputTreeWork, check_inputs};
use crate::sync;

/// The inputs of all drafts of one action. A person has reviewed them, so they may be larger than
/// those of an unsigned draft, and each listing delays the event loop.
const INPUT_BOUNDS: InputTreeBounds = InputTreeBounds { entries_max: 20_000, levels_max: 32 };
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
enum FilePlacement {
    Created,
    Existed,
}

impl Inbox {
    /// Reads a draft. Returns `None` if there is none of this name.
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
        let (bytes, _) = read_bounded(&file, &path, REQUEST_BYTES_MAX, AllowedLinks::One)?;
        let stat = fstat(&file).map_err(SpoolError::errno(&path, "stat"))?;
        let nanoseconds = i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX);
        Ok(Some(SignedDraft { bytes, identity: (stat.st_ino, stat.st_ctime, nanoseconds) }))
    }

    /// Checks that each of these documents can be placed here with the inputs that it has in
    /// `drafts`. Nothing is changed.
    ///
    /// # Errors
    /// Another object has a name of one, or its inputs exceed the limits.
    pub fn check_signed(
        &self,
        drafts: &Self,
        documents: &[CountedDocument],
    ) -> Result<(), SpoolError> {
        let mut work = InputTreeWork::default();
        for document in documents {
            let CountedDocument { target, bytes, signature } = document;
            self.check_free(&target.file_name(), bytes)?;
            self.check_free(&signature.name, &signature.bytes)?;
            let inputs = format!("{target}.inputs");
            check_inputs(drafts, &inputs, INPUT_BOUNDS, &mut work)?;
            // Inputs of another request of this name would have it refused.
            if self.identity(&inputs).is_some() && drafts.identity(&inputs).is_some() {
                return Err(in_the_way(&self.path().join(inputs)));
            }
        }
        Ok(())
    }

    /// Moves a draft here: its signature, its inputs and the counted bytes. A draft that
    /// changed meanwhile stays. A failure after the document has its name is logged only.
    ///
    /// # Errors
    /// An I/O error, or another object has the name. The document is not here then.
    pub fn take_signed_draft(
        &self,
        drafts: &Self,
        document: &CountedDocument,
        draft: &SignedDraft,
    ) -> Result<(), SpoolError> {
        let CountedDocument { target, bytes, signature } = document;
        let inputs = format!("{target}.inputs");
        let placed = self.place_once(&signature.name, &signature.bytes)?;
        let was_moved = match rename_new(drafts, self, &inputs) {
            Ok(was_moved) => was_moved,
            Err(error) => return Err(self.take_back(&signature.name, placed, error)),
        };
        // The signature is durable before the document has its name.
        let done = self.sync_names().and_then(|()| self.place_once(&target.file_name(), bytes));
        if let Err(error) = done {
            if was_moved && let Err(error) = rename_new(self, drafts, &inputs) {
                tracing::warn!("not moved back: {error}");
            }
            return Err(self.take_back(&signature.name, placed, error));
        }
        // From here on the action is taken: the document may already be claimed.
        let settled = self.sync_names();
        warn_if_failed(settled.and_then(|()| drafts.remove_draft(&target.file_name(), draft)));
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
        let done = self.sync_names().and_then(|()| self.place_once(&target.file_name(), bytes));
        if let Err(error) = done {
            return Err(self.take_back(&signature.name, placed, error));
        }
        warn_if_failed(self.sync_names());
        Ok(())
    }

    fn sync_names(&self) -> Result<(), SpoolError> {
        sync::sync_dir(self.path()).map_err(SpoolError::io(self.path(), "sync"))
    }

    /// Places a file by a rename, unless it exists with the same bytes.
    fn place_once(&self, name: &str, bytes: &[u8]) -> Result<FilePlacement, SpoolError> {
        let path = self.path().join(name);
        if self.identity(name).is_some() {
            self.check_free(name, bytes)?;
            return Ok(FilePlacement::Existed);
        }
        let mut fresh =
            AtomicFile::create_for(&path, FILE_MODE).map_err(SpoolError::io(&path, "create"))?;
        let written = fresh.write(bytes).and_then(|()| fresh.set_mode(FILE_MODE));
        written.map_err(SpoolError::io(&path, "write"))?;
        match fresh.place() {
            Ok(()) => Ok(FilePlacement::Created),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(in_the_way(&path)),
            Err(error) => Err(SpoolError::io(&path, "submit")(error)),
        }
    }

    /// Checks that no object has this name, or a file with the same bytes.
    fn check_free(&self, name: &str, bytes: &[u8]) -> Result<(), SpoolError> {
        let path = self.path().join(name);
        let file = match open_beneath(self.handle(), name, OFlags::RDONLY) {
            Err(Errno::NOENT) => return Ok(()),
            Err(_) => return Err(in_the_way(&path)),
            Ok(file) => file,
        };
        match read_bounded(&file, &path, bytes.len(), AllowedLinks::One) {
            Ok((there, _)) if there == bytes => Ok(()),
            Err(error) if error.is_momentary() => Err(error),
            _ => Err(in_the_way(&path)),
        }
    }

    /// Removes a signature file that this call placed. Returns the error that was the reason.
    fn take_back(&self, name: &str, placed: FilePlacement, error: SpoolError) -> SpoolError {
        if placed == FilePlacement::Created
            && let Err(errno) = unlinkat(self.handle(), name, AtFlags::empty())
        {
            tracing::warn!("{}: remove: {errno}", self.path().join(name).display());
        }
        error
    }

    /// Removes a draft that still is the file that was read.
    fn remove_draft(&self, name: &str, draft: &SignedDraft) -> Result<(), SpoolError> {
        if self.identity(name) != Some(draft.identity) {
            return Ok(());
        }
        let path = self.path().join(name);
        match unlinkat(self.handle(), name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(SpoolError::errno(&path, "remove")(errno)),
        }
        self.sync_names()
    }
}

fn warn_if_failed(settled: Result<(), SpoolError>) {
    if let Err(error) = settled {
        tracing::warn!("a signed document was placed, but then: {error}");
    }
}

/// Moves an object. Returns false if it does not exist.
fn rename_new(from: &Inbox, to: &Inbox, name: &str) -> Result<bool, SpoolError> {
    match renameat_with(from.handle(), name, to.handle(), name, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        // The request has no inputs, or they were moved before an interruption.
        Err(Errno::NOENT) => Ok(false),
        Err(Errno::EXIST) => Err(in_the_way(&to.path().join(name))),
        Err(errno) => Err(SpoolError::errno(&from.path().join(name), "move")(errno)),
    }
}

fn in_the_way(path: &Path) -> SpoolError {
    let what = "another file of this name is waiting; help: remove it, or wait for the daemon";
    SpoolError::io(path, "submit")(io::Error::new(io::ErrorKind::AlreadyExists, what))
}

#[cfg(test)]
mod tests;
