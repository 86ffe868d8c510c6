//! Publishing: a result is gathered under a hidden name and appears whole, by one rename.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use validator::ResultId;

use crate::claim::{Claimed, Origin, is_signature_of, remove_tree};
use crate::durable;
use crate::error::SpoolError;
use crate::places::Spool;

/// A result that is being gathered, as `.new-<result_id>` in the results directory.
#[must_use]
pub struct ResultDraft {
    result_id: ResultId,
    hidden: PathBuf,
    results: PathBuf,
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

    /// The first `bytes_max` bytes of a file gathered here; empty if it is not there.
    ///
    /// # Errors
    /// The disk.
    pub fn head(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, SpoolError> {
        use std::io::Read;
        let path = self.hidden.join(name);
        let mut head = Vec::new();
        match File::open(&path) {
            Ok(file) => {
                let read = file.take(bytes_max).read_to_end(&mut head);
                read.map_err(SpoolError::io(&path, "read"))?;
                Ok(head)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(head),
            Err(error) => Err(SpoolError::io(&path, "read")(error)),
        }
    }

    /// Adds one file, by its path relative to the result.
    ///
    /// # Errors
    /// The disk.
    pub fn add(&self, name: &str, bytes: &[u8]) -> Result<(), SpoolError> {
        let path = self.hidden.join(name);
        let written = || -> io::Result<()> {
            if let Some(parent) = path.parent() {
                DirBuilder::new().mode(0o755).recursive(true).create(parent)?;
            }
            durable::write_new(&path, bytes, 0o644)
        };
        written().map_err(SpoolError::io(&path, "write"))
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

    /// The second barrier: when this returns the result is there, whole and durable.
    ///
    /// # Errors
    /// The disk; then nothing is visible.
    pub fn publish(self) -> Result<Receipt, SpoolError> {
        let path = self.results.join(self.result_id.as_str());
        durable::sync_tree(&self.hidden).map_err(SpoolError::io(&self.hidden, "make durable"))?;
        durable::rename_new(&self.hidden, &path).map_err(SpoolError::io(&path, "publish"))?;
        durable::sync_dir(&self.results).map_err(SpoolError::io(&self.results, "make durable"))?;
        Ok(Receipt { path, result_id: self.result_id })
    }

    /// Takes everything back; nothing of it was ever visible.
    pub fn discard(self) {
        remove_tree(&self.hidden);
    }
}

impl Spool {
    /// After a run: the original leaves `approved/`, the claim goes to `archive/`, the slot goes.
    /// Takes the receipt, because nothing may go before the result is published.
    ///
    /// # Errors
    /// The disk; the claim is then finished by recovery.
    pub fn archive_claim(&self, claimed: Claimed, receipt: &Receipt) -> Result<(), SpoolError> {
        remove_tree(&self.staging().join(claimed.id.as_str()));
        match &claimed.origin {
            Origin::Kept => {
                remove_tree(&claimed.directory);
                Ok(())
            }
            Origin::Dropped { dropbox } => {
                take_originals_away(dropbox, &claimed.file_name, None)?;
                let archived = self.archive().join(receipt.result_id.as_str());
                durable::rename_new(&claimed.directory, &archived)
                    .map_err(SpoolError::io(&archived, "archive"))
            }
        }
    }

    /// After a refusal: what was refused goes to `quarantine/<result_id>/`.
    ///
    /// # Errors
    /// The disk; the request then stays in `approved/` and is refused again.
    pub fn quarantine_claim(&self, claimed: Claimed, receipt: &Receipt) -> Result<(), SpoolError> {
        remove_tree(&self.staging().join(claimed.id.as_str()));
        match &claimed.origin {
            Origin::Kept => {
                remove_tree(&claimed.directory);
                Ok(())
            }
            Origin::Dropped { dropbox } => {
                let place = self.quarantine().join(receipt.result_id.as_str());
                durable::rename_new(&claimed.directory, &place)
                    .map_err(SpoolError::io(&place, "quarantine"))?;
                take_originals_away(dropbox, &claimed.file_name, Some(&place))
            }
        }
    }

    /// Gives a claim up that never became anything: the original is still where it was.
    pub fn abandon(&self, claimed: Claimed) {
        remove_tree(&self.staging().join(claimed.id.as_str()));
        remove_tree(&claimed.directory);
    }
}

/// Takes a request's files out of the directory they were dropped into: to `place`, or away. The
/// `.md` goes first; a leftover beside it means nothing without it.
pub(crate) fn take_originals_away(
    dropbox: &Path,
    file_name: &str,
    place: Option<&Path>,
) -> Result<(), SpoolError> {
    let original = dropbox.join(file_name);
    match fs::remove_file(&original) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(SpoolError::io(&original, "remove")(error)),
    }
    let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
    let inputs = format!("{stem}.inputs");
    for entry in fs::read_dir(dropbox).map_err(SpoolError::io(dropbox, "list"))? {
        let entry = entry.map_err(SpoolError::io(dropbox, "list"))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name != inputs && !is_signature_of(&name, file_name) {
            continue;
        }
        let path = entry.path();
        let gone = match place {
            // The claim holds copies of the signatures already.
            Some(place) if name == inputs => durable::rename_new(&path, &place.join(&name)),
            _ if name == inputs => fs::remove_dir_all(&path),
            _ => fs::remove_file(&path),
        };
        if let Err(error) = gone {
            // Owned by whoever dropped it and closed to us: it is left, harmless, and said so.
            eprintln!("toolexec: {}: left in place: {error}", path.display());
        }
    }
    durable::sync_dir(dropbox).map_err(SpoolError::io(dropbox, "make durable"))
}
