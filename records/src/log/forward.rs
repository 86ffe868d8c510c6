//! What opening does about a draft of the next checkpoint that a crash left: it goes forward to it where
//! all that it speaks of is there, and removes it where it is torn. A head that somebody may have been
//! shown must never be dropped, and two that contradict each other must never both be gone on from.

use crate::log::checkpoint::Checkpoint;
use crate::log::disk::Disk;
use crate::log::edge::{Edge, Growth};
use crate::log::format::CHECKPOINT;
use crate::log::merkle::leaf_hash;
use crate::log::tile::{Kind, Tile, WIDTH, entries};
use crate::log::view::{grew_into, read_bundle, read_note};
use crate::log::{LogError, PublicLogKey};

/// Two, in turn: while the renaming of one over the checkpoint is not durable, the next one must not
/// take its name, or a file system that orders renames its own way could lose it.
pub(crate) const DRAFTS: [&str; 2] = ["checkpoint.next", "checkpoint.next2"];
const CONTRADICTS: &str = "signed by this log's key, and the log did not grow out of it: one of the two is not its history";

/// The head to go on from, and its edge. Afterwards there is no draft.
pub(crate) fn settle(
    disk: &Disk,
    key: &PublicLogKey,
    head: Checkpoint,
) -> Result<(Checkpoint, Edge), LogError> {
    let mut edge = Edge::read(disk, &head)?;
    let mut head = head;
    let mut found = Vec::new();
    let mut drafts = Vec::new();
    for name in DRAFTS {
        if let Some(bytes) = read_note(disk, name)? {
            found.push(name);
            drafts.extend(signed(&bytes, key).map(|draft| (name, draft)));
        }
    }
    if found.is_empty() {
        return Ok((head, edge));
    }
    // Whoever wrote it may have died before its barrier: the directories too.
    disk.sync_all()?;
    drafts.sort_by_key(|(_, draft)| draft.size());
    for (name, draft) in drafts {
        if draft.size() <= head.size() {
            if !grew_into(disk, (draft.size(), draft.root()), &head)? {
                return Err(disk.damaged(name, CONTRADICTS));
            }
        } else if let Some(growth) = growth(disk, &edge, &draft)? {
            edge = adopt(disk, &draft, growth)?;
            head = draft;
        }
    }
    found.into_iter().try_for_each(|name| disk.remove(name))?;
    disk.sync_directory("")?;
    Ok((head, edge))
}

/// What this key did not sign is nobody's word, and nobody accepts a proof against it.
fn signed(bytes: &[u8], key: &PublicLogKey) -> Option<Checkpoint> {
    let note = std::str::from_utf8(bytes).ok()?;
    Checkpoint::verify(note, key).ok()
}

/// The growth from this edge to the draft by the entries on the disk; `None` where they are not all
/// there, or are others: then the barrier was never passed.
fn growth(disk: &Disk, edge: &Edge, draft: &Checkpoint) -> Result<Option<Growth>, LogError> {
    let (from, to) = (edge.size(), draft.size());
    let mut bundles = Vec::new();
    for first in (from - from % WIDTH..to).step_by(256) {
        let Some(tile) = Tile::holding(Kind::Entries, first, to) else { return Ok(None) };
        match read_bundle(disk, tile) {
            Ok(bundle) => bundles.push(bundle),
            Err(LogError::Missing { .. } | LogError::Damaged { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let all = bundles.iter().flat_map(|bundle| entries(bundle).unwrap_or_default());
    let skipped = usize::try_from(from % WIDTH).unwrap_or(usize::MAX);
    let new = all.skip(skipped).map(|entry| (entry, leaf_hash(entry)));
    let leads = |growth: &Growth| {
        (growth.edge.size(), growth.edge.peaks.root()) == (draft.size(), draft.root())
    };
    Ok(edge.clone().grown(new).filter(leads))
}

/// Every file anew and synced, each before it takes the place of the one that is there: after a barrier
/// that failed, what can be read may not be on the disk.
fn adopt(disk: &Disk, draft: &Checkpoint, growth: Growth) -> Result<Edge, LogError> {
    growth.files().try_for_each(|(tile, bytes)| disk.place(&tile.path(), bytes))?;
    disk.place(CHECKPOINT, draft.note().as_bytes())?;
    growth.superseding().try_for_each(|tile| disk.remove_partials(&tile.partials()))?;
    Ok(growth.edge)
}
