//! Appends: one entry that is durable when acknowledged, or a batch that the caller makes durable
//! between two steps. Nothing may be written under a name that the previous checkpoint covers.

use std::collections::HashMap;
use std::path::Path;

use model::Sha256;

use crate::log::checkpoint::Checkpoint;
use crate::log::format::{BATCH_MAX, CHECKPOINT, REMEMBERED_MIN};
use crate::log::frontier::FrontierGrowth;
use crate::log::merkle::leaf_hash;
use crate::log::open::LogState;
use crate::log::proof::Inclusion;
use crate::log::roll_forward::DRAFTS;
use crate::log::tile::ENTRY_BYTES_MAX;
use crate::log::view::TreeHashes;
use crate::log::{Log, LogError, LogKey};

/// A batch that is written and not yet acknowledged. All of it must be durable before
/// [`Log::adopt`]. Until then the log refuses entries. Opening rolls forward to a complete batch.
#[must_use = "the log refuses entries until the batch is adopted"]
pub struct PreparedBatch {
    inclusions: Vec<Inclusion>,
    next: Option<NextLogState>,
}

impl PreparedBatch {
    /// Returns the proof of each entry, in the given order, all against the checkpoint of the whole
    /// batch. Must not be published before the batch is durable.
    #[must_use]
    pub fn inclusions(&self) -> &[Inclusion] {
        &self.inclusions
    }
}

struct NextLogState {
    head: Checkpoint,
    growth: FrontierGrowth,
    added: HashMap<Sha256, u64>,
}

/// The index and leaf hash of each entry, and the next state if any entry is new.
struct LogBatch {
    positions: Vec<(u64, Sha256)>,
    next: Option<NextLogState>,
}

impl Log {
    /// Appends an entry and returns its proof. An entry that is among the latest ones is not
    /// appended again, so a caller that crashed can retry.
    ///
    /// # Errors
    /// [`LogError`]. After a failed write, every further append is refused.
    pub fn append(&mut self, entry: &[u8]) -> Result<Inclusion, LogError> {
        self.append_signed(entry, None)
    }

    /// Appends an entry as [`Self::append`] does, and calls `prove` with its proof before the entry is
    /// in the log. `prove` must make its files durable, so that the log never has an entry without
    /// them.
    ///
    /// # Errors
    /// As [`Self::append`], and the errors of `prove`: a new entry is not in the log then.
    pub fn append_proved<E: From<LogError>>(
        &mut self,
        entry: &[u8],
        prove: impl FnOnce(&Inclusion) -> Result<(), E>,
    ) -> Result<(), E> {
        self.append_with(entry, None, prove)
    }

    /// Writes a batch and a draft of its single checkpoint, without a sync. Before [`Self::adopt`],
    /// the caller must sync the whole file system of [`Self::directory`]. Entries that are among
    /// the latest ones, or twice in the batch, are not appended again.
    ///
    /// # Errors
    /// [`LogError`]: more than [`BATCH_MAX`] entries or a too large one (nothing is written then),
    /// a batch that is not adopted yet, or a failed write, after which every append is refused.
    pub fn prepare(&mut self, entries: &[impl AsRef<[u8]>]) -> Result<PreparedBatch, LogError> {
        self.prepare_proved(entries, |_| Ok(()))
    }

    /// Prepares a batch as [`Self::prepare`] does, and calls `prove` before it writes the draft, so
    /// that a killed process never leaves a draft without the files that `prove` writes.
    ///
    /// # Errors
    /// As [`Self::prepare`], and the errors of `prove`.
    pub fn prepare_proved<E: From<LogError>>(
        &mut self,
        entries: &[impl AsRef<[u8]>],
        prove: impl FnOnce(&[Inclusion]) -> Result<(), E>,
    ) -> Result<PreparedBatch, E> {
        let LogBatch { positions: places, next } = self.batch(entries, None)?;
        if let Some(next) = &next {
            // Write an empty draft first: opening syncs the file system if it finds a draft.
            self.disk.write_without_sync(self.draft(), b"")?;
            for (tile, bytes) in next.growth.files() {
                self.disk.write_without_sync(&tile.path(), bytes)?;
            }
        }
        let inclusions = self.prove(&places, next.as_ref())?;
        prove(&inclusions)?;
        if let Some(next) = &next {
            // Write the checkpoint last: opening rolls forward to it.
            self.disk.write_without_sync(self.draft(), next.head.note().as_bytes())?;
            self.state = LogState::Prepared(next.head.root());
        }
        Ok(PreparedBatch { inclusions, next })
    }

    /// Renames the draft of a batch to the checkpoint. Must only be called after everything on the
    /// file system of [`Self::directory`] is durable. The caller's next barrier makes the new name
    /// durable; if it is lost before that, opening rolls forward again.
    ///
    /// # Errors
    /// [`LogError`]: another batch than the one that this log has prepared, or a failed rename.
    /// Every further append is refused then, and the batch is in the log when it is opened again.
    pub fn adopt(&mut self, prepared: PreparedBatch) -> Result<(), LogError> {
        let Some(next) = prepared.next else { return Ok(()) };
        if !matches!(self.state, LogState::Prepared(root) if root == next.head.root()) {
            return Err(LogError::Stopped);
        }
        self.state = LogState::Stopped;
        self.disk.rename(self.draft(), CHECKPOINT)?;
        self.drafts_written += 1;
        self.advance(next)
    }

