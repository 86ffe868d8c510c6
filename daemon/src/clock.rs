//! Detects a wall clock that was set back. With such a clock, expired requests would be valid
//! again, and the times of records would contradict their order. The clock is checked at the start,
//! at each admission and before each run. Time limits of runs and of held requests use the
//! monotonic clock, which cannot be set.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::UtcTime;
use spool::{LastKnown, Spool};

use crate::model::Halt;
use crate::system;

/// Clock synchronization steps the clock back by small amounts.
const TOLERANCE_SEC: i64 = 5;

/// The check of the wall clock at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The clock must not be earlier than the last recorded time.
    MustFollow,
    /// The operator confirmed that the clock was set back on purpose.
    WasSetBack,
}

/// The latest recorded time of a start or a record. The clock must not be earlier.
#[derive(Default)]
pub struct Floor(Mutex<Option<LastKnown>>);

impl Floor {
    /// Raises the floor to the time of a durable file.
    pub(crate) fn raise(&self, at: UtcTime, path: &Path) {
        let mut known = self.lock();
        if known.as_ref().is_none_or(|known| known.at < at) {
            *known = Some(LastKnown { at, path: path.to_owned() });
        }
    }

    /// Checks that the clock is not earlier than the floor.
    ///
    /// # Errors
    /// [`Halt::ClockBehind`].
    pub(crate) fn check(&self) -> Result<(), Halt> {
        let now = system::now();
        match &*self.lock() {
            Some(last) if is_behind(now, last) => {
                Err(Halt::ClockBehind { now, last: last.clone() })
            }
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<LastKnown>> {
        // Nothing that panics runs while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_behind(now: UtcTime, last: &LastKnown) -> bool {
    last.at.unix() > now.unix().saturating_add(TOLERANCE_SEC)
}

/// Compares the clock with the last time recorded in the spool. Returns the floor for later checks.
///
/// # Errors
/// [`Halt::ClockBehind`], or the spool cannot be read.
pub fn insist_on_clock(spool: &Spool, clock: Clock) -> Result<Floor, Halt> {
    let now = system::now();
    let Some(last) = spool.last_known()? else { return Ok(Floor::default()) };
    if !is_behind(now, &last) {
        return Ok(Floor(Mutex::new(Some(last))));
    }
    match clock {
        Clock::MustFollow => Err(Halt::ClockBehind { now, last }),
        Clock::WasSetBack => {
            let (path, last) = (last.path.display(), last.at);
            tracing::warn!(
                %now,
                %last,
                "{path}: later than the clock, which is accepted because of --clock-was-set-back"
            );
            Ok(Floor::default())
        }
    }
}
