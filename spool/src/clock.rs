//! The time of day. A program passes it on as an argument, so that decisions do not read the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use model::UtcTime;

/// Returns the wall-clock time in whole seconds.
#[must_use]
pub fn now() -> UtcTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    UtcTime::from_unix(i64::try_from(since).unwrap_or(i64::MAX))
}
