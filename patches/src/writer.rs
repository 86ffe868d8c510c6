//! Writes the difference of each file: its names, its modes, and its content by lines or whole.

use std::io::Write;

use crate::binary::write_binary;
use crate::blob::blob_id;
use crate::error::PatchError;
use crate::file::PatchedFile;
use crate::hunk::write_hunks;
use crate::lines::DiffBudget;
use crate::name::{label, quoted};
use crate::output::BoundedOutput;

/// A patch that is being written. The order of the files is that of the calls.
pub struct PatchWriter<W> {
    out: BoundedOutput<W>,
    budget: DiffBudget,
    files: u64,
}

/// The totals of a patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PatchSummary {
    /// The files that differ.
    pub files: u64,
    /// The bytes of the patch.
    pub bytes: u64,
}

/// Two versions of a file, of which at least one exists. Both are links, or neither is.
#[derive(Clone, Copy)]
struct FilePair<'a> {
    path: &'a str,
    before: Option<PatchedFile<'a>>,
    after: Option<PatchedFile<'a>>,
}

impl<W: Write> PatchWriter<W> {
    /// Begins a patch of at most `bytes_max` bytes.
    pub fn new(out: W, bytes_max: u64) -> Self {
        Self { out: BoundedOutput::new(out, bytes_max), budget: DiffBudget::new(), files: 0 }
    }

    /// Writes the difference between two versions of a file, if they differ. An absent version is
    /// `None`. A link that becomes a file is deleted first, and so is a file that becomes a link.
    ///
    /// # Errors
    /// [`PatchError`]: the patch must not be used then.
    pub fn file(
        &mut self,
        path: &str,
        before: Option<PatchedFile<'_>>,
        after: Option<PatchedFile<'_>>,
    ) -> Result<(), PatchError> {
        if before == after {
            return Ok(());
        }
        self.files = self.files.saturating_add(1);
        match (before, after) {
            (Some(old), Some(new)) if old.is_link() != new.is_link() => {
                self.pair(FilePair { path, before, after: None })?;
                self.pair(FilePair { path, before: None, after })
            }
            _ => self.pair(FilePair { path, before, after }),
        }
    }

    /// Ends the patch and flushes its output.
    ///
    /// # Errors
    /// [`PatchError::Io`].
    pub fn finish(self) -> Result<PatchSummary, PatchError> {
        Ok(PatchSummary { files: self.files, bytes: self.out.finish()? })
    }

    fn pair(&mut self, pair: FilePair<'_>) -> Result<(), PatchError> {
        let FilePair { path, before, after } = pair;
        self.out.line(&format!("diff --git {} {}", quoted("a/", path), quoted("b/", path)))?;
        self.modes(pair)?;
        let content = |file: Option<PatchedFile<'_>>| file.is_some_and(|it| it.is_binary());
        let is_binary = content(before) || content(after);
        let old = before.map(|it| it.bytes).unwrap_or_default();
        let new = after.map(|it| it.bytes).unwrap_or_default();
        if old == new {
            // Only the mode differs, or an empty file is created or deleted.
            return if before.is_some() && after.is_some() { Ok(()) } else { self.index(pair) };
        }
        self.index(pair)?;
        if is_binary {
            return write_binary(&mut self.out, old, new);
        }
        self.labels(pair)?;
        write_hunks(&mut self.out, old, new, &mut self.budget)
    }

    fn modes(&mut self, pair: FilePair<'_>) -> Result<(), PatchError> {
        match (pair.before.map(|it| it.kind), pair.after.map(|it| it.kind)) {
            (Some(old), Some(new)) if old != new => {
                self.out.line(&format!("old mode {old}"))?;
                self.out.line(&format!("new mode {new}"))
            }
            (None, Some(new)) => self.out.line(&format!("new file mode {new}")),
            (Some(old), None) => self.out.line(&format!("deleted file mode {old}")),
            _ => Ok(()),
        }
    }

    fn index(&mut self, pair: FilePair<'_>) -> Result<(), PatchError> {
        let FilePair { before, after, .. } = pair;
        let kinds = (before.map(|it| it.kind), after.map(|it| it.kind));
        let mode = match kinds {
            (Some(old), Some(new)) if old == new => format!(" {new}"),
            _ => String::new(),
        };
        self.out.line(&format!("index {}..{}{mode}", blob_id(before), blob_id(after)))
    }

    fn labels(&mut self, pair: FilePair<'_>) -> Result<(), PatchError> {
        let text = |prefix, file: Option<PatchedFile<'_>>| match file {
            Some(_) => label(prefix, pair.path),
            None => "/dev/null".to_owned(),
        };
        self.out.line(&format!("--- {}", text("a/", pair.before)))?;
        self.out.line(&format!("+++ {}", text("b/", pair.after)))
    }
}
