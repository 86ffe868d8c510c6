//! A shortage of disk space or file descriptors, shared by the event loop and its workers. During a
//! shortage nothing is admitted, and a started run waits with its record. An embedded run must
//! never wait: its caller gets the error at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use records::split_reason;
use spool::Shortage;

/// The interval between two tries during a shortage.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Default)]
pub(crate) struct ShortageState {
    /// Set while an event loop checks for the end of the shortage.
    is_waiting_allowed: AtomicBool,
    reason: Mutex<Option<(Shortage, String)>>,
    /// Recovery has to finish a claim before anything is admitted.
    is_unsettled: AtomicBool,
}

impl ShortageState {
    /// Lets workers wait during a shortage, until [`Self::forbid_waiting`].
    pub(crate) fn allow_waiting(&self) {
        self.is_waiting_allowed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn forbid_waiting(&self) {
        self.is_waiting_allowed.store(false, Ordering::Relaxed);
    }

    /// The first reason stays until the shortage ends.
    pub(crate) fn note(&self, want: Shortage, why: &dyn std::fmt::Display) {
        self.lock().get_or_insert_with(|| (want, stop_reason(want, why)));
    }

    /// Returns the shortage, and its reason with the fix.
    pub(crate) fn reason(&self) -> Option<(Shortage, String)> {
        self.lock().clone()
    }

    pub(crate) fn clear(&self) {
        *self.lock() = None;
    }

    /// Notes a shortage, and sleeps before the next try. Returns false if waiting is not allowed or
    /// cannot help.
    pub(crate) fn wait(&self, want: Option<Shortage>, why: &dyn std::fmt::Display) -> bool {
        let Some(want) = want.filter(|_| self.is_waiting_allowed.load(Ordering::Relaxed)) else {
            return false;
        };
        self.note(want, why);
        std::thread::sleep(RETRY_INTERVAL);
        true
    }

    pub(crate) fn mark_unsettled(&self) {
        self.is_unsettled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn mark_settled(&self) {
        self.is_unsettled.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_unsettled(&self) -> bool {
        self.is_unsettled.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Shortage, String)>> {
        // Nothing that panics runs while it is held.
        self.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn stop_reason(want: Shortage, why: &dyn std::fmt::Display) -> String {
    let why = why.to_string();
    let (what, _) = split_reason(&why);
    format!("{what}; nothing is admitted until {want}; help: {}", want.remedy())
}
