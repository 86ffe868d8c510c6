//! Removes expired entries in an order that is safe under crashes: the mark, the hidden name, the
//! removal. The caller is the daemon, or the only process that uses the spool.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use model::{Sha256Stream, UtcTime};

use super::look::each_name;
use super::marks::mark;
use super::{Going, HIDDEN, Keep, Kind};
use crate::durable;
use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::places::Spool;
use crate::state::Removed;

/// The most marks that are synced together.
const BATCH: usize = 256;

/// The result of removing one entry.
pub enum Gone {
    /// It was removed.
    Removed,
    /// It has its hidden name, or still its own. The next round finds it.
    Left(SpoolError),
}

/// The result of one round.
#[must_use]
pub struct Removal {
    /// The expired entries, the oldest of each kind first.
    pub gone: Vec<(Going, Gone)>,
    /// True if another round may find more.
    pub is_full: bool,
}

impl Spool {
    /// Removes expired entries, at most `most` of each kind. Stops early if `is_stopped` returns
    /// true.
    ///
    /// # Errors
    /// An entry cannot be read, or a mark cannot be made durable. Nothing more is removed then.
    pub fn retain(
        &self,
        keep: &Keep,
        now: UtcTime,
        most: usize,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Removal, SpoolError> {
        self.finish_removals()?;
        let mut going = self.going(keep, now, most)?;
        let is_full = Kind::ALL
            .iter()
            .any(|kind| going.iter().filter(|one| one.kind == *kind).count() >= most);
        let mut gone = Vec::new();
        while !going.is_empty() && !is_stopped() {
            let batch: Vec<Going> = going.drain(..going.len().min(BATCH)).collect();
            self.mark(&batch, now)?;
            for one in batch {
                let removed = remove(&one);
                gone.push((one, removed));
            }
        }
        Ok(Removal { gone, is_full })
    }

    /// Removes the hidden entries of an interrupted round.
    ///
    /// # Errors
    /// A directory cannot be read.
    pub fn finish_removals(&self) -> Result<(), SpoolError> {
        for &kind in Kind::ALL {
            let directory = kind.directory(self.places());
            let mut hidden: Vec<PathBuf> = Vec::new();
            each_name(&directory, &mut |name| {
                if name.starts_with(HIDDEN) {
                    hidden.push(directory.join(name));
                }
                Ok(())
            })?;
            for path in hidden {
                if let Err(error) = fs::remove_dir_all(&path) {
                    tracing::warn!("{}: remove: {error}", path.display());
                }
            }
        }
        Ok(())
    }

    fn mark(&self, batch: &[Going], now: UtcTime) -> Result<(), SpoolError> {
        let results = batch.iter().filter(|one| one.kind == Kind::Results);
        let removed = results.map(|one| {
            let record_sha256 = sha256_of(&one.path.join(format!("{}.md", one.result_id)))?;
            let log_index = log_index_of(&one.path.join(format!("{}.tlog-proof", one.result_id)))?;
            let (result_id, at) = (one.result_id.clone(), now.to_string());
            Ok(Removed { result_id, at, record_sha256, log_index })
        });
        mark(self.state_dir(), &removed.collect::<Result<Vec<_>, SpoolError>>()?)
    }
}

fn remove(one: &Going) -> Gone {
    let hidden = one.path.with_file_name(format!("{HIDDEN}{}", one.result_id));
    if let Err(error) = durable::rename_new(&one.path, &hidden) {
        return Gone::Left(SpoolError::io(&one.path, "rename")(error));
    }
    reach(Failpoint::RetentionHidden);
    if let Err(error) = fs::remove_dir_all(&hidden) {
        return Gone::Left(SpoolError::io(&hidden, "remove")(error));
    }
    reach(Failpoint::RetentionRemoved);
    Gone::Removed
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
