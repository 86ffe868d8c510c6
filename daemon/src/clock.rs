//! A wall clock that is behind what was told already is not believed: requests that had expired would be good
//! again, and records would lie about their order. Only at the start; time limits of runs and of waiting are
//! of the monotonic clock, which nobody sets.

use spool::Spool;

use crate::edge;
use crate::host::Halt;

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

/// Holds the clock against the last time that the spool knows of.
///
/// # Errors
/// [`Halt::ClockBehind`], or the spool cannot be read.
pub fn insist_on_clock(spool: &Spool, clock: Clock) -> Result<(), Halt> {
    let now = edge::now();
    let Some(last) = spool.last_known()? else { return Ok(()) };
    if last.at.unix() <= now.unix().saturating_add(TOLERANCE_SEC) {
        return Ok(());
    }
    match clock {
        Clock::MustFollow => Err(Halt::ClockBehind { now, last }),
        Clock::WasSetBack => {
            let (path, last) = (last.path.display(), last.at);
            tracing::warn!(%now, %last, "{path}: the clock is behind it, and was set back on purpose");
            Ok(())
        }
    }
}
