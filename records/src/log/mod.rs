//! The audit log: an append-only Merkle tree in the files of C2SP tlog-tiles, and the one who
//! appends to it. An entry must never be acknowledged before it would survive the power going off,
//! and no signed checkpoint may ever be contradicted by a later one.
//!
//! # What is written, in this order
//!
//! 1. the bundle of entries that now ends with the new one (a new file, under the name that tells
//!    its width), synced with its directory;
//! 2. the tiles of hashes on the right edge: a whole one synced with its directory, a partial one
//!    not, since it can be computed from what lies below it;
//! 3. the checkpoint, in place of the older one, synced with the directory. **This is the moment at
//!    which the entry is in the log**, and only then is it acknowledged;
//! 4. where a head is kept beside the log, it becomes this one (not synced);
//! 5. partial files whose whole ones are there are removed.
//!
//! # What a crash leaves, and what opening does about it
//!
//! Before 3 the checkpoint is the older one, and all that it speaks of is there: files of another
//! width, or whole ones beyond it, are of an entry that was never acknowledged; nobody was ever
//! shown a checkpoint that speaks of them, and the next append replaces them. After 3 the entry is
//! in the log though nobody was told: appending the same bytes again finds it among the latest 256
//! entries or more and gives its proof. After a crash in 5 some partial files stay for ever.
//!
//! Opening reads the checkpoint, the last bundles, and the whole tiles that the right edge is made
//! of; it computes the root and compares it with the one that is signed, so that an edge that was
//! lost or changed is found before anything is appended to it. Then it writes the partial tiles of
//! the edge anew. A log that did not grow out of the head that was kept of it is refused: nobody who
//! saw the other one would believe what is appended to this one.
//!
//! After a failed write or sync nothing more is appended until the log is opened again: what the
//! kernel did with the pages nobody knows.

mod checkpoint;
mod disk;
pub mod entry;
mod error;
mod export;
mod fsck;
mod kept;
mod key;
mod merkle;
mod proof;
mod scan;
mod tile;
mod trusted_root;
mod view;
mod witness;

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Arc;
use std::time::Duration;

use validator::Sha256;

pub use checkpoint::{Checkpoint, CheckpointFault};
pub use entry::{KEY_CHANGE_NAMESPACE, KeyChange, KeyChangeFault, KeyRole};
pub use error::{LogError, Lost};
pub use export::{ExportError, Exported};
pub use fsck::{FsckFault, fsck};
pub use kept::LogPlace;
pub use key::{LogKey, LogOrigin, NotAnOrigin, PublicLogKey};
pub use merkle::is_consistent;
pub use proof::{Inclusion, ProofFault};
pub use scan::{Accounts, Claim, RECORD_BYTES_MAX};
pub use tile::ENTRY_BYTES_MAX;
pub use view::LogView;
pub use witness::{AnswerFault, Cosigned, WitnessKey, checkpoint_in};

pub(crate) use checkpoint::decimal;
pub(crate) use entry::ChangingKey;
pub(crate) use merkle::{HASHES_MAX, leaf_hash};
pub(crate) use trusted_root::trusted_root;

use disk::{Disk, Lock};
use kept::Kept;
use merkle::{Peaks, perfect_root};
use tile::{HEIGHT, Kind, Tile, WIDTH, entries, hash_bytes, push_entry};
use view::{CHECKPOINT, prove, read_bundle, read_checkpoint, read_hashes};

/// The log, open for appending. There is one of it at a time.
pub struct Log {
    disk: Disk,
    key: Arc<LogKey>,
    head: Checkpoint,
    edge: Edge,
    /// Numbers of the latest entries by their leaf hashes.
    latest: HashMap<Sha256, u64>,
    /// The latest entries of the bundle before the last one.
    before: Vec<Sha256>,
    stopped: bool,
    kept: Option<Kept>,
    _lock: Lock,
}

/// The right edge of the tree: all that growing needs.
#[derive(Clone, Default)]
struct Edge {
    peaks: Peaks,
    /// The partial tile of each level; fewer than 256 hashes each.
    tiles: Vec<Vec<Sha256>>,
    /// The partial bundle.
    bundle: Vec<u8>,
}

impl Edge {
    /// The partial tiles of hashes that are not those of this smaller size; what lies below them is
    /// there, so they may be lost again.
    fn partials(&self, than: u64) -> Vec<(Tile, Vec<u8>)> {
        let size = self.peaks.size();
        let items = |size: u64, level: u32| size >> (level * HEIGHT);
        let levels = self.tiles.iter().zip(0..).filter(|(hashes, _)| !hashes.is_empty());
        let grown = levels.filter(|(_, level)| items(than, *level) != items(size, *level));
        grown
            .filter_map(|(hashes, level)| {
                let last = items(size, level).checked_sub(1)?;
                let tile = Tile::holding(Kind::Hashes(level), last, size)?;
                Some((tile, hash_bytes(hashes)))
            })
            .collect()
    }
}

