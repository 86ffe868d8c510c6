//! Detects a wall clock that was set back: expired requests would be valid again, and the times of
//! records would contradict their order. It is checked at the start, at each admission and before
//! each run. Time limits of runs use the monotonic clock; the deadline of a held request is a
//! time of the wall clock.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::UtcTime;
use spool::{LatestTime, Spool};

use crate::model::DaemonError;
use crate::system;

/// Clock synchronization steps the clock back by small amounts.
const TOLERANCE_SEC: i64 = 5;

/// The check of the wall clock at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockCheck {
    /// The clock must not be earlier than the last recorded time.
    NotEarlier,
    /// The operator confirmed that the clock was set back on purpose.
    WasSetBack,
}

/// The latest recorded time of a start or a record. The clock must not be earlier.
#[derive(Default)]
pub struct ClockFloor(Mutex<Option<LatestTime>>);

impl ClockFloor {
    /// Raises the floor to the time of a durable file.
    pub(crate) fn raise(&self, at: UtcTime, path: &Path) {
        let mut known = self.lock();
        if known.as_ref().is_none_or(|known| known.at < at) {
            *known = Some(LatestTime { at, path: path.to_owned() });
        }
    }

    /// Checks that the clock is not earlier than the floor.
    ///
    /// # Errors
    /// [`DaemonError::ClockBehind`].
    pub(crate) fn check(&self) -> Result<(), DaemonError> {
        let now = system::now();
        match &*self.lock() {
            Some(last) if is_behind(now, last) => {
                Err(DaemonError::ClockBehind { now, last: last.clone() })
            }
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<LatestTime>> {
        // Nothing that panics runs while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_behind(now: UtcTime, last: &LatestTime) -> bool {
    last.at.unix() > now.unix().saturating_add(TOLERANCE_SEC)
}

/// Compares the clock with the last time recorded in the spool; returns the floor for later checks.
///
/// # Errors
/// [`DaemonError::ClockBehind`], or the spool cannot be read.
pub fn check_clock(spool: &Spool, clock: ClockCheck) -> Result<ClockFloor, DaemonError> {
    let now = system::now();
    let Some(last) = spool.latest_time()? else { return Ok(ClockFloor::default()) };
    if !is_behind(now, &last) {
        return Ok(ClockFloor(Mutex::new(Some(last))));
    }
    match clock {
        ClockCheck::NotEarlier => Err(DaemonError::ClockBehind { now, last }),
        ClockCheck::WasSetBack => {
            let (path, last) = (last.path.display(), last.at);
            tracing::warn!(
                %now,
                %last,
                "{path}: later than the clock, which is accepted because of --clock-was-set-back"
            );
            Ok(ClockFloor::default())
        }
    }
}
