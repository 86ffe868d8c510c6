//! The time of day. Only checks of signatures and documents use it. The clock of the database
//! decides when a host may take over a claim.

use std::time::{SystemTime, UNIX_EPOCH};

use model::UtcTime;

/// Returns the wall-clock time in whole seconds.
pub(crate) fn now() -> UtcTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    UtcTime::from_unix(i64::try_from(since).unwrap_or(i64::MAX))
}
