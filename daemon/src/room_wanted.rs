//! A want of room on a disk or of descriptors, as the loop and its workers share it. While there is one, nothing is admitted; what
//! was begun waits for room with its record. It must never let an embedded run wait: its person is told at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spool::Want;

/// Between two tries of one who waits for room.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Default)]
pub(crate) struct RoomWanted {
    /// Whether there is a daemon that looks for room, and does not stop.
    is_looked_for: AtomicBool,
    why: Mutex<Option<(Want, String)>>,
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

    /// Notes what is lacking, and why. The first reason stays until there is enough of all.
    pub(crate) fn note(&self, want: Want, why: &dyn std::fmt::Display) {
        self.lock().get_or_insert_with(|| (want, told(want, why)));
    }

    /// The shortage, and its reason with the remedy.
    pub(crate) fn why(&self) -> Option<(Want, String)> {
        self.lock().clone()
    }

    pub(crate) fn found(&self) {
        *self.lock() = None;
    }

    /// Notes it, and waits a moment before the next try. False where nobody may wait, or nothing is
    /// lacking that comes back.
    pub(crate) fn wait(&self, want: Option<Want>, why: &dyn std::fmt::Display) -> bool {
        let Some(want) = want.filter(|_| self.is_looked_for.load(Ordering::Relaxed)) else {
            return false;
        };
        self.note(want, why);
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

    fn lock(&self) -> MutexGuard<'_, Option<(Want, String)>> {
        // Nothing that panics runs while it is held.
        self.why.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reason why nothing is admitted, with what to do.
pub(crate) fn told(want: Want, why: &dyn std::fmt::Display) -> String {
    format!("{why}; nothing is admitted until {want}; help: {}", want.remedy())
}