    /// Returns the log's directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.disk.directory()
    }

    /// Appends the entry of a rotation to another log key. That key signs the checkpoint as well,
    /// so that readers who know either key can continue. Later checkpoints are signed by it alone.
    pub(crate) fn append_rotation(
        &mut self,
        entry: &[u8],
        successor: &LogKey,
    ) -> Result<Inclusion, LogError> {
        let inclusion = self.append_signed(entry, Some(successor))?;
        // After an interruption the log may have the entry, under a checkpoint without this key.
        let signed = Checkpoint::verify(self.head.note(), successor.public());
        if signed.is_err() {
            self.state = LogState::Stopped;
            let (size, root) = (self.head.size(), self.head.root());
            let head = Checkpoint::sign(size, root, &self.key, Some(successor))?;
            self.disk.write_synced(CHECKPOINT, head.note().as_bytes())?;
            self.head = head;
            self.state = LogState::Ready;
        }
        Ok(inclusion)
    }

    fn append_signed(
        &mut self,
        entry: &[u8],
        successor: Option<&LogKey>,
    ) -> Result<Inclusion, LogError> {
        let mut proved = None;
        self.append_with(entry, successor, |inclusion| {
            proved = Some(inclusion.clone());
            Ok::<_, LogError>(())
        })?;
        proved.ok_or_else(|| self.no_entry())
    }

    fn append_with<E: From<LogError>>(
        &mut self,
        entry: &[u8],
        successor: Option<&LogKey>,
        prove: impl FnOnce(&Inclusion) -> Result<(), E>,
    ) -> Result<(), E> {
        let LogBatch { positions: places, next } = self.batch(&[entry], successor)?;
        if let Some(next) = &next {
            for (tile, bytes) in &next.growth.whole {
                self.disk.write_synced(&tile.path(), bytes)?;
            }
            for (tile, bytes) in &next.growth.partial {
                self.disk.write_unsynced(&tile.path(), bytes)?;
            }
        }
        let inclusions = self.prove(&places, next.as_ref())?;
        prove(inclusions.first().ok_or_else(|| self.no_entry())?)?;
        if let Some(next) = next {
            self.disk.write_synced(CHECKPOINT, next.head.note().as_bytes())?;
            self.advance(next)?;
        }
        Ok(())
    }

    fn no_entry(&self) -> LogError {
        LogError::NoSuchEntry { index: self.head.size(), size: self.head.size() }
    }

    /// Assigns an index to each entry and computes the next state of the log. From here on the log
    /// refuses entries until the append is finished.
    fn batch(
        &mut self,
        entries: &[impl AsRef<[u8]>],
        successor: Option<&LogKey>,
    ) -> Result<LogBatch, LogError> {
        if !matches!(self.state, LogState::Ready) {
            return Err(LogError::Stopped);
        }
        if entries.len() > BATCH_MAX {
            return Err(LogError::TooMany { entries: entries.len() });
        }
        let mut bytes = entries.iter().map(|entry| entry.as_ref().len());
        if let Some(bytes) = bytes.find(|bytes| *bytes > ENTRY_BYTES_MAX) {
            return Err(LogError::TooLarge { bytes });
        }
        let (mut added, mut new, mut places) = (HashMap::new(), Vec::new(), Vec::new());
        let mut size = self.head.size();
        for entry in entries.iter().map(AsRef::as_ref) {
            let leaf = leaf_hash(entry);
            let index = self.latest.get(&leaf).or_else(|| added.get(&leaf)).copied();
            places.push((index.unwrap_or(size), leaf));
            if index.is_none() {
                added.insert(leaf, size);
                new.push((entry, leaf));
                size += 1;
            }
        }
        let next = if new.is_empty() { None } else { Some(self.next(new, added, successor)?) };
        Ok(LogBatch { positions: places, next })
    }

    fn next(
        &mut self,
        new: Vec<(&[u8], Sha256)>,
        added: HashMap<Sha256, u64>,
        successor: Option<&LogKey>,
    ) -> Result<NextLogState, LogError> {
        self.state = LogState::Stopped;
        let grown = std::mem::take(&mut self.frontier).append(new);
        let growth = grown.ok_or(LogError::TooLarge { bytes: ENTRY_BYTES_MAX + 1 })?;
        let (size, root) = (growth.frontier.size(), growth.frontier.peaks.root());
        let head = Checkpoint::sign(size, root, &self.key, successor)?;
        Ok(NextLogState { head, growth, added })
    }

    /// Returns the proofs of written entries, against the next or else the present checkpoint.
    fn prove(
        &self,
        places: &[(u64, Sha256)],
        next: Option<&NextLogState>,
    ) -> Result<Vec<Inclusion>, LogError> {
        let head = next.map_or(&self.head, |next| &next.head);
        let edge = next.map_or(&self.frontier, |next| &next.growth.frontier);
        let mut hashes = TreeHashes::with_frontier(&self.disk, edge.size(), &edge.tiles);
        places.iter().map(|(index, leaf)| hashes.prove(head, *index, *leaf)).collect()
    }

    fn advance(&mut self, next: NextLogState) -> Result<(), LogError> {
        let NextLogState { head, growth, added } = next;
        self.latest.extend(added);
        let (size, whole) = (head.size(), growth.whole_tiles().collect::<Vec<_>>());
        if !whole.is_empty() {
            self.latest.retain(|_, index| *index + REMEMBERED_MIN >= size);
        }
        (self.head, self.frontier) = (head, growth.frontier);
        self.persisted_state.as_ref().map_or(Ok(()), |kept| kept.store(&self.head))?;
        whole.iter().try_for_each(|tile| self.disk.remove_partials(&tile.partials()))?;
        self.state = LogState::Ready;
        Ok(())
    }

    fn draft(&self) -> &'static str {
        DRAFTS[self.drafts_written % DRAFTS.len()]
    }
}
