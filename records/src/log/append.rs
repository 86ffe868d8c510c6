//! Appending: one entry that is durable when it is acknowledged, or a batch that its caller makes
//! durable between two steps. Nothing may be put under a name that the checkpoint before speaks of.

use std::collections::HashMap;
use std::path::Path;

use model::Sha256;

use crate::log::checkpoint::Checkpoint;
use crate::log::edge::Growth;
use crate::log::format::{BATCH_MAX, CHECKPOINT, REMEMBERED};
use crate::log::forward::DRAFTS;
use crate::log::merkle::leaf_hash;
use crate::log::open::State;
use crate::log::proof::Inclusion;
use crate::log::tile::ENTRY_BYTES_MAX;
use crate::log::view::Hashes;
use crate::log::{Log, LogError, LogKey};

/// A batch that is written and not yet acknowledged. Everything of it has to be durable before
/// [`Log::adopt`]; without that the log takes nothing more until it is opened again, which goes
/// forward to the batch if it is whole.
#[must_use = "the log takes nothing more before the batch is adopted"]
pub struct Prepared {
    inclusions: Vec<Inclusion>,
    next: Option<Next>,
}

impl Prepared {
    /// The proof of each entry, in the order in which they were given, all against the checkpoint
    /// of the whole batch. To be shown to nobody before the batch is durable.
    #[must_use]
    pub fn inclusions(&self) -> &[Inclusion] {
        &self.inclusions
    }
}

/// What the log becomes.
struct Next {
    head: Checkpoint,
    growth: Growth,
    added: HashMap<Sha256, u64>,
}

/// Entries by their places in the log, of which the new ones make it grow.
struct Batch {
    places: Vec<(u64, Sha256)>,
    next: Option<Next>,
}

impl Log {
    /// Appends an entry and gives the proof. Bytes that are among the latest entries are not
    /// appended again: so a caller that crashed can say again what it was saying.
    ///
    /// # Errors
    /// [`LogError`]. After one of writing, every further append is refused.
    pub fn append(&mut self, entry: &[u8]) -> Result<Inclusion, LogError> {
        self.append_signed(entry, None)
    }

    /// Writes a batch of entries and a draft of the one checkpoint for all of them, and syncs
    /// nothing: that is the caller's part, for the whole file system of [`Self::directory`], before
    /// [`Self::adopt`]. Entries that are among the latest ones, or twice in the batch, are not
    /// appended again.
    ///
    /// # Errors
    /// [`LogError`]: more than [`BATCH_MAX`] entries, one that is too large (nothing is written
    /// then), a batch that is not adopted yet, or one of writing, after which every further append
    /// is refused.
    pub fn prepare(&mut self, entries: &[impl AsRef<[u8]>]) -> Result<Prepared, LogError> {
        self.prepare_proved(entries, |_| Ok(()))
    }

    /// The same; what goes with the proofs is written between the entries and the draft. A process that
    /// is killed leaves no draft then without what belongs to it.
    ///
    /// # Errors
    /// As [`Self::prepare`], and whatever `prove` says.
    pub fn prepare_proved<E: From<LogError>>(
        &mut self,
        entries: &[impl AsRef<[u8]>],
        prove: impl FnOnce(&[Inclusion]) -> Result<(), E>,
    ) -> Result<Prepared, E> {
        let Batch { places, next } = self.batch(entries, None)?;
        if let Some(next) = &next {
            // Empty, so that nothing was begun without one: opening syncs what it finds a draft of.
            self.disk.place_later(self.draft(), b"")?;
            for (tile, bytes) in next.growth.files() {
                self.disk.place_later(&tile.path(), bytes)?;
            }
        }
        let inclusions = self.prove(&places, next.as_ref())?;
        prove(&inclusions)?;
        if let Some(next) = &next {
            // Last: opening goes forward to what it says.
            self.disk.place_later(self.draft(), next.head.note().as_bytes())?;
            self.state = State::Prepared(next.head.root());
        }
        Ok(Prepared { inclusions, next })
    }

    /// Puts the draft of a batch in the place of the checkpoint. To be called only after everything
    /// on the file system of [`Self::directory`] was made durable; the new name is made so by the
    /// caller's next barrier, and until then by what opening does about a draft.
    ///
    /// # Errors
    /// [`LogError`]: not the batch that this log has prepared, or one of writing. Then every further
    /// append is refused, and opening the log again finds the batch in it.
    pub fn adopt(&mut self, prepared: Prepared) -> Result<(), LogError> {
        let Some(next) = prepared.next else { return Ok(()) };
        if !matches!(self.state, State::Prepared(root) if root == next.head.root()) {
            return Err(LogError::Stopped);
        }
        self.state = State::Stopped;
        self.disk.rename(self.draft(), CHECKPOINT)?;
        self.draft += 1;
        self.become_next(next)
    }