impl Log {
    /// Opens a log, or makes an empty one (and the directory, mode 0755: it holds nothing secret).
    ///
    /// # Errors
    /// [`LogError`]: another process has it open, the files are not what the checkpoint says, the
    /// checkpoint is not of this key, or the log is not the one whose head was kept.
    pub fn open_or_create(
        place: impl Into<LogPlace>,
        key: impl Into<Arc<LogKey>>,
    ) -> Result<Self, LogError> {
        Self::open_locked(&place.into(), key.into(), Disk::lock)
    }

    /// The same beside others: while another process has it open, waits for so long.
    ///
    /// # Errors
    /// [`LogError`], as [`Self::open_or_create`].
    pub fn open_within(
        wait: Duration,
        place: impl Into<LogPlace>,
        key: impl Into<Arc<LogKey>>,
    ) -> Result<Self, LogError> {
        Self::open_locked(&place.into(), key.into(), |disk| disk.lock_within(wait))
    }

    fn open_locked(
        place: &LogPlace,
        key: Arc<LogKey>,
        lock: impl FnOnce(&Disk) -> Result<Lock, LogError>,
    ) -> Result<Self, LogError> {
        let directory = place.directory();
        let kept = place.kept()?;
        if let Some(kept) = &kept {
            kept.refuse_loss(directory)?;
        }
        let made = DirBuilder::new().recursive(true).mode(0o755).create(directory);
        let failed = |source| LogError::Io { path: directory.to_owned(), act: "making", source };
        made.map_err(failed)?;
        let disk = Disk::open(directory)?;
        let lock = lock(&disk)?;
        let head = match read_checkpoint(&disk, key.public())? {
            Some(head) => head,
            // The first checkpoint is there before the first tile.
            None if disk.has_directory("tile")? => {
                return Err(LogError::Missing { path: disk.path(CHECKPOINT) });
            }
            None => {
                let empty = Checkpoint::sign(0, Peaks::default().root(), &key, None)?;
                disk.place(CHECKPOINT, empty.note().as_bytes())?;
                empty
            }
        };
        let (edge, before) = recover(&disk, &head)?;
        if let Some(kept) = &kept {
            kept.is_of(&disk, &head)?;
        }
        let mut log = Self {
            disk,
            key,
            head,
            edge,
            latest: HashMap::new(),
            before,
            stopped: false,
            kept,
            _lock: lock,
        };
        log.index_latest();
        Ok(log)
    }

    /// The newest checkpoint.
    #[must_use]
    pub fn head(&self) -> &Checkpoint {
        &self.head
    }

    /// What checks everything that this log says.
    #[must_use]
    pub fn key(&self) -> &PublicLogKey {
        self.key.public()
    }

