//! A full check of a log: recomputes it from its entries, compares every file, and lists the
//! others. It must never change a file, and never trust a hash that it did not compute.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use model::Sha256;

use crate::log::files::{LogDirectoryFile, files_below};
use crate::log::format::CHECKPOINT;
use crate::log::merkle::{Peaks, leaf_hash, perfect_root};
use crate::log::tile::{HEIGHT, Tile, TileKind, WIDTH, entries, hash_bytes};
use crate::log::view::{LogView, read_bundle, read_hashes};
use crate::log::{LogError, PublicLogKey};
use crate::reason::split_reason;

/// A problem of a log.
#[derive(Debug)]
pub enum LogFsckProblem {
    /// A file cannot be read or has an invalid form.
    File(LogError),
    /// A tile differs from the hashes of the level below, or a bundle from the log's entries.
    Tile {
        /// The path of the tile or bundle, relative to the log's directory.
        path: String,
    },
    /// The entries differ from those that the checkpoint was signed for.
    Root {
        /// The root of the present entries (RFC 6962, 2.1).
        computed: Sha256,
        /// The root in the signed checkpoint.
        signed: Sha256,
    },
    /// The same entry occurs twice.
    Duplicate {
        /// The index of its first occurrence.
        first: u64,
        /// The index of the later occurrence.
        second: u64,
    },
}

impl fmt::Display for LogFsckProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A finding has no help of its own.
            Self::File(error) => f.write_str(split_reason(&error.to_string()).0),
            Self::Tile { path } => write!(f, "{path}: does not match the entries of the log"),
            Self::Root { computed, signed } => {
                write!(f, "checkpoint: its root is {signed}, the root of the entries is {computed}")
            }
            Self::Duplicate { first, second } => {
                write!(f, "entry {second}: duplicate of entry {first}")
            }
        }
    }
}

/// An entry of the log's directory that the checkpoint does not cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedLogFile {
    /// The path below the directory.
    pub path: String,
    /// The reason.
    pub why: &'static str,
}

impl fmt::Display for UncheckedLogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.why)
    }
}

/// The result of a full check.
#[derive(Debug, Default)]
pub struct LogFsckReport {
    /// The problems; empty if the log is sound.
    pub faults: Vec<LogFsckProblem>,
    /// The number of files that were compared byte by byte.
    pub checked: u64,
    /// All other non-empty entries, sorted.
    pub not_checked: Vec<UncheckedLogFile>,
}

/// Checks every file that the checkpoint covers, including partial files that later ones replaced.
/// Uses at least 40 bytes of memory for each entry.
///
/// # Errors
/// [`LogError`] if the directory has no readable log.
pub fn fsck(directory: &std::path::Path, log: &PublicLogKey) -> Result<LogFsckReport, LogError> {
    let view = LogView::open(directory, log)?;
    let mut found = LogFsckReport { checked: 1, ..LogFsckReport::default() };
    found.not_checked.extend((0..view.head().unverified_signatures()).map(|_| UncheckedLogFile {
        path: CHECKPOINT.to_owned(),
        why: "a signature by another key than the log's",
    }));
    let leaves = leaves(&view, &mut found.faults);
    if u64::try_from(leaves.len()).unwrap_or(u64::MAX) != view.head().size() {
        // The expected contents of the tiles are unknown.
        return Ok(found);
    }
    duplicates(&leaves, &mut found.faults);
    let mut peaks = Peaks::default();
    leaves.iter().for_each(|leaf| peaks.push(0, *leaf));
    if peaks.root() != view.head().root() {
        let (computed, signed) = (peaks.root(), view.head().root());
        found.faults.push(LogFsckProblem::Root { computed, signed });
    }
    let mut rows = vec![leaves];
    while let Some(row) = rows.last().filter(|row| row.len() >= 256) {
        let above = row.chunks_exact(256).filter_map(perfect_root).collect();
        rows.push(above);
    }
    let seen = check_files(&view, &rows, &mut found);
    check_required(&view, &rows, &seen, &mut found.faults);
    Ok(found)
}

