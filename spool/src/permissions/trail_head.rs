//! The head of the trail, kept outside its directory. A trail that was removed, cut by whole lines
//! or restored from an older copy would lose revocations and uses. The head is never ahead of the
//! trail, and is written after the sync of its line.

use std::fs::File;
use std::io::{BufRead, BufReader};

use super::error::PermissionStoreError;
use super::journal::{PermissionTrail, TrailHead, outdated_error};
use super::line::{self, TrailChecksum};
use crate::error::SpoolError;
use crate::ledger::HeadFile;

impl PermissionTrail {
    pub(super) fn position(&self) -> TrailHead {
        TrailHead { bytes: self.read_to, sum: self.sum.into() }
    }

    /// Reads a trail for the first time and compares it with its head. Needs the exclusive lock.
    pub(super) fn check_head(&mut self) -> Result<(), PermissionStoreError> {
        let kept = self.open_head()?;
        self.due = kept.as_ref().map(|(_, head)| *head);
        self.read_on()?;
        match (kept, self.due.take()) {
            // An earlier version kept no head.
            (None, _) => self.make_head(),
            (Some(_), None) => Ok(()),
            // The process that started this file died before it made the new head.
            (Some(_), Some(head)) if self.is_of_previous_file(head) => self.make_head(),
            (Some(_), Some(_)) => Err(outdated_error(&self.path, self.read_to, &self.head_path)),
        }
    }

    fn open_head(&self) -> Result<Option<(HeadFile, TrailHead)>, PermissionStoreError> {
        HeadFile::open(&self.head_path).map_err(|error| match error {
            SpoolError::Ledger { .. } => outdated_error(&self.head_path, 0, &self.head_path),
            error => error.into(),
        })
    }

    /// Records that the trail is durable as far as it was read. The last line is in the register
    /// already, so that an error loses no change.
    pub(super) fn note_head(&self) -> Result<(), PermissionStoreError> {
        match self.write_head() {
            // The previous head still matches a beginning of the trail.
            Err(error) if error.shortage().is_some() => {
                tracing::warn!("the previous head stays valid: {error}");
                Ok(())
            }
            written => written,
        }
    }

    fn write_head(&self) -> Result<(), PermissionStoreError> {
        // Another process may have started a new trail file, with a new head file.
        let Some((file, _)) = self.open_head()? else { return self.make_head() };
        Ok(file.advance(self.position())?)
    }

    pub(super) fn make_head(&self) -> Result<(), PermissionStoreError> {
        let synced = self.file.sync_all();
        synced.map_err(PermissionStoreError::disk(&self.path, "sync"))?;
        HeadFile::make(&self.head_path, self.position())?;
        Ok(())
    }

    fn is_of_previous_file(&self, head: TrailHead) -> bool {
        let generation = self.head.as_ref().and_then(|head| head.generation.checked_sub(1));
        let Some(generation) = generation else { return false };
        let path = self.directory.join(format!("trail-{generation:08}.jsonl"));
        let Ok(file) = File::open(path) else { return false };
        let (mut reader, mut text) = (BufReader::new(file), Vec::new());
        let (mut bytes, mut sum) = (0, TrailChecksum::default());
        while bytes < head.bytes {
            text.clear();
            let read = reader.read_until(b'\n', &mut text);
            let whole = text.strip_suffix(b"\n");
            let line = whole.and_then(|whole| line::read(whole, sum).ok());
            let (Ok(_), Some((_, next))) = (read, line) else { return false };
            bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
            sum = next;
        }
        head == TrailHead { bytes, sum: sum.into() }
    }
}
