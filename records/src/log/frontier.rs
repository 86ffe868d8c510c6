//! The right edge of the tree: all the state that appending needs, and the files that it produces.
//! Only reading the edge accesses the disk. It must lead to the signed root before it is used.

use model::Sha256;

use crate::log::LogError;
use crate::log::checkpoint::Checkpoint;
use crate::log::disk::LogDisk;
use crate::log::format::CHECKPOINT;
use crate::log::merkle::{Peaks, leaf_hash, perfect_root};
use crate::log::tile::{HEIGHT, Tile, TileKind, WIDTH, entries, hash_bytes, push_entry};
use crate::log::view::{read_bundle, read_hashes};

pub(crate) type TileFile = (Tile, Vec<u8>);

#[derive(Clone, Default)]
pub(crate) struct MerkleFrontier {
    pub(crate) peaks: Peaks,
    /// The partial tile of each level, with fewer than 256 hashes each.
    pub(crate) tiles: Vec<Vec<Sha256>>,
    bundle: Vec<u8>,
}

/// The edge of a grown tree, and the files that the growth adds.
pub(crate) struct FrontierGrowth {
    pub(crate) frontier: MerkleFrontier,
    /// Whole bundles and hash tiles, and a partial last bundle. No other file has their contents.
    pub(crate) whole: Vec<TileFile>,
    /// Partial hash tiles, which can be computed from the levels below.
    pub(crate) partial: Vec<TileFile>,
}

impl FrontierGrowth {
    pub(crate) fn files(&self) -> impl Iterator<Item = &TileFile> {
        self.whole.iter().chain(&self.partial)
    }

    /// Returns the whole tiles that replace partial ones.
    pub(crate) fn whole_tiles(&self) -> impl Iterator<Item = Tile> {
        self.whole.iter().map(|(tile, _)| *tile).filter(|tile| tile.is_whole())
    }
}

impl MerkleFrontier {
    pub(crate) fn size(&self) -> u64 {
        self.peaks.size()
    }

    /// Returns the tree with these entries appended; `None` if an entry is too long.
    pub(crate) fn append<'a>(
        mut self,
        entries: impl IntoIterator<Item = (&'a [u8], Sha256)>,
    ) -> Option<FrontierGrowth> {
        let (from, mut whole) = (self.size(), Vec::new());
        for (entry, leaf) in entries {
            let index = self.size();
            push_entry(&mut self.bundle, entry)?;
            if (index + 1).is_multiple_of(WIDTH) {
                let bundle = Tile { kind: TileKind::Entries, number: index / WIDTH, width: WIDTH };
                whole.push((bundle, std::mem::take(&mut self.bundle)));
            }
            self.push_leaf(leaf, &mut whole);
        }
        let size = self.size();
        let last = size.checked_sub(1).filter(|_| size > from && !self.bundle.is_empty());
        if let Some(bundle) = last.and_then(|last| Tile::holding(TileKind::Entries, last, size)) {
            whole.push((bundle, self.bundle.clone()));
        }
        let partial = self.partials(from);
        Some(FrontierGrowth { frontier: self, whole, partial })
    }

    /// Adds a leaf and appends the completed hash tiles to `whole`.
    pub(crate) fn push_leaf(&mut self, leaf: Sha256, whole: &mut Vec<TileFile>) {
        let index = self.size();
        self.peaks.push(0, leaf);
        let (mut level, mut carry) = (0_u32, Some(leaf));
        while let Some(hash) = carry.take() {
            let at = usize::try_from(level).unwrap_or(usize::MAX);
            if self.tiles.len() <= at {
                self.tiles.push(Vec::new());
            }
            let Some(hashes) = self.tiles.get_mut(at) else { break };
            hashes.push(hash);
            if hashes.len() == 256 {
                let number = (index >> (level * HEIGHT)) / WIDTH;
                let tile = Tile { kind: TileKind::Hashes(level), number, width: WIDTH };
                let hashes = std::mem::take(hashes);
                carry = perfect_root(&hashes);
                whole.push((tile, hash_bytes(&hashes)));
            }
            level += 1;
        }
    }

    /// Returns the partial hash tiles that differ from those of the smaller size. They may be lost,
    /// because the levels below them exist.
    pub(crate) fn partials(&self, than: u64) -> Vec<TileFile> {
        let size = self.size();
        let items = |size: u64, level: u32| size >> (level * HEIGHT);
        let levels = self.tiles.iter().zip(0..).filter(|(hashes, _)| !hashes.is_empty());
        let grown = levels.filter(|(_, level)| items(than, *level) != items(size, *level));
        grown
            .filter_map(|(hashes, level)| {
                let last = items(size, level).checked_sub(1)?;
                let tile = Tile::holding(TileKind::Hashes(level), last, size)?;
                Some((tile, hash_bytes(hashes)))
            })
            .collect()
    }

    /// Reads the right edge of the tree and verifies it against the checkpoint.
    pub(crate) fn read(disk: &LogDisk, head: &Checkpoint) -> Result<Self, LogError> {
        let size = head.size();
        let mut edge = Self::default();
        if !size.is_multiple_of(WIDTH) {
            let last = Tile::holding(TileKind::Entries, size - 1, size);
            edge.bundle = last.map_or(Ok(Vec::new()), |tile| read_bundle(disk, tile))?;
        }
        let partial = entries(&edge.bundle).unwrap_or_default();
        edge.tiles.push(partial.into_iter().map(leaf_hash).collect());
        let mut level = 1;
        while size >> (level * HEIGHT) > 0 {
            let items = size >> (level * HEIGHT);
            let roots = (items - items % WIDTH..items).map(|item| {
                let below = Tile { kind: TileKind::Hashes(level - 1), number: item, width: WIDTH };
                let root = perfect_root(&read_hashes(disk, below)?);
                root.ok_or_else(|| disk.damaged(&below.path(), "not a complete tile"))
            });
            edge.tiles.push(roots.collect::<Result<_, _>>()?);
            level += 1;
        }
        for (hashes, level) in edge.tiles.iter().rev().zip((0..level).rev()) {
            hashes.iter().for_each(|hash| edge.peaks.push(level * HEIGHT, *hash));
        }
        if (edge.size(), edge.peaks.root()) != (size, head.root()) {
            return Err(disk.damaged(CHECKPOINT, "its root does not match the files"));
        }
        Ok(edge)
    }
}
