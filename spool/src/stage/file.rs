//! Stages a file: the stored copy of its bytes if it exists, else a new copy. Both are read-only.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

use rustix::fs::fstat;

use super::placement::{InputPlacement, StagedCopy, StagedInput, StagedTotals};
use crate::beneath::{AllowedLinks, check_regular_file};
use crate::copy::{ContentMatch, HashedCopy, compare, copy_hashed};
use crate::error::SpoolError;
use crate::shortage::Shortage;

/// Copies an open file into the slot, whose directories exist.
pub(super) fn stage(place: &InputPlacement<'_>, file: OwnedFd) -> Result<StagedInput, SpoolError> {
    let stat = fstat(&file).map_err(SpoolError::errno(&place.shown, "stat"))?;
    if let Err(SpoolError::FileKind { kind, .. }) =
        check_regular_file(&stat, &place.shown, AllowedLinks::Any)
    {
        return Ok(Err(place.wrong_kind(kind)));
    }
    if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > place.bytes_left {
        return Ok(Err(place.too_large()));
    }
    let taken = link_or_copy(place, &mut File::from(file));
    let (sha256, bytes) = taken.map_err(SpoolError::io(&place.to, "copy the input"))?;
    // The file may have grown since the stat.
    if bytes > place.bytes_left {
        return Ok(Err(place.too_large()));
    }
    if sha256 != *place.input.sha256() {
        return Ok(Err(place.mismatch(sha256)));
    }
    // Only folders have entries that count.
    Ok(Ok(StagedCopy { totals: StagedTotals { bytes, entries: 0 }, tree: None }))
}

fn link_or_copy(place: &InputPlacement<'_>, from: &mut File) -> io::Result<HashedCopy> {
    let (store, wanted, to) = (place.store, place.input.sha256(), place.to.as_path());
    if let Some(mut stored) = store.link_to(wanted, to) {
        let (poured, matching) = compare(from, &mut stored, place.bytes_left, place.hashed)?;
        // An unapproved input is refused, and says nothing about the stored copy.
        if matching == ContentMatch::Same || poured.0 != *wanted {
            return Ok(poured);
        }
        tracing::warn!("{wanted}: the stored copy is damaged; replacing it");
        store.delete(wanted);
        fs::remove_file(to)?;
        from.rewind()?;
    }
    let poured = match copy(place, from) {
        Err(error) if Shortage::of(&error) == Some(Shortage::DiskSpace) => {
            place.free_disk_space();
            fs::remove_file(to)?;
            from.rewind()?;
            copy(place, from)?
        }
        copied => copied?,
    };
    if poured.0 == *wanted && poured.1 <= place.bytes_left {
        store.store(wanted, to, poured.1);
    }
    Ok(poured)
}

fn copy(place: &InputPlacement<'_>, from: &mut File) -> io::Result<HashedCopy> {
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o444).open(&place.to)?;
    let poured = copy_hashed(from, &mut copy, place.bytes_left, place.hashed)?;
    copy.set_permissions(Permissions::from_mode(0o444))?;
    Ok(poured)
}
