//! Which uid a cell's tool has: in system mode one that no other running cell has, and nothing on the
//! host belongs to. Must never give root's, or one without the lock that keeps it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use rustix::fs::{FlockOperation, flock};

use super::Failed;
use super::view::Identity;
use crate::report::Mode;

/// First of the uids of cells in system mode; one per slot, owning nothing on the host.
const UID_FIRST: u32 = 2_000_000_000;
/// Cells of this host that can run at once in system mode.
const UIDS: u32 = 256;
const UID_LOCKS: &str = "/run/toolexec-launch";

/// The tool's ids. In system mode a uid that no other running cell has, held by a lock for as long as
/// this process lives.
pub(super) fn identity(mode: Mode) -> Result<(Identity, Option<File>), Failed> {
    if mode == Mode::User {
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        return Ok((Identity { uid: uid.as_raw(), gid: gid.as_raw() }, None));
    }
    DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(UID_LOCKS)
        .map_err(Failed::at("make uid locks"))?;
    for slot in 0..UIDS {
        let path = format!("{UID_LOCKS}/uid-{slot}");
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = file.map_err(Failed::at("open a uid lock"))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let id = UID_FIRST + slot;
                return Ok((Identity { uid: id, gid: id }, Some(file)));
            }
            Err(rustix::io::Errno::WOULDBLOCK) => {}
            Err(errno) => return Err(errno).map_err(Failed::at("take a uid lock")),
        }
    }
    let step = format!("all {UIDS} tool uids are in use by running cells");
    Err(Failed { layer: None, step, errno: 0 })
}
