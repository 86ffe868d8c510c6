//! A wall clock that is behind what was told already is not believed: requests that had expired would be good
//! again, and records would lie about their order. It is compared at the start, at each admission and before each
//! run; time limits of runs and of waiting are of the monotonic clock, which nobody sets.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::UtcTime;
use spool::{LastKnown, Spool};

use crate::model::Halt;
use crate::system;

/// Clocks are set by a little all the time.
const TOLERANCE_SEC: i64 = 5;

/// What is expected of the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// It is not behind what was begun or told last.
    MustFollow,
    /// Somebody says that it may be.
    WasSetBack,
}

/// The latest time that was begun or told, as far as the clock has to follow it.
#[derive(Default)]
pub struct Floor(Mutex<Option<LastKnown>>);

impl Floor {
    /// Something durable is of this time.
    pub(crate) fn raise(&self, at: UtcTime, path: &Path) {
        let mut known = self.lock();
        if known.as_ref().is_none_or(|known| known.at < at) {
            *known = Some(LastKnown { at, path: path.to_owned() });
        }
    }

    /// Whether the clock is behind it.
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

/// Holds the clock against the last time that the spool knows of. Returns what it has to follow from now on.
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
            tracing::warn!(%now, %last, "{path}: the clock is behind it, and was set back on purpose");
            Ok(Floor::default())
        }
    }
}
