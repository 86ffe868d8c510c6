//! An operator's orders for one request, as files next to it, whose content is never read:
//! `<file>.hold` keeps it from running, `<file>.release` ends the hold, `<file>.cancel` cancels it.
//! Every submitter may create them. An order must never let a request run that would not run
//! without it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, statat};

use crate::atomic_file::AtomicFile;
use crate::error::SpoolError;
use crate::inbox::Inbox;
use crate::model::{OperatorOrder, PlacedOrder};
use crate::sync;

/// The result of an order that the daemon gives for a signer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GivenOrder {
    /// The order applies, or nothing was to be released.
    Placed,
    /// The request is not queued.
    NotQueued,
    /// The request is being cancelled, which cannot be undone.
    Cancelled,
}

/// The files are empty, so all users may read them.
const ORDER_MODE: u32 = 0o644;

impl Inbox {
    /// Returns the order that applies: cancel takes precedence, and hold applies until released.
    /// The file type does not matter: an order only ever restricts.
    ///
    /// # Errors
    /// The files of a released hold cannot be removed.
    pub fn order(
        &self,
        request: &str,
        sidecar_names: &BTreeSet<OsString>,
    ) -> Result<Option<PlacedOrder>, SpoolError> {
        let by = |order: OperatorOrder| {
            let name = OsString::from(order.file_name(request));
            if !sidecar_names.contains(&name) {
                return None;
            }
            let found = statat(self.handle().as_fd(), &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(PlacedOrder { order, by_uid: found.st_uid })
        };
        if let Some(cancelled) = by(OperatorOrder::Cancel) {
            return Ok(Some(cancelled));
        }
        if by(OperatorOrder::Release).is_some() {
            self.end_hold(request)?;
        }
        // A hold that was given after the release applies.
        Ok(by(OperatorOrder::Hold))
    }

    /// Removes the files of a released hold.
    fn end_hold(&self, request: &str) -> Result<(), SpoolError> {
        // Remove the hold first: a release alone has no effect.
        self.remove_order(request, OperatorOrder::Hold)?;
        if !self.remove_order(request, OperatorOrder::Release)? {
            // A new hold has removed the release meanwhile, and may have relied on the old file.
            self.place_order(request, OperatorOrder::Hold)?;
        }
        Ok(())
    }

    /// Creates the file of an order by a rename, readable by all users. Returns false if it exists.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn place_order(&self, request: &str, order: OperatorOrder) -> Result<bool, SpoolError> {
        let path = self.path().join(order.file_name(request));
        let fresh =
            AtomicFile::create_for(&path, ORDER_MODE).map_err(SpoolError::io(&path, "create"))?;
        let placed = fresh.set_mode(ORDER_MODE).and_then(|()| fresh.place());
        match placed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            placed => placed.map_err(SpoolError::io(&path, "submit"))?,
        }
        sync::sync_dir(self.path()).map_err(SpoolError::io(self.path(), "sync"))?;
        Ok(true)
    }

    /// Gives an order for a queued request, as `toolexec hold`, `release` and `cancel` do.
    ///
    /// # Errors
    /// A file of an order cannot be created or removed.
    pub fn give_order(
        &self,
        request: &str,
        order: OperatorOrder,
    ) -> Result<GivenOrder, SpoolError> {
        let exists = |order: OperatorOrder| self.identity(order.file_name(request)).is_some();
        if self.identity(request).is_none() {
            return Ok(GivenOrder::NotQueued);
        }
        if order != OperatorOrder::Cancel && exists(OperatorOrder::Cancel) {
            return Ok(GivenOrder::Cancelled);
        }
        match order {
            OperatorOrder::Release if !exists(OperatorOrder::Hold) => {
                return Ok(GivenOrder::Placed);
            }
            // A leftover release would end this hold at once.
            OperatorOrder::Hold => {
                self.remove_order(request, OperatorOrder::Release)?;
            }
            OperatorOrder::Release | OperatorOrder::Cancel => {}
        }
        let is_new = self.place_order(request, order)?;
        if is_new && self.identity(request).is_none() {
            // The request was processed while the order was placed.
            self.remove_order(request, order)?;
            return Ok(GivenOrder::NotQueued);
        }
        Ok(GivenOrder::Placed)
    }

    /// Removes the file of an order. Returns false if it does not exist.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove_order(&self, request: &str, order: OperatorOrder) -> Result<bool, SpoolError> {
        let name = order.file_name(request);
        match rustix::fs::unlinkat(self.handle(), &name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(errno) => Err(SpoolError::errno(&self.path().join(name), "remove")(errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_hold_that_ends_a_release_is_kept() {
        let root = std::env::temp_dir().join(format!("toolexec-orders-{}", std::process::id()));
        fs::create_dir(&root).unwrap();
        let inbox = Inbox::open(&root).unwrap();
        let exists = |order: OperatorOrder| root.join(order.file_name("a.md")).exists();

        for order in [OperatorOrder::Hold, OperatorOrder::Release] {
            assert!(inbox.place_order("a.md", order).unwrap());
        }
        inbox.end_hold("a.md").unwrap();
        assert!(!exists(OperatorOrder::Hold) && !exists(OperatorOrder::Release));

        // The daemon saw a release, and a new hold has removed it since.
        assert!(inbox.place_order("a.md", OperatorOrder::Hold).unwrap());
        inbox.end_hold("a.md").unwrap();
        assert!(exists(OperatorOrder::Hold));
        fs::remove_dir_all(&root).unwrap();
    }
}
