//! The head of the trail, kept outside its directory: a trail that was removed, cut by whole lines or put back from
//! an older copy would give back what was revoked or used up. It is never ahead of the trail, and written after
//! the sync of its line.

use std::fs::File;
use std::io::{BufRead, BufReader};

use super::error::StoreError;
use super::journal::{Journal, Kept, lost};
use super::line::{self, Sum};
use crate::error::SpoolError;
use crate::ledger::HeadFile;

impl Journal {
    /// How far it was read, and the checksum there.
    pub(super) fn here(&self) -> Kept {
        Kept { bytes: self.read_to, sum: self.sum.into() }
    }

    /// Reads a trail for the first time, and holds it against its head. Only for whoever is alone.
    pub(super) fn settle_head(&mut self) -> Result<(), StoreError> {
        let kept = self.open_head()?;
        self.due = kept.as_ref().map(|(_, head)| *head);
        self.read_on()?;
        match (kept, self.due.take()) {
            // An earlier version kept none.
            (None, _) => self.make_head(),
            (Some(_), None) => Ok(()),
            // Whoever began it anew died before the head of the new file was made.
            (Some(_), Some(head)) if self.is_of_the_file_before(head) => self.make_head(),
            (Some(_), Some(_)) => Err(lost(&self.path, self.read_to, &self.head_path)),
        }
    }

    fn open_head(&self) -> Result<Option<(HeadFile, Kept)>, StoreError> {
        HeadFile::open(&self.head_path).map_err(|error| match error {
            SpoolError::Ledger { .. } => lost(&self.head_path, 0, &self.head_path),
            error => error.into(),
        })
    }

    /// Notes that the trail is durable as far as it was read.
    pub(super) fn note_head(&self) -> Result<(), StoreError> {
        // Another process may have begun the trail anew, with another file for the head.
        let Some((file, _)) = self.open_head()? else { return self.make_head() };
        match file.advance(self.here()) {
            // The head before is still the head of a beginning of it.
            Err(error) if error.want().is_some() => {
                tracing::warn!("{error}; the head before is kept");
                Ok(())
            }
            advanced => Ok(advanced?),
        }
    }

    pub(super) fn make_head(&self) -> Result<(), StoreError> {
        let synced = self.file.sync_all();
        synced.map_err(StoreError::disk(&self.path, "make durable"))?;
        HeadFile::make(&self.head_path, self.here())?;
        Ok(())
    }

    /// Whether the trail was begun anew after a file that this is a head of.
    fn is_of_the_file_before(&self, head: Kept) -> bool {
        let generation = self.head.as_ref().and_then(|head| head.generation.checked_sub(1));
        let Some(generation) = generation else { return false };
        let path = self.directory.join(format!("trail-{generation:08}.jsonl"));
        let Ok(file) = File::open(path) else { return false };
        let (mut reader, mut text) = (BufReader::new(file), Vec::new());
        let (mut bytes, mut sum) = (0, Sum::default());
        while bytes < head.bytes {
            text.clear();
            let read = reader.read_until(b'\n', &mut text);
            let whole = text.strip_suffix(b"\n");
            let line = whole.and_then(|whole| line::read(whole, sum).ok());
            let (Ok(_), Some((_, next))) = (read, line) else { return false };
            bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
            sum = next;
        }
        head == Kept { bytes, sum: sum.into() }
    }
}
