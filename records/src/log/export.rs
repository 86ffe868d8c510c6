//! A copy of the log for a witness, a mirror or a USB stick. A copy must never be replaced by a log
//! that does not begin with it. Its checkpoint is written only after all that it covers is durable.
//! Every hash is computed from the entries, so wrong tiles of the original do no harm.

use std::fmt;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use model::Sha256;

use crate::log::checkpoint::{Checkpoint, CheckpointError};
use crate::log::disk::LogDisk;
use crate::log::format::CHECKPOINT;
use crate::log::frontier::MerkleFrontier;
use crate::log::merkle::leaf_hash;
use crate::log::tile::{HEIGHT, Tile, TileKind, WIDTH, entries};
use crate::log::view::{LogView, read_bundle, read_checkpoint};
use crate::log::{LogError, PublicLogKey};

/// The result of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportSummary {
    /// The number of entries in the copy before.
    pub from: u64,
    /// The number of entries in the copy after.
    pub to: u64,
    /// The number of files written, with the checkpoint.
    pub files: u64,
    /// The number of bytes written.
    pub bytes: u64,
}

/// The reason why a log was not copied.
#[derive(Debug)]
pub enum ExportError {
    /// The log or the copy could not be read or written.
    Log(LogError),
    /// The copy has another history: one of the two was changed.
    Fork {
        /// The number of entries in the copy.
        size: u64,
        /// The root in the checkpoint of the copy.
        there: Sha256,
        /// The root of this log at the size of the copy.
        here: Sha256,
    },
    /// The copy has more entries than the log.
    Ahead {
        /// The number of entries in the copy.
        there: u64,
        /// The number of entries in this log.
        here: u64,
    },
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(error) => error.fmt(f),
            Self::Fork { size, there, here } => write!(
                f,
                "the copy has another history: at {size} entries its root is {there}, the root of \
                 this log is {here}; help: keep both, and compare them with a saved checkpoint"
            ),
            Self::Ahead { there, here } => write!(
                f,
                "the copy has {there} entries and this log {here}: the log was truncated or is an \
                 older copy; help: restore the log"
            ),
        }
    }
}

impl std::error::Error for ExportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Log(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LogError> for ExportError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl LogView {
    /// Brings the copy in this directory (created if missing) up to this log's head. After a crash
    /// the copy is at its old checkpoint and can be exported to again. Any key that the log has had
    /// may have signed the copy.
    ///
    /// # Errors
    /// [`ExportError`]. The copy then keeps its checkpoint.
    pub fn export(
        &self,
        target: &Path,
        keys: &[PublicLogKey],
    ) -> Result<ExportSummary, ExportError> {
        let made = DirBuilder::new().recursive(true).mode(0o755).create(target);
        let failed = |source| LogError::Io { path: target.to_owned(), act: "create", source };
        made.map_err(failed)?;
        let there = LogDisk::open(target)?;
        let _lock = there.lock()?;
        let head = self.head();
        let mut edge = MerkleFrontier::default();
        if let Some(old) = checkpoint_of(&there, keys)? {
            let (size, root) = (old.size(), old.root());
            if size > head.size() {
                return Err(ExportError::Ahead { there: size, here: head.size() });
            }
            if !old.grew_into(head, &self.consistency(size, head.size())?) {
                return Err(ExportError::Fork { size, there: root, here: self.root(size)? });
            }
            if size == head.size() {
                return Ok(ExportSummary { from: size, to: size, files: 0, bytes: 0 });
            }
            edge = MerkleFrontier::read(&there, &old)?;
        }
        let from = edge.size();
        let mut copy = LogCopy { there: &there, frontier: edge, files: 0, bytes: 0 };
        copy.grow(self, from)?;
        if copy.frontier.peaks.root() != head.root() {
            let what = "its entries do not match the checkpoint";
            return Err(self.disk.damaged("tile/entries", what).into());
        }
        for (tile, bytes) in copy.frontier.partials(from) {
            copy.place(tile, &bytes)?;
        }
        there.sync_all()?;
        there.write_synced(CHECKPOINT, head.note().as_bytes())?;
        copy.count(head.note().len());
        copy.remove_partials(from, head.size())?;
        Ok(ExportSummary { from, to: head.size(), files: copy.files, bytes: copy.bytes })
    }
}

/// Reads the checkpoint of the copy with the first key that verifies it.
fn checkpoint_of(there: &LogDisk, keys: &[PublicLogKey]) -> Result<Option<Checkpoint>, LogError> {
    let unsigned = CheckpointError::Unsigned;
    let mut refused = LogError::Checkpoint { path: there.path(CHECKPOINT), fault: unsigned };
    for key in keys {
        match read_checkpoint(there, key) {
            Err(error @ LogError::Checkpoint { .. }) => refused = error,
            read => return read,
        }
    }
    Err(refused)
}

struct LogCopy<'a> {
    there: &'a LogDisk,
    frontier: MerkleFrontier,
    files: u64,
    bytes: u64,
}

impl LogCopy<'_> {
    /// Copies the bundles from this entry on, and adds their entries to the tree.
    fn grow(&mut self, view: &LogView, from: u64) -> Result<(), LogError> {
        let size = view.head().size();
        let mut skipped = usize::try_from(from % WIDTH).unwrap_or(usize::MAX);
        for number in from / WIDTH..size.div_ceil(WIDTH) {
            let beyond = || LogError::NoSuchEntry { index: number * WIDTH, size };
            let tile = Tile::holding(TileKind::Entries, number * WIDTH, size).ok_or_else(beyond)?;
            let bundle = read_bundle(&view.disk, tile)?;
            self.place(tile, &bundle)?;
            let all = entries(&bundle).unwrap_or_default();
            for entry in all.get(skipped..).unwrap_or_default() {
                self.push(leaf_hash(entry))?;
            }
            skipped = 0;
        }
        Ok(())
    }

    fn place(&mut self, tile: Tile, bytes: &[u8]) -> Result<(), LogError> {
        self.count(bytes.len());
        self.there.write_unsynced(&tile.path(), bytes)
    }

    fn count(&mut self, bytes: usize) {
        self.files += 1;
        self.bytes += u64::try_from(bytes).unwrap_or(u64::MAX);
    }

    fn push(&mut self, leaf: Sha256) -> Result<(), LogError> {
        let mut whole = Vec::new();
        self.frontier.push_leaf(leaf, &mut whole);
        whole.into_iter().try_for_each(|(tile, bytes)| self.place(tile, &bytes))
    }

    /// Removes the partial files of tiles that were completed.
    fn remove_partials(&self, from: u64, to: u64) -> Result<(), LogError> {
        let hashes =
            (0..self.frontier.tiles.len()).zip(0..).map(|(_, level)| TileKind::Hashes(level));
        for (kind, level) in hashes.zip(0..).chain([(TileKind::Entries, 0)]) {
            let tile = Tile::holding(kind, from >> (level * HEIGHT), to);
            if let Some(tile) = tile.filter(|tile| tile.is_whole()) {
                self.there.remove_partials(&tile.partials())?;
            }
        }
        Ok(())
    }
}
