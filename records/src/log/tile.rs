//! Names and contents of the files of C2SP tlog-tiles: hash tiles and entry bundles, 256 items
//! wide, whole or partial. Nothing here may access a disk.

use model::Sha256;

/// The number of hashes in a whole tile and of entries in a whole bundle.
pub(crate) const WIDTH: u64 = 256;
/// The number of binary levels in a tile.
pub(crate) const HEIGHT: u32 = 8;
pub(crate) const HASH_BYTES: usize = 32;
/// The maximum length of an entry, as its two-byte length prefix allows.
pub const ENTRY_BYTES_MAX: usize = 65_535;
pub(crate) const BUNDLE_BYTES_MAX: u64 = 256 * (65_535 + 2);
pub(crate) const TILE_BYTES: u64 = 256 * 32;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TileKind {
    /// Hashes of perfect trees of `256^level` leaves.
    Hashes(u32),
    Entries,
}

/// A tile or bundle: its number among those of its kind, and the number of its items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tile {
    pub(crate) kind: TileKind,
    pub(crate) number: u64,
    /// 1 to 256.
    pub(crate) width: u64,
}

impl Tile {
    /// Returns the tile with this item, in a log of this size; `None` if the item does not exist.
    pub(crate) fn holding(kind: TileKind, item: u64, log_size: u64) -> Option<Self> {
        let items = match kind {
            TileKind::Hashes(level) => log_size.checked_shr(level * HEIGHT).unwrap_or(0),
            TileKind::Entries => log_size,
        };
        let number = item / WIDTH;
        let width = items.checked_sub(number * WIDTH)?.min(WIDTH);
        (item < items).then_some(Self { kind, number, width })
    }

    pub(crate) fn is_whole(self) -> bool {
        self.width == WIDTH
    }

    pub(crate) fn whole(self) -> Self {
        Self { width: WIDTH, ..self }
    }

    /// Returns the path below the log's directory.
    pub(crate) fn path(self) -> String {
        if self.is_whole() { self.stem() } else { format!("{}/{}", self.partials(), self.width) }
    }

    /// Parses a path; `None` if it is not the path of a tile.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let (kind, rest) = path.strip_prefix("tile/")?.split_once('/')?;
        let kind = match kind {
            "entries" => TileKind::Entries,
            level => TileKind::Hashes(level.parse().ok()?),
        };
        let (stem, width) = match rest.split_once(".p/") {
            Some((stem, width)) => (stem, width.parse().ok()?),
            None => (rest, WIDTH),
        };
        let digits = stem.split('/').map(|part| part.strip_prefix('x').unwrap_or(part));
        let number = digits.collect::<String>().parse().ok()?;
        let tile = Self { kind, number, width };
        // Only the canonical form.
        ((1..=WIDTH).contains(&width) && tile.path() == path).then_some(tile)
    }

    pub(crate) fn bytes_max(self) -> u64 {
        match self.kind {
            TileKind::Hashes(_) => TILE_BYTES,
            TileKind::Entries => BUNDLE_BYTES_MAX,
        }
    }

    pub(crate) fn partials(self) -> String {
        format!("{}.p", self.stem())
    }

    fn stem(self) -> String {
        let mut rest = self.number / 1000;
        let mut number = format!("{:03}", self.number % 1000);
        while rest > 0 {
            number = format!("x{:03}/{number}", rest % 1000);
            rest /= 1000;
        }
        match self.kind {
            TileKind::Hashes(level) => format!("tile/{level}/{number}"),
            TileKind::Entries => format!("tile/entries/{number}"),
        }
    }
}

/// Appends an entry to its bundle. Returns `None` if it is longer than [`ENTRY_BYTES_MAX`].
pub(crate) fn push_entry(bundle: &mut Vec<u8>, entry: &[u8]) -> Option<()> {
    let length = u16::try_from(entry.len()).ok()?;
    bundle.extend_from_slice(&length.to_be_bytes());
    bundle.extend_from_slice(entry);
    Some(())
}

/// Parses the entries of a bundle; `None` if the bytes are not a whole number of entries.
pub(crate) fn entries(bundle: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut entries, mut rest) = (Vec::new(), bundle);
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk::<2>()?;
        let (entry, behind) = behind.split_at_checked(u16::from_be_bytes(*length).into())?;
        entries.push(entry);
        rest = behind;
    }
    Some(entries)
}

pub(crate) fn hash_bytes(hashes: &[Sha256]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

/// Parses the hashes of a tile; `None` if the bytes are not a whole number of hashes.
pub(crate) fn hashes(tile: &[u8]) -> Option<Vec<Sha256>> {
    let (hashes, rest) = tile.as_chunks::<HASH_BYTES>();
    rest.is_empty().then(|| hashes.iter().map(|hash| Sha256::from_bytes(*hash)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_specification() {
        let path = |kind, item, size| Tile::holding(kind, item, size).map(Tile::path);
        let expected = Some("tile/0/x001/x234/067".to_owned());
        assert_eq!(path(TileKind::Hashes(0), 1_234_067 * 256, u64::MAX), expected);
        assert_eq!(path(TileKind::Hashes(1), 0, 256).unwrap(), "tile/1/000.p/1");
        assert_eq!(path(TileKind::Entries, 255, 256).unwrap(), "tile/entries/000");
        assert_eq!(path(TileKind::Entries, 256, 300).unwrap(), "tile/entries/001.p/44");
        for path in ["tile/0/x001/x234/067", "tile/1/000.p/1", "tile/entries/001.p/44"] {
            assert_eq!(Tile::of_path(path).unwrap().path(), path);
        }
        for path in
            ["tile/0/1", "tile/0/001.p/0", "tile/0/001.p/256", "tile/00/001", "tile/0/x000/001"]
        {
            assert!(Tile::of_path(path).is_none(), "{path}");
        }
        assert_eq!(path(TileKind::Hashes(1), 1, 256), None);
        assert_eq!(path(TileKind::Hashes(0), 256, 256), None);
        assert_eq!(path(TileKind::Hashes(9), 0, u64::MAX), None);
    }

    #[test]
    fn bundles_are_read_as_they_were_written() {
        let mut bundle = Vec::new();
        for entry in [&b"one"[..], b"", &[7; ENTRY_BYTES_MAX]] {
            push_entry(&mut bundle, entry).unwrap();
        }
        assert_eq!(entries(&bundle).unwrap(), [&b"one"[..], b"", &[7; ENTRY_BYTES_MAX]]);
        assert!(push_entry(&mut bundle, &[0; ENTRY_BYTES_MAX + 1]).is_none());
        for cut in [1, 4, 6, bundle.len() - 1] {
            assert!(entries(&bundle[..cut]).is_none(), "{cut}");
        }
    }
}
