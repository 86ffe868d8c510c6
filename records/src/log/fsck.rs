//! The whole log, read and computed again from its entries. It must never change a file, and never
//! take a hash from a tile for true that it did not compute.

use std::collections::HashMap;
use std::fmt;

use validator::Sha256;

use crate::log::merkle::{Peaks, leaf_hash, perfect_root};
use crate::log::tile::{HEIGHT, Kind, Tile, WIDTH, entries};
use crate::log::view::{LogView, read_bundle, read_hashes};
use crate::log::{LogError, PublicLogKey};

/// One thing that is wrong with a log.
#[derive(Debug)]
pub enum FsckFault {
    /// A file cannot be read, or is not what it has to be.
    File(LogError),
    /// A tile does not hold the hashes of what lies below it.
    Tile { path: String },
    /// The entries are not those that the checkpoint was signed for.
    Root { computed: Sha256, signed: Sha256 },
    /// The same entry twice.
    Duplicate { first: u64, second: u64 },
}

impl fmt::Display for FsckFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Tile { path } => write!(f, "{path}: not the hashes of what lies below it"),
            Self::Root { computed, signed } => {
                write!(f, "checkpoint: the root of the entries is {computed}, signed is {signed}")
            }
            Self::Duplicate { first, second } => {
                write!(f, "entry {second}: the same as entry {first}")
            }
        }
    }
}

/// Checks every file that the checkpoint speaks of; empty where all is well. Memory grows with the
/// number of entries, 40 bytes and more for each.
///
/// # Errors
/// [`LogError`], where there is no log to be checked.
pub fn fsck(directory: &std::path::Path, log: &PublicLogKey) -> Result<Vec<FsckFault>, LogError> {
    let view = LogView::open(directory, log)?;
    let size = view.head().size();
    let mut faults = Vec::new();
    let mut row = leaves(&view, &mut faults);
    if u64::try_from(row.len()).unwrap_or(u64::MAX) != size {
        // What the tiles should hold is not known.
        return Ok(faults);
    }
    duplicates(&row, &mut faults);
    let mut peaks = Peaks::default();
    row.iter().for_each(|leaf| peaks.push(0, *leaf));
    if peaks.root() != view.head().root() {
        faults.push(FsckFault::Root { computed: peaks.root(), signed: view.head().root() });
    }
    let mut level = 0;
    while !row.is_empty() {
        compare(&view, level, &row, &mut faults);
        row = row.chunks_exact(256).filter_map(perfect_root).collect();
        level += 1;
    }
    Ok(faults)
}

fn leaves(view: &LogView, faults: &mut Vec<FsckFault>) -> Vec<Sha256> {
    let size = view.head().size();
    let mut leaves = Vec::new();
    for first in (0..size).step_by(256) {
        let Some(tile) = Tile::holding(Kind::Entries, first, size) else { break };
        match read_bundle(&view.disk, tile) {
            Ok(bundle) => {
                leaves.extend(entries(&bundle).unwrap_or_default().into_iter().map(leaf_hash));
            }
            Err(error) => faults.push(FsckFault::File(error)),
        }
    }
    leaves
}

fn duplicates(leaves: &[Sha256], faults: &mut Vec<FsckFault>) {
    let mut seen = HashMap::with_capacity(leaves.len());
    for (leaf, second) in leaves.iter().zip(0..) {
        match seen.get(leaf) {
            Some(first) => faults.push(FsckFault::Duplicate { first: *first, second }),
            None => {
                seen.insert(leaf, second);
            }
        }
    }
}

fn compare(view: &LogView, level: u32, row: &[Sha256], faults: &mut Vec<FsckFault>) {
    for (hashes, number) in row.chunks(256).zip(0..) {
        let size = view.head().size();
        let Some(tile) = Tile::holding(Kind::Hashes(level), number * WIDTH, size) else { break };
        debug_assert!(level * HEIGHT < 64);
        match read_hashes(&view.disk, tile) {
            Ok(found) if found == hashes => {}
            Ok(_) => faults.push(FsckFault::Tile { path: tile.path() }),
            Err(error) => faults.push(FsckFault::File(error)),
        }
    }
}