    /// Where the log's files are.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.disk.directory()
    }

    /// Appends the entry that says that another key takes the place of this log's. That key signs the
    /// checkpoint too, so that whoever knows either can read on; later ones are its own.
    pub(crate) fn append_handing_over(
        &mut self,
        entry: &[u8],
        successor: &LogKey,
    ) -> Result<Inclusion, LogError> {
        let inclusion = self.append_signed(entry, Some(successor))?;
        // The entry may have been there from before an interruption, below any checkpoint.
        let signed = Checkpoint::verify(self.head.note(), successor.public());
        if signed.is_err() {
            self.state = State::Stopped;
            let (size, root) = (self.head.size(), self.head.root());
            let head = Checkpoint::sign(size, root, &self.key, Some(successor))?;
            self.disk.place(CHECKPOINT, head.note().as_bytes())?;
            self.head = head;
            self.state = State::Whole;
        }
        Ok(inclusion)
    }

    fn append_signed(
        &mut self,
        entry: &[u8],
        successor: Option<&LogKey>,
    ) -> Result<Inclusion, LogError> {
        let Batch { places, next } = self.batch(&[entry], successor)?;
        if let Some(next) = &next {
            for (tile, bytes) in &next.growth.whole {
                self.disk.place(&tile.path(), bytes)?;
            }
            for (tile, bytes) in &next.growth.partial {
                self.disk.place_unsynced(&tile.path(), bytes)?;
            }
        }
        let mut inclusions = self.prove(&places, next.as_ref())?;
        if let Some(next) = next {
            self.disk.place(CHECKPOINT, next.head.note().as_bytes())?;
            self.become_next(next)?;
        }
        let none = LogError::NoSuchEntry { index: self.head.size(), size: self.head.size() };
        inclusions.pop().ok_or(none)
    }

    /// Gives each entry its place, and computes what the log becomes. From here on it takes nothing
    /// more until that is done.
    fn batch(
        &mut self,
        entries: &[impl AsRef<[u8]>],
        successor: Option<&LogKey>,
    ) -> Result<Batch, LogError> {
        if !matches!(self.state, State::Whole) {
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
        Ok(Batch { places, next })
    }

    fn next(
        &mut self,
        new: Vec<(&[u8], Sha256)>,
        added: HashMap<Sha256, u64>,
        successor: Option<&LogKey>,
    ) -> Result<Next, LogError> {
        self.state = State::Stopped;
        let grown = std::mem::take(&mut self.edge).grown(new);
        let growth = grown.ok_or(LogError::TooLarge { bytes: ENTRY_BYTES_MAX + 1 })?;
        let (size, root) = (growth.edge.size(), growth.edge.peaks.root());
        let head = Checkpoint::sign(size, root, &self.key, successor)?;
        Ok(Next { head, growth, added })
    }

    /// The proofs of entries that are written, against the checkpoint that comes, or the one that
    /// is.
    fn prove(
        &self,
        places: &[(u64, Sha256)],
        next: Option<&Next>,
    ) -> Result<Vec<Inclusion>, LogError> {
        let head = next.map_or(&self.head, |next| &next.head);
        let edge = next.map_or(&self.edge, |next| &next.growth.edge);
        let mut hashes = Hashes::beside(&self.disk, edge.size(), &edge.tiles);
        places.iter().map(|(index, leaf)| hashes.prove(head, *index, *leaf)).collect()
    }

    fn become_next(&mut self, next: Next) -> Result<(), LogError> {
        let Next { head, growth, added } = next;
        self.latest.extend(added);
        let (size, whole) = (head.size(), growth.superseding().collect::<Vec<_>>());
        if !whole.is_empty() {
            self.latest.retain(|_, index| *index + REMEMBERED >= size);
        }
        (self.head, self.edge) = (head, growth.edge);
        self.kept.as_ref().map_or(Ok(()), |kept| kept.store(&self.head))?;
        whole.iter().try_for_each(|tile| self.disk.remove_partials(&tile.partials()))?;
        self.state = State::Whole;
        Ok(())
    }

    /// The name of the next draft.
    fn draft(&self) -> &'static str {
        DRAFTS[self.draft % DRAFTS.len()]
    }
}
