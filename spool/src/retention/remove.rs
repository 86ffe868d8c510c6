//! Removes expired entries in an order that is safe under crashes: the mark, the hidden name, the
//! removal. The caller is the daemon, or the only process that uses the spool.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use model::{Sha256Stream, UtcTime};

use super::marks::mark;
use super::scan::each_name;
use super::{ExpiredEntry, HIDDEN_PREFIX, RetentionKind, RetentionPolicy};
use crate::beneath::try_remove_tree;
use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::paths::Spool;
use crate::state::RemovalMark;
use crate::sync;

/// The most marks that are synced together.
const BATCH: usize = 256;

/// The result of removing one entry.
pub enum RemovalOutcome {
    /// It was removed.
    Removed,
    /// It has its hidden name, or still its own. The next round finds it.
    Failed(SpoolError),
}

/// The result of one round.
#[must_use]
pub struct RemovalRound {
    /// The expired entries, the oldest of each kind first.
    pub outcomes: Vec<(ExpiredEntry, RemovalOutcome)>,
    /// The errors at entries of earlier rounds, which have their hidden names. The next round tries
    /// them again.
    pub unfinished: Vec<SpoolError>,
    /// True if another round may find more.
    pub may_have_more: bool,
}

impl Spool {
    /// Removes at most `most` expired entries of each kind, until `is_stopped` returns true.
    ///
    /// # Errors
    /// An entry cannot be read, or a mark cannot be made durable. Nothing more is removed then.
    pub fn remove_expired(
        &self,
        keep: &RetentionPolicy,
        now: UtcTime,
        most: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<RemovalRound, SpoolError> {
        let unfinished = self.finish_removals()?;
        let mut going = self.expired_entries(keep, now, most)?;
        let is_full = RetentionKind::ALL
            .iter()
            .any(|kind| going.iter().filter(|one| one.kind == *kind).count() >= most);
        let mut gone = Vec::new();
        while !going.is_empty() && !is_stopped() {
            let batch: Vec<ExpiredEntry> = going.drain(..going.len().min(BATCH)).collect();
            self.mark_durably(&batch, now)?;
            for one in batch {
                let removed = remove(&one);
                gone.push((one, removed));
            }
        }
        Ok(RemovalRound { outcomes: gone, unfinished, may_have_more: is_full })
    }

    /// Removes the hidden entries of earlier rounds. Returns the errors at those that stay.
    fn finish_removals(&self) -> Result<Vec<SpoolError>, SpoolError> {
        let mut unfinished = Vec::new();
        for &kind in RetentionKind::ALL {
            let directory = kind.directory(self.paths());
            let mut hidden: Vec<PathBuf> = Vec::new();
            each_name(&directory, &mut |name| {
                if name.starts_with(HIDDEN_PREFIX) {
                    hidden.push(directory.join(name));
                }
                Ok(())
            })?;
            for path in hidden {
                if let Err(error) = try_remove_tree(&path) {
                    unfinished.push(SpoolError::io(&path, "remove")(error));
                }
            }
        }
        Ok(unfinished)
    }

    /// Marks the entries. On a full disk, which this round relieves, the marks use the reserve.
    fn mark_durably(&self, batch: &[ExpiredEntry], now: UtcTime) -> Result<(), SpoolError> {
        match self.mark(batch, now) {
            Err(error) if error.is_full() => {
                let _reserve = self.use_reserve();
                self.mark(batch, now)
            }
            marked => marked,
        }
    }

    fn mark(&self, batch: &[ExpiredEntry], now: UtcTime) -> Result<(), SpoolError> {
        let results = batch.iter().filter(|one| one.kind == RetentionKind::Results);
        let removed = results.map(|one| {
            let record_sha256 = sha256_of(&one.path.join(format!("{}.md", one.result_id)))?;
            let log_index = log_index_of(&one.path.join(format!("{}.tlog-proof", one.result_id)))?;
            let (result_id, at) = (one.result_id.clone(), now.to_string());
            Ok(RemovalMark { result_id, at, record_sha256, log_index })
        });
        mark(self.state_dir(), &removed.collect::<Result<Vec<_>, SpoolError>>()?)
    }
}

fn remove(one: &ExpiredEntry) -> RemovalOutcome {
    let hidden = one.path.with_file_name(format!("{HIDDEN_PREFIX}{}", one.result_id));
    if let Err(error) = sync::rename_new(&one.path, &hidden) {
        return RemovalOutcome::Failed(SpoolError::io(&one.path, "rename")(error));
    }
    reach(Failpoint::RetentionHidden);
    if let Err(error) = try_remove_tree(&hidden) {
        return RemovalOutcome::Failed(SpoolError::io(&hidden, "remove")(error));
    }
    reach(Failpoint::RetentionRemoved);
    RemovalOutcome::Removed
}

/// Returns the log index in the entry's proof (C2SP tlog-proof). It is not verified.
fn log_index_of(path: &Path) -> Result<Option<u64>, SpoolError> {
    const PROOF_BYTES_MAX: u64 = 64 * 1024;
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(PROOF_BYTES_MAX).read_to_end(&mut bytes));
    read.map_err(SpoolError::io(path, "read"))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().find_map(|line| line.strip_prefix("index ")?.parse().ok()))
}

fn sha256_of(path: &Path) -> Result<String, SpoolError> {
    let hashed = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let mut part = [0; 16 * 1024];
        let mut sha256 = Sha256Stream::new();
        loop {
            let read = file.read(&mut part)?;
            if read == 0 {
                return Ok(sha256.finish().to_string());
            }
            sha256.update(part.get(..read).unwrap_or_default());
        }
    };
    hashed().map_err(SpoolError::io(path, "read"))
}
