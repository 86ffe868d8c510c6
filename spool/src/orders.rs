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
        if by(OperatorOrder::Release).is_none() {
            return Ok(by(OperatorOrder::Hold));
        }
        // Remove the hold first: a release alone has no effect.
        self.remove_order(request, OperatorOrder::Hold)?;
        self.remove_order(request, OperatorOrder::Release)?;
        Ok(None)
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
            OperatorOrder::Hold => self.remove_order(request, OperatorOrder::Release)?,
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

    /// Removes the file of an order, if it exists.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove_order(&self, request: &str, order: OperatorOrder) -> Result<(), SpoolError> {
        let name = order.file_name(request);
        match rustix::fs::unlinkat(self.handle(), &name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(errno) => Err(SpoolError::errno(&self.path().join(name), "remove")(errno)),
        }
    }
}
