//! A want of room on a disk, as the loop and its workers share it. While there is one, nothing is admitted; what
//! was begun waits for room with its record. It must never let an embedded run wait: its person is told at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spool::{ClaimId, SpoolError};

use crate::host::{Halt, Host};

/// Between two tries of one who waits for room.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Default)]
pub(crate) struct RoomWanted {
    /// Whether there is a daemon that looks for room, and does not stop.
    is_looked_for: AtomicBool,
    why: Mutex<Option<String>>,
    /// Something was left that recovery has to finish before anything more is admitted.
    is_unsettled: AtomicBool,
}

impl RoomWanted {
    /// From now on workers wait for room, until [`Self::stop`].
    pub(crate) fn look(&self) {
        self.is_looked_for.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stop(&self) {
        self.is_looked_for.store(false, Ordering::Relaxed);
    }

    /// Notes that there is no room, and why. The first reason stays until there is room.
    pub(crate) fn note(&self, why: &dyn std::fmt::Display) {
        self.lock().get_or_insert_with(|| why.to_string());
    }

    /// The reason why there is no room.
    pub(crate) fn why(&self) -> Option<String> {
        self.lock().clone()
    }

    pub(crate) fn found(&self) {
        *self.lock() = None;
    }

    /// Notes it, and waits a moment before the next try. False where nobody may wait.
    pub(crate) fn wait(&self, why: &dyn std::fmt::Display) -> bool {
        if !self.is_looked_for.load(Ordering::Relaxed) {
            return false;
        }
        self.note(why);
        std::thread::sleep(RETRY_INTERVAL);
        true
    }

    pub(crate) fn unsettle(&self) {
        self.is_unsettled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn settled(&self) {
        self.is_unsettled.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_unsettled(&self) -> bool {
        self.is_unsettled.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        // Nothing that panics runs while it is held.
        self.why.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host {
    /// After a want of room in the middle of a request: a claim that came to nothing is given up, and the original
    /// is claimed anew later; one that was begun or answered is left for recovery. Other errors come back.
    pub(crate) fn left_without_room(&self, halt: Halt, claim: &ClaimId) -> Result<(), Halt> {
        if !halt.is_full_disk() {
            return Err(halt);
        }
        tracing::error!("{halt}; it goes on when there is room");
        self.room_wanted.note(&halt);
        match self.spool.give_up(claim) {
            Ok(true) => {}
            Ok(false) => self.room_wanted.unsettle(),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Keeps the room for records, and insists on room for all else that a run writes.
    pub(crate) fn keep_room(&self) -> Result<(), SpoolError> {
        self.spool.keep_reserve()?;
        self.spool.insist_on_room(self.log.directory())
    }

    /// Whether every place that a request needs takes a file again.
    pub(crate) fn try_room(&self) -> Result<(), SpoolError> {
        self.spool.try_room(&[self.log.directory()])?;
        self.keep_room()
    }
}
