//! What an operator asks of one request, as files beside it: `<file>.hold` keeps it from running for as
//! long as it lies there, `<file>.release` takes that back, `<file>.cancel` ends it. Their content is
//! nothing and is not read; whoever may drop requests may drop them. They must never let anything run
//! that would not run without them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, statat};

use crate::dropbox::Dropbox;
use crate::durable;
use crate::error::SpoolError;
use crate::fresh::Fresh;
use crate::model::{Order, Ordered};

/// Nothing is in it, so anybody may read it.
const ORDER_MODE: u32 = 0o644;

impl Dropbox {
    /// The order that counts for a request, by what lies beside it: to cancel before all others, and to
    /// hold unless it is released. What kind of file it is does not matter: something of that name asks
    /// for less, never for more.
    ///
    /// # Errors
    /// What was released cannot be taken away.
    pub fn order(
        &self,
        request: &str,
        companions: &BTreeSet<OsString>,
    ) -> Result<Option<Ordered>, SpoolError> {
        let by = |order: Order| {
            let name = OsString::from(order.file_name(request));
            if !companions.contains(&name) {
                return None;
            }
            let found = statat(self.handle().as_fd(), &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(Ordered { order, by_uid: found.st_uid })
        };
        if let Some(cancelled) = by(Order::Cancel) {
            return Ok(Some(cancelled));
        }
        if by(Order::Release).is_none() {
            return Ok(by(Order::Hold));
        }
        // The hold first: with the release alone there is none.
        self.take_order_away(request, Order::Hold)?;
        self.take_order_away(request, Order::Release)?;
        Ok(None)
    }

    /// Drops the file of an order beside a request, whole and by a rename, readable by everybody. Whether
    /// it is new: one that lies there already is as good.
    ///
    /// # Errors
    /// It cannot be dropped.
    pub fn place_order(&self, request: &str, order: Order) -> Result<bool, SpoolError> {
        let path = self.path().join(order.file_name(request));
        let fresh = Fresh::beside(&path, ORDER_MODE).map_err(SpoolError::io(&path, "make"))?;
        let placed = fresh.open_to(ORDER_MODE).and_then(|()| fresh.place());
        match placed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            placed => placed.map_err(SpoolError::io(&path, "drop"))?,
        }
        durable::sync_dir(self.path()).map_err(SpoolError::io(self.path(), "make durable"))?;
        Ok(true)
    }

    /// Removes the file of an order, if it is there.
    ///
    /// # Errors
    /// It is there and cannot be removed.
    pub fn take_order_away(&self, request: &str, order: Order) -> Result<(), SpoolError> {
        let name = order.file_name(request);
        match rustix::fs::unlinkat(self.handle(), &name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(errno) => Err(SpoolError::errno(&self.path().join(name), "remove")(errno)),
        }
    }
}
