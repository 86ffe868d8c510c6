//! The uses that a daemon published in `public/standing/` of its spool, for users who cannot read
//! its state. Like the ledger's lines, they are shown and not verified.

use std::os::fd::OwnedFd;
use std::path::Path;

use model::{StandingId, StandingReference};
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::io::Errno;
use spool::PublishedUses;

use crate::args::files::named_directory;
use crate::failure::Failure;
use crate::regular_file::{open_regular, read_bounded};

/// Limit of standing approvals, the newest.
const READ_MAX: usize = 1_000;
const FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A standing approval that can be used now, with its uses.
pub(super) struct PublishedStanding {
    pub(super) reference: StandingReference,
    pub(super) uses: PublishedUses,
}

/// Reads the published uses of a spool, in the order of the ids. A file that a daemon does not
/// write is left out.
pub(super) fn read_published(spool: &Path) -> Result<Vec<PublishedStanding>, Failure> {
    let spool = named_directory("--spool", spool)?;
    let Some(directory) = open_standing(&spool)? else { return Ok(Vec::new()) };
    let mut ids = Vec::new();
    let place = spool.join("public/standing");
    let failed = |errno: Errno| Failure::io(&place)(errno.into());
    for entry in Dir::read_from(&directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_str().ok();
        let id = name.and_then(|name| name.strip_suffix(".uses.json")?.parse::<StandingId>().ok());
        ids.extend(id);
    }
    ids.sort_unstable();
    let newest = ids.len().saturating_sub(READ_MAX);
    Ok(ids.into_iter().skip(newest).filter_map(|id| read(&directory, id)).collect())
}

/// Opens `public/standing/`. Returns `None` if the daemon has published no standing approval.
fn open_standing(spool: &Path) -> Result<Option<OwnedFd>, Failure> {
    let public = spool.join("public");
    let open = openat(CWD, &public, FOLDER_FLAGS, Mode::empty());
    let open = open.map_err(|errno| Failure::io(&public)(errno.into()))?;
    match openat(&open, "standing", FOLDER_FLAGS, Mode::empty()) {
        Err(Errno::NOENT) => Ok(None),
        opened => {
            opened.map(Some).map_err(|errno| Failure::io(&public.join("standing"))(errno.into()))
        }
    }
}

/// Returns `None` for a file that is missing, or that a daemon does not write.
fn read(directory: &OwnedFd, id: StandingId) -> Option<PublishedStanding> {
    let file = open_regular(directory, &PublishedUses::file_name(&id)).ok()?;
    let uses = PublishedUses::parse(&read_bounded(file, PublishedUses::BYTES_MAX)?)?;
    let sha256 = uses.sha256.parse().ok()?;
    Some(PublishedStanding { reference: StandingReference { id, sha256 }, uses })
}