fn leaves(view: &LogView, faults: &mut Vec<LogFsckProblem>) -> Vec<Sha256> {
    let size = view.head().size();
    let mut leaves = Vec::new();
    for first in (0..size).step_by(256) {
        let Some(tile) = Tile::holding(TileKind::Entries, first, size) else { break };
        match read_bundle(&view.disk, tile) {
            Ok(bundle) => {
                leaves.extend(entries(&bundle).unwrap_or_default().into_iter().map(leaf_hash));
            }
            Err(error) => faults.push(LogFsckProblem::File(error)),
        }
    }
    leaves
}

fn duplicates(leaves: &[Sha256], faults: &mut Vec<LogFsckProblem>) {
    let mut seen = HashMap::with_capacity(leaves.len());
    for (leaf, second) in leaves.iter().zip(0..) {
        match seen.get(leaf) {
            Some(first) => faults.push(LogFsckProblem::Duplicate { first: *first, second }),
            None => {
                seen.insert(leaf, second);
            }
        }
    }
}

/// Compares every tile and bundle of any width, and lists all else. Returns the compared paths.
fn check_files(
    view: &LogView,
    rows: &[Vec<Sha256>],
    found: &mut LogFsckReport,
) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for file in files_below(&view.disk) {
        let LogDirectoryFile { path, bytes } = match file {
            Ok(file) => file,
            Err(error) => {
                found.faults.push(LogFsckProblem::File(error));
                continue;
            }
        };
        let why = match Tile::of_path(&path).map(|tile| (tile, hashes_of(tile, rows))) {
            Some((tile, Some(expected))) => {
                match view.disk.read(&path, tile.bytes_max()) {
                    // A concurrent writer removes partial files once the whole one exists.
                    Ok(None) => continue,
                    Ok(Some(bytes)) if !contents_match(tile, &bytes, expected) => {
                        found.faults.push(LogFsckProblem::Tile { path: path.clone() });
                    }
                    Ok(Some(_)) => found.checked += 1,
                    Err(error) => found.faults.push(LogFsckProblem::File(error)),
                }
                seen.insert(path);
                continue;
            }
            Some((_, None)) => "holds entries beyond the checkpoint",
            None if path == CHECKPOINT => continue,
            None => "not covered by the checkpoint",
        };
        if bytes > 0 {
            found.not_checked.push(UncheckedLogFile { path, why });
        }
    }
    found.not_checked.sort_by(|one, other| one.path.cmp(&other.path));
    seen
}

/// Returns the expected hashes of this tile or bundle; `None` beyond the log's size.
fn hashes_of(tile: Tile, rows: &[Vec<Sha256>]) -> Option<&[Sha256]> {
    let level = match tile.kind {
        TileKind::Hashes(level) => usize::try_from(level).ok()?,
        TileKind::Entries => 0,
    };
    let first = usize::try_from(tile.number.checked_mul(WIDTH)?).ok()?;
    let end = first.checked_add(usize::try_from(tile.width).ok()?)?;
    rows.get(level)?.get(first..end)
}

fn contents_match(tile: Tile, bytes: &[u8], expected: &[Sha256]) -> bool {
    match tile.kind {
        TileKind::Hashes(_) => hash_bytes(expected) == bytes,
        TileKind::Entries => entries(bytes).is_some_and(|all| {
            all.len() == expected.len()
                && all.iter().zip(expected).all(|(entry, leaf)| leaf_hash(entry) == *leaf)
        }),
    }
}

/// Reports tiles that a reader of this checkpoint needs and that are missing under their own names.
fn check_required(
    view: &LogView,
    rows: &[Vec<Sha256>],
    seen: &BTreeSet<String>,
    faults: &mut Vec<LogFsckProblem>,
) {
    let size = view.head().size();
    for (row, level) in rows.iter().zip(0..) {
        for (hashes, number) in row.chunks(256).zip(0..) {
            let tile = Tile::holding(TileKind::Hashes(level), number * WIDTH, size);
            let Some(tile) = tile.filter(|tile| !seen.contains(&tile.path())) else { continue };
            debug_assert!(level * HEIGHT < 64);
            match read_hashes(&view.disk, tile) {
                Ok(found) if found == hashes => {}
                Ok(_) => faults.push(LogFsckProblem::Tile { path: tile.path() }),
                Err(error) => faults.push(LogFsckProblem::File(error)),
            }
        }
    }
}
