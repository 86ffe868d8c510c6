//! Recovery of a draft of the next checkpoint after a crash. Opening rolls forward to the draft if
//! all files that it covers and the caller's files of its entries exist, and removes a torn draft. A head that may have been published
//! must never be dropped, and a log with two contradicting heads must never be continued.

use crate::log::checkpoint::Checkpoint;
use crate::log::disk::LogDisk;
use crate::log::format::CHECKPOINT;
use crate::log::frontier::{FrontierGrowth, MerkleFrontier};
use crate::log::merkle::leaf_hash;
use crate::log::tile::{Tile, TileKind, WIDTH, entries};
use crate::log::view::{grew_into, read_bundle, read_note};
use crate::log::{LogError, LogLocation, PublicLogKey};

/// Two names, used in turn. Until the rename of one draft to the checkpoint is durable, the next
/// draft must not take its name: a file system that reorders renames could lose it.
pub(crate) const DRAFTS: [&str; 2] = ["checkpoint.next", "checkpoint.next2"];
const CONTRADICTS: &str =
    "signed by this log's key, but the log does not extend it: the two have different histories";

/// Returns the head to continue from, and its edge. No draft is left afterwards.
pub(crate) fn recover(
    disk: &LogDisk,
    key: &PublicLogKey,
    head: Checkpoint,
    place: &LogLocation,
) -> Result<(Checkpoint, MerkleFrontier), LogError> {
    let mut edge = MerkleFrontier::read(disk, &head)?;
    let mut head = head;
    let mut found = Vec::new();
    let mut drafts = Vec::new();
    for name in DRAFTS {
        if let Some(bytes) = read_note(disk, name)? {
            found.push(name);
            drafts.extend(parse_signed(&bytes, key).map(|draft| (name, draft)));
        }
    }
    if found.is_empty() {
        return Ok((head, edge));
    }
    // The writer may have died before its barrier, so sync the directories too.
    disk.sync_all()?;
    drafts.sort_by_key(|(_, draft)| draft.size());
    for (name, draft) in drafts {
        if draft.size() <= head.size() {
            if !grew_into(disk, (draft.size(), draft.root()), &head)? {
                return Err(disk.damaged(name, CONTRADICTS));
            }
        } else if let Some(growth) =
            growth(disk, &edge, &draft, |new| place.is_batch_intact(new, key))?
        {
            edge = adopt(disk, &draft, growth)?;
            head = draft;
        }
    }
    found.into_iter().try_for_each(|name| disk.remove(name))?;
    disk.sync_directory("")?;
    Ok((head, edge))
}

/// Parses a draft. Ignores one that this key did not sign: no reader accepts a proof against it.
fn parse_signed(bytes: &[u8], key: &PublicLogKey) -> Option<Checkpoint> {
    let note = std::str::from_utf8(bytes).ok()?;
    Checkpoint::verify(note, key).ok()
}

/// Returns the growth from this edge to the draft by the entries on the disk. Returns `None` if
/// entries or the files that belong to them are missing or differ: then the barrier was never
/// passed.
fn growth(
    disk: &LogDisk,
    edge: &MerkleFrontier,
    draft: &Checkpoint,
    is_intact: impl FnOnce(&[&[u8]]) -> Result<bool, LogError>,
) -> Result<Option<FrontierGrowth>, LogError> {
    let (from, to) = (edge.size(), draft.size());
    let mut bundles = Vec::new();
    for first in (from - from % WIDTH..to).step_by(256) {
        let Some(tile) = Tile::holding(TileKind::Entries, first, to) else { return Ok(None) };
        match read_bundle(disk, tile) {
            Ok(bundle) => bundles.push(bundle),
            Err(LogError::Missing { .. } | LogError::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let all = bundles.iter().flat_map(|bundle| entries(bundle).unwrap_or_default());
    let skipped = usize::try_from(from % WIDTH).unwrap_or(usize::MAX);
    let new: Vec<&[u8]> = all.skip(skipped).collect();
    let leaves = new.iter().map(|entry| (*entry, leaf_hash(entry)));
    let leads = |growth: &FrontierGrowth| {
        (growth.frontier.size(), growth.frontier.peaks.root()) == (draft.size(), draft.root())
    };
    match edge.clone().append(leaves).filter(leads) {
        Some(growth) if is_intact(&new)? => Ok(Some(growth)),
        _ => Ok(None),
    }
}

/// Writes and syncs every file again before it replaces the existing one: after a failed barrier,
/// the page cache may differ from the disk.
fn adopt(
    disk: &LogDisk,
    draft: &Checkpoint,
    growth: FrontierGrowth,
) -> Result<MerkleFrontier, LogError> {
    growth.files().try_for_each(|(tile, bytes)| disk.write_synced(&tile.path(), bytes))?;
    disk.write_synced(CHECKPOINT, draft.note().as_bytes())?;
    growth.whole_tiles().try_for_each(|tile| disk.remove_partials(&tile.partials()))?;
    Ok(growth.frontier)
}
