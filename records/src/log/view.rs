//! Read access to a log. Data must never be returned before it led to a signed checkpoint's root.

use std::collections::HashMap;
use std::path::Path;

use model::Sha256;

use crate::log::LogError;
use crate::log::checkpoint::{Checkpoint, NOTE_BYTES_MAX};
use crate::log::disk::LogDisk;
use crate::log::format::CHECKPOINT;
use crate::log::key::PublicLogKey;
use crate::log::merkle::{
    consistency, inclusion, is_consistent, leaf_hash, perfect_root, range_root,
};
use crate::log::proof::Inclusion;
use crate::log::tile::{
    BUNDLE_BYTES_MAX, HASH_BYTES, HEIGHT, TILE_BYTES, Tile, TileKind, WIDTH, entries, hashes,
};

const NOT_THE_TREE: &str = "does not match the checkpoint";

/// A log at one of its sizes. Reading needs no lock, because covered files never change.
pub struct LogView {
    pub(crate) disk: LogDisk,
    head: Checkpoint,
}

impl LogView {
    /// Opens a log at its newest checkpoint.
    ///
    /// # Errors
    /// [`LogError`]: no directory, no checkpoint, or none signed by this key.
    pub fn open(directory: &Path, log: &PublicLogKey) -> Result<Self, LogError> {
        let disk = LogDisk::open(directory)?;
        let head = read_checkpoint(&disk, log)?
            .ok_or_else(|| LogError::Missing { path: disk.path(CHECKPOINT) })?;
        Ok(Self { disk, head })
    }

    /// Returns the checkpoint.
    #[must_use]
    pub fn head(&self) -> &Checkpoint {
        &self.head
    }

    /// Returns the entry of this index with its proof.
    ///
    /// # Errors
    /// [`LogError`]: no such entry, or the files differ from the signed ones.
    pub fn entry(&self, index: u64) -> Result<(Vec<u8>, Inclusion), LogError> {
        let entry = self.unproved_entry(index)?;
        let inclusion = prove(&self.disk, &self.head, index, leaf_hash(&entry))?;
        Ok((entry, inclusion))
    }

    /// Returns the proof that the log of `old` entries is the beginning of this one. Callers verify
    /// it with [`Checkpoint::grew_into`] against checkpoints from elsewhere.
    ///
    /// # Errors
    /// [`LogError`]: the log never had that size, or the files cannot be read.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Vec<Sha256>, LogError> {
        if old > new || new > self.head.size() {
            return Err(LogError::NoSuchEntry { index: old.max(new), size: self.head.size() });
        }
        let mut hashes = TreeHashes::new(&self.disk, self.head.size());
        consistency(old, new, &mut |level, index| hashes.node(level, index))
    }

    /// Returns the proved root of the log at one of its sizes.
    ///
    /// # Errors
    /// [`LogError`]: the log never had that size, or the files differ from the signed ones.
    pub fn root(&self, size: u64) -> Result<Sha256, LogError> {
        let (head, proof) = (&self.head, self.consistency(size, self.head.size())?);
        let mut hashes = TreeHashes::new(&self.disk, head.size());
        let root = range_root(0, size, &mut |level, index| hashes.node(level, index))?;
        let proved = is_consistent((size, root), (head.size(), head.root()), &proof);
        if proved { Ok(root) } else { Err(self.disk.damaged("tile", NOT_THE_TREE)) }
    }

    fn unproved_entry(&self, index: u64) -> Result<Vec<u8>, LogError> {
        let beyond = LogError::NoSuchEntry { index, size: self.head.size() };
        let tile = Tile::holding(TileKind::Entries, index, self.head.size()).ok_or(beyond)?;
        let bundle = read_bundle(&self.disk, tile)?;
        let all = entries(&bundle).unwrap_or_default();
        let at = usize::try_from(index % WIDTH).unwrap_or(usize::MAX);
        let short = || self.disk.damaged(&tile.path(), "shorter than its name states");
        all.get(at).map(|entry| entry.to_vec()).ok_or_else(short)
    }
}

/// Proves that this leaf has this index in the log.
pub(crate) fn prove(
    disk: &LogDisk,
    head: &Checkpoint,
    index: u64,
    leaf: Sha256,
) -> Result<Inclusion, LogError> {
    TreeHashes::new(disk, head.size()).prove(head, index, leaf)
}

pub(crate) fn read_checkpoint(
    disk: &LogDisk,
    log: &PublicLogKey,
) -> Result<Option<Checkpoint>, LogError> {
    let Some(bytes) = read_note(disk, CHECKPOINT)? else { return Ok(None) };
    let note = String::from_utf8(bytes).map_err(|_| disk.damaged(CHECKPOINT, "not UTF-8"))?;
    let checkpoint = Checkpoint::verify(&note, log);
    let unfit = |fault| LogError::Checkpoint { path: disk.path(CHECKPOINT), fault };
    checkpoint.map(Some).map_err(unfit)
}

/// Reads the bytes of a possible note; `None` if the file does not exist.
pub(crate) fn read_note(disk: &LogDisk, name: &str) -> Result<Option<Vec<u8>>, LogError> {
    disk.read(name, u64::try_from(NOTE_BYTES_MAX).unwrap_or(u64::MAX))
}