    /// Appends an entry and gives the proof. Bytes that are among the latest entries are not
    /// appended again: so a caller that crashed can say again what it was saying.
    ///
    /// # Errors
    /// [`LogError`]. After one of writing, every further append is refused.
    pub fn append(&mut self, entry: &[u8]) -> Result<Inclusion, LogError> {
        self.append_signed(entry, None)
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
            self.stopped = true;
            let (size, root) = (self.head.size(), self.head.root());
            let head = Checkpoint::sign(size, root, &self.key, Some(successor))?;
            self.disk.place(CHECKPOINT, head.note().as_bytes())?;
            self.head = head;
            self.stopped = false;
        }
        Ok(inclusion)
    }

    fn append_signed(
        &mut self,
        entry: &[u8],
        successor: Option<&LogKey>,
    ) -> Result<Inclusion, LogError> {
        if self.stopped {
            return Err(LogError::Stopped);
        }
        if entry.len() > ENTRY_BYTES_MAX {
            return Err(LogError::TooLarge { bytes: entry.len() });
        }
        let leaf = leaf_hash(entry);
        if let Some(index) = self.latest.get(&leaf) {
            return self.prove(*index, leaf);
        }
        self.stopped = true;
        let (index, path) = (self.edge.peaks.size(), self.edge.peaks.path_of_next());
        self.write(entry, leaf, successor)?;
        self.stopped = false;
        self.latest.insert(leaf, index);
        if (index + 1).is_multiple_of(WIDTH) {
            self.forget_older(index);
        }
        let wrong = || self.disk.damaged(CHECKPOINT, "not the root of the tree");
        Inclusion::new(leaf, index, path, self.head.clone()).ok_or_else(wrong)
    }

    /// The proof of an entry that is there, against the newest checkpoint.
    fn prove(&self, index: u64, leaf: Sha256) -> Result<Inclusion, LogError> {
        prove(&self.disk, &self.head, index, leaf)
    }

    fn write(
        &mut self,
        entry: &[u8],
        leaf: Sha256,
        successor: Option<&LogKey>,
    ) -> Result<(), LogError> {
        let mut edge = std::mem::take(&mut self.edge);
        let index = edge.peaks.size();
        let too_large = LogError::TooLarge { bytes: entry.len() };
        push_entry(&mut edge.bundle, entry).ok_or(too_large)?;
        let file = |kind, item| {
            Tile::holding(kind, item, index + 1).ok_or(LogError::NoSuchEntry { index, size: index })
        };
        let bundle = file(Kind::Entries, index)?;
        self.disk.place(&bundle.path(), &edge.bundle)?;
        edge.peaks.push(0, leaf);
        let mut whole = Vec::new();
        if bundle.is_whole() {
            edge.bundle.clear();
            whole.push(bundle);
        }
        let (mut level, mut carry) = (0, Some(leaf));
        while let Some(hash) = carry.take() {
            let at = usize::try_from(level).unwrap_or(usize::MAX);
            if edge.tiles.len() <= at {
                edge.tiles.push(Vec::new());
            }
            let Some(hashes) = edge.tiles.get_mut(at) else { break };
            hashes.push(hash);
            let tile = file(Kind::Hashes(level), index >> (level * HEIGHT))?;
            if tile.is_whole() {
                self.disk.place(&tile.path(), &hash_bytes(hashes))?;
                carry = perfect_root(hashes);
                hashes.clear();
                whole.push(tile);
            } else {
                self.disk.place_unsynced(&tile.path(), &hash_bytes(hashes))?;
            }
            level += 1;
        }
        let head = Checkpoint::sign(index + 1, edge.peaks.root(), &self.key, successor)?;
        self.disk.place(CHECKPOINT, head.note().as_bytes())?;
        (self.head, self.edge) = (head, edge);
        self.kept.as_ref().map_or(Ok(()), |kept| kept.store(&self.head))?;
        whole.iter().try_for_each(|tile| self.disk.remove_partials(&tile.partials()))
    }

    fn index_latest(&mut self) {
        let partial = self.edge.tiles.first().map_or(&[][..], |hashes| hashes);
        let leaves: Vec<Sha256> = self.before.iter().chain(partial).copied().collect();
        let first = self.head.size() - u64::try_from(leaves.len()).unwrap_or(u64::MAX);
        self.latest = leaves.into_iter().zip(first..).collect();
    }

    /// Keeps the entries of the bundle that ends with this one.
    fn forget_older(&mut self, last: u64) {
        self.latest.retain(|_, index| *index + WIDTH > last);
    }
}

/// Reads the right edge of the tree, and writes its partial tiles anew: a crash may have lost them.
fn recover(disk: &Disk, head: &Checkpoint) -> Result<(Edge, Vec<Sha256>), LogError> {
    let (edge, before) = read_edge(disk, head)?;
    for (tile, bytes) in edge.partials(0) {
        disk.place_unsynced(&tile.path(), &bytes)?;
    }
    Ok((edge, before))
}

/// Reads the right edge of the tree and compares it with the checkpoint; gives also the leaf hashes
/// of the last whole bundle.
fn read_edge(disk: &Disk, head: &Checkpoint) -> Result<(Edge, Vec<Sha256>), LogError> {
    let size = head.size();
    let mut edge = Edge::default();
    let leaves = |bundle: &[u8]| -> Vec<Sha256> {
        entries(bundle).unwrap_or_default().into_iter().map(leaf_hash).collect()
    };
    if !size.is_multiple_of(WIDTH) {
        let last = Tile::holding(Kind::Entries, size - 1, size);
        edge.bundle = last.map_or(Ok(Vec::new()), |tile| read_bundle(disk, tile))?;
    }
    edge.tiles.push(leaves(&edge.bundle));
    let mut level = 1;
    while size >> (level * HEIGHT) > 0 {
        let items = size >> (level * HEIGHT);
        let roots = (items - items % WIDTH..items).map(|item| {
            let below = Tile { kind: Kind::Hashes(level - 1), number: item, width: WIDTH };
            let root = perfect_root(&read_hashes(disk, below)?);
            root.ok_or_else(|| disk.damaged(&below.path(), "not a whole tile"))
        });
        edge.tiles.push(roots.collect::<Result<_, _>>()?);
        level += 1;
    }
    for (hashes, level) in edge.tiles.iter().rev().zip((0..level).rev()) {
        hashes.iter().for_each(|hash| edge.peaks.push(level * HEIGHT, *hash));
    }
    if (edge.peaks.size(), edge.peaks.root()) != (size, head.root()) {
        return Err(disk.damaged(CHECKPOINT, "its root is not that of the files"));
    }
    let before = match (size / WIDTH).checked_sub(1) {
        Some(number) => {
            let bundle = Tile { kind: Kind::Entries, number, width: WIDTH };
            leaves(&read_bundle(disk, bundle)?)
        }
        None => Vec::new(),
    };
    Ok((edge, before))
}
