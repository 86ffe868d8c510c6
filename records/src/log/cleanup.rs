//! Cleanup of the right edge when the log is opened. Unsynced partial tiles and files of a batch
//! that was never acknowledged must be removed before later files make them look like the log.

use crate::log::LogError;
use crate::log::disk::LogDisk;
use crate::log::format::BATCH_MAX;
use crate::log::frontier::MerkleFrontier;
use crate::log::tile::{HASH_BYTES, HEIGHT, Tile, TileKind, WIDTH, hash_bytes};

const LEVELS: u32 = u64::BITS / HEIGHT;

/// Makes every partial file at the right edge match this edge, or removes it.
pub(super) fn clean_up(disk: &LogDisk, edge: &MerkleFrontier) -> Result<(), LogError> {
    partials(disk, TileKind::Entries, edge.size(), None)?;
    // A batch can also begin a level that a log of this size does not have.
    for level in 0..LEVELS {
        let items = edge.size().checked_shr(level * HEIGHT).unwrap_or(0);
        let at = usize::try_from(level).unwrap_or(usize::MAX);
        let hashes = edge.tiles.get(at).map(Vec::as_slice).unwrap_or_default();
        partials(disk, TileKind::Hashes(level), items, Some(&hash_bytes(hashes)))?;
    }
    Ok(())
}

/// Cleans up the partial forms of a kind's last tile. `edge` has its contents if they may be lost.
fn partials(
    disk: &LogDisk,
    kind: TileKind,
    items: u64,
    edge: Option<&[u8]>,
) -> Result<(), LogError> {
    let (number, width) = (items / WIDTH, items % WIDTH);
    let tile = |number| Tile { kind, number, width: WIDTH };
    // The number of further tiles that a batch can begin.
    let most = u64::try_from(BATCH_MAX).unwrap_or(u64::MAX) / WIDTH + 1;
    for ahead in 1..=most {
        disk.remove_partials(&tile(number + ahead).partials())?;
    }
    if let Some(before) = number.checked_sub(1).map(tile)
        && disk.has_file(&before.path())?
    {
        disk.remove_partials(&before.partials())?;
    }
    for name in disk.names_in(&tile(number).partials())? {
        let path = format!("{}/{name}", tile(number).partials());
        match (Tile::of_path(&path), edge) {
            (Some(found), _) if found.width > width => disk.remove(&path)?,
            (Some(found), Some(edge)) => {
                let length = usize::try_from(found.width).unwrap_or(usize::MAX) * HASH_BYTES;
                disk.write_if_changed(&path, edge.get(..length).unwrap_or(edge))?;
            }
            _ => {}
        }
    }
    Ok(())
}