/// Returns whether the log at this head grew out of this size and root.
pub(crate) fn grew_into(
    disk: &LogDisk,
    from: (u64, Sha256),
    head: &Checkpoint,
) -> Result<bool, LogError> {
    let size = head.size();
    if from.0 > size {
        return Ok(false);
    }
    let mut hashes = TreeHashes::new(disk, size);
    let proof = consistency(from.0, size, &mut |level, index| hashes.node(level, index))?;
    Ok(is_consistent(from, (size, head.root()), &proof))
}

/// Reads a bundle of exactly this width.
pub(crate) fn read_bundle(disk: &LogDisk, tile: Tile) -> Result<Vec<u8>, LogError> {
    let bytes = read_tile(disk, tile, BUNDLE_BYTES_MAX)?;
    let all =
        entries(&bytes).ok_or_else(|| disk.damaged(&tile.path(), "not a bundle of entries"))?;
    let width = usize::try_from(tile.width).unwrap_or(usize::MAX);
    // A whole bundle can replace a partial one.
    let head = all.get(..width).ok_or_else(|| disk.damaged(&tile.path(), "too short"))?;
    let length = head.iter().map(|entry| entry.len() + 2).sum();
    let mut bytes = bytes;
    bytes.truncate(length);
    Ok(bytes)
}

/// Reads a tile, or the whole one that replaced it.
fn read_tile(disk: &LogDisk, tile: Tile, bytes_max: u64) -> Result<Vec<u8>, LogError> {
    if let Some(bytes) = disk.read(&tile.path(), bytes_max)? {
        return Ok(bytes);
    }
    let whole = disk.read(&tile.whole().path(), bytes_max)?;
    whole.ok_or_else(|| LogError::Missing { path: disk.path(&tile.path()) })
}

pub(crate) fn read_hashes(disk: &LogDisk, tile: Tile) -> Result<Vec<Sha256>, LogError> {
    let mut bytes = read_tile(disk, tile, TILE_BYTES)?;
    let length = usize::try_from(tile.width).unwrap_or(usize::MAX).saturating_mul(HASH_BYTES);
    if bytes.len() < length {
        return Err(disk.damaged(&tile.path(), "too short"));
    }
    bytes.truncate(length);
    hashes(&bytes).ok_or_else(|| disk.damaged(&tile.path(), "not a tile of hashes"))
}

/// The hashes of the tree by position. Unproved: callers compare the root.
pub(crate) struct TreeHashes<'a> {
    disk: &'a LogDisk,
    size: u64,
    /// The last tile of each level, because a path needs neighbours.
    last: Vec<Option<(u64, Vec<Sha256>)>>,
    /// Computed roots, because the paths of a batch share most of theirs.
    known: HashMap<(u32, u64), Sha256>,
}

impl<'a> TreeHashes<'a> {
    pub(crate) fn new(disk: &'a LogDisk, size: u64) -> Self {
        Self { disk, size, last: vec![None; 8], known: HashMap::new() }
    }

    /// Makes one for a tree whose right edge is in memory.
    pub(crate) fn with_frontier(disk: &'a LogDisk, size: u64, edge: &[Vec<Sha256>]) -> Self {
        let mut hashes = Self::new(disk, size);
        for ((slot, tile), level) in hashes.last.iter_mut().zip(edge).zip(0..) {
            let number = (size >> (level * HEIGHT)) / WIDTH;
            *slot = (!tile.is_empty()).then(|| (number, tile.clone()));
        }
        hashes
    }

    pub(crate) fn prove(
        &mut self,
        head: &Checkpoint,
        index: u64,
        leaf: Sha256,
    ) -> Result<Inclusion, LogError> {
        let path = self.inclusion(index)?;
        let damaged = || self.disk.damaged("tile", NOT_THE_TREE);
        Inclusion::new(leaf, index, path, head.clone()).ok_or_else(damaged)
    }

    fn inclusion(&mut self, index: u64) -> Result<Vec<Sha256>, LogError> {
        if index >= self.size {
            return Err(LogError::NoSuchEntry { index, size: self.size });
        }
        let size = self.size;
        inclusion(index, size, &mut |level, index| self.node(level, index))
    }

    /// Returns the root over `1 << level` leaves.
    pub(crate) fn node(&mut self, level: u32, index: u64) -> Result<Sha256, LogError> {
        if let Some(root) = self.known.get(&(level, index)) {
            return Ok(*root);
        }
        let root = self.node_of_tile(level, index)?;
        self.known.insert((level, index), root);
        Ok(root)
    }

    fn node_of_tile(&mut self, level: u32, index: u64) -> Result<Sha256, LogError> {
        let (tile_level, within) = (level / HEIGHT, level % HEIGHT);
        let first = index << within;
        let unknown = || LogError::NoSuchEntry { index, size: self.size };
        let tile =
            Tile::holding(TileKind::Hashes(tile_level), first, self.size).ok_or_else(unknown)?;
        let slot = self.last.get_mut(usize::try_from(tile_level).unwrap_or(usize::MAX));
        let slot = slot.ok_or(LogError::NoSuchEntry { index, size: self.size })?;
        if slot.as_ref().is_none_or(|(number, _)| *number != tile.number) {
            *slot = Some((tile.number, read_hashes(self.disk, tile)?));
        }
        let hashes = slot.as_ref().map_or(&[][..], |(_, hashes)| hashes);
        let from = usize::try_from(first % WIDTH).unwrap_or(usize::MAX);
        let range = hashes.get(from..from.saturating_add(1 << within));
        let root = range.and_then(perfect_root);
        root.ok_or_else(|| self.disk.damaged(&tile.path(), "too short"))
    }
}
