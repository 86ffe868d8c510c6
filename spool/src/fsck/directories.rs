//! Checks the directories themselves: owner, mode, and free space.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::statvfs;

use super::model::{SpoolFinding, SpoolProblem, SpoolReport};
use crate::paths::SpoolPaths;
use crate::reserve::RESERVE_BYTES;

const PRIVATE_FORBIDDEN_MODE: u32 = 0o077;
const READABLE_FORBIDDEN_MODE: u32 = 0o022;
/// A group may write, and no other user has access.
const GROUP_ONLY_FORBIDDEN_MODE: u32 = 0o007;

pub(super) fn check_directories(places: &SpoolPaths, report: &mut SpoolReport) {
    let SpoolPaths { spool, state, results, .. } = places;
    let mut find = |path: &Path, trouble| {
        report.findings.push(SpoolFinding { path: path.to_owned(), problem: trouble })
    };
    // The user who made the lock file runs the daemon.
    let owner = fs::metadata(spool.join(".lock")).ok().map(|found| found.uid());
    let private =
        ["work", "archive", "quarantine"].map(|name| (spool.join(name), PRIVATE_FORBIDDEN_MODE));
    let of_state = [
        ("inputs", PRIVATE_FORBIDDEN_MODE),
        ("input-trees", PRIVATE_FORBIDDEN_MODE),
        ("ledger", PRIVATE_FORBIDDEN_MODE),
        ("staging", READABLE_FORBIDDEN_MODE),
    ];
    let of_state = of_state.map(|(name, closed)| (state.join(name), closed));
    let whole =
        [(spool.clone(), READABLE_FORBIDDEN_MODE), (results.clone(), READABLE_FORBIDDEN_MODE)];
    let state = (state.clone(), PRIVATE_FORBIDDEN_MODE);
    let signed = (spool.join("signed"), GROUP_ONLY_FORBIDDEN_MODE);
    for (path, closed) in private.into_iter().chain(of_state).chain(whole).chain([state, signed]) {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if let Some(owner) = owner.filter(|owner| *owner != found.uid()) {
            find(&path, SpoolProblem::Owner { is: found.uid(), should: owner });
        }
        let mode = found.mode() & 0o7777;
        if mode & closed != 0 {
            find(&path, SpoolProblem::Mode { is: mode, should: mode & !closed });
        }
    }
    if let Ok(space) = statvfs(spool) {
        let bytes = space.f_bavail.saturating_mul(space.f_frsize);
        let reserve = fs::metadata(spool.join(".reserve")).map_or(0, |it| it.blocks() * 512);
        if bytes.saturating_add(reserve) < RESERVE_BYTES {
            find(spool, SpoolProblem::NoSpace { bytes, bytes_min: RESERVE_BYTES });
        }
    }
}
