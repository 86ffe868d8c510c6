//! The time of day and the time zone. A program passes them on as arguments, so that decisions do
//! not read the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::{Dst, TimeZone};
use jiff::{Timestamp, ToSpan as _};
use model::UtcTime;
use policies::StandardTime;

/// Returns the wall-clock time in whole seconds.
#[must_use]
pub fn now() -> UtcTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    UtcTime::from_unix(i64::try_from(since).unwrap_or(i64::MAX))
}

/// Returns this host's offset from UTC without daylight saving time, as OpenSSH's `mktime` uses it.
/// A program that restricts its file access asks before: the zone is in `/etc/localtime`.
#[must_use]
pub fn standard_time() -> StandardTime {
    let (zone, now) = (TimeZone::system(), Timestamp::now());
    let standard = [0, 90, 180, 270].into_iter().find_map(|days| {
        let at = zone.to_offset_info(now.checked_sub((24 * days).hours()).ok()?);
        (at.dst() == Dst::No).then(|| at.offset().seconds())
    });
    standard.and_then(StandardTime::ahead_sec).unwrap_or(StandardTime::UTC)
}
