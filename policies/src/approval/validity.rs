//! The time window of a key in `allowed_signers`, in OpenSSH's spelling. It must never read the
//! time zone of the host: a time without `Z` is in the zone that the caller gives.

use model::UtcTime;

/// The time window of a key. Both ends are included, as with `ssh-keygen`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ValidityWindow {
    pub(crate) after: Option<UtcTime>,
    pub(crate) before: Option<UtcTime>,
}

impl ValidityWindow {
    pub(crate) fn holds(&self, at: UtcTime) -> bool {
        self.after.is_none_or(|after| after <= at) && self.before.is_none_or(|before| at <= before)
    }

    /// Returns whether the window is empty: an error that would silently make a key useless.
    pub(crate) fn is_empty(&self) -> bool {
        matches!((self.after, self.before), (Some(after), Some(before)) if before <= after)
    }
}

/// The zone of times without `Z`, in seconds ahead of UTC. OpenSSH reads such times as the host's
/// *standard* time, even in summer, so that one number is the whole zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StandardTime(i64);

impl StandardTime {
    /// UTC, as on a host that runs in UTC.
    pub const UTC: Self = Self(0);

    /// Makes a zone from its offset in winter, or `None` for more than a day.
    #[must_use]
    pub fn ahead_sec(seconds: i32) -> Option<Self> {
        (-86_400..=86_400).contains(&seconds).then(|| Self(i64::from(seconds)))
    }
}

/// Reads `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, each optionally followed by `Z` or `UTC`.
/// Times in 1970 and before are refused: OpenSSH reads 0 as "not given".
pub(crate) fn read_time(text: &str, zone: StandardTime) -> Option<UtcTime> {
    let utc = ["Z", "UTC"].into_iter().find_map(|suffix| {
        let (digits, end) = text.split_at_checked(text.len().checked_sub(suffix.len())?)?;
        end.eq_ignore_ascii_case(suffix).then_some(digits)
    });
    let digits = utc.unwrap_or(text);
    if !digits.bytes().all(|b| b.is_ascii_digit()) || ![8, 12, 14].contains(&digits.len()) {
        return None;
    }
    let full = format!("{digits:0<14}");
    let part = |from: usize, to: usize| full.get(from..to);
    let date = format!("{}-{}-{}", part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let time = format!("{}:{}:{}", part(8, 10)?, part(10, 12)?, part(12, 14)?);
    let read: UtcTime = format!("{date}T{time}Z").parse().ok()?;
    let ahead = if utc.is_some() { 0 } else { zone.0 };
    let unix = read.unix().saturating_sub(ahead);
    (unix > 0).then(|| UtcTime::from_unix(unix))
}

#[cfg(test)]
mod tests {
    use model::UtcTime;

    use super::{StandardTime, ValidityWindow};

    fn read_time(text: &str) -> Option<UtcTime> {
        super::read_time(text, StandardTime::UTC)
    }

    #[test]
    fn the_three_forms_are_read_as_utc() {
        for (text, meant) in [
            ("20260209", "2026-02-09T00:00:00Z"),
            ("20260209Z", "2026-02-09T00:00:00Z"),
            ("202602091605", "2026-02-09T16:05:00Z"),
            ("20260209160501Z", "2026-02-09T16:05:01Z"),
            ("20260209z", "2026-02-09T00:00:00Z"),
            ("202602091605utc", "2026-02-09T16:05:00Z"),
        ] {
            assert_eq!(read_time(text).map(|at| at.to_string()).as_deref(), Some(meant), "{text}");
        }
    }

    #[test]
    fn other_forms_and_unreal_dates_are_refused() {
        for text in [
            "",
            "Z",
            "2026",
            "20260230",
            "2026020925",
            "202602092460",
            "20260209 Z",
            "19700101",
            "1969",
            "UTC",
            "٢",
        ] {
            assert_eq!(read_time(text), None, "{text}");
        }
    }

    #[test]
    fn the_zone_counts_only_where_none_is_written() {
        let berlin = StandardTime::ahead_sec(3600).expect("a zone");
        for (text, meant) in [
            ("20260209", "2026-02-08T23:00:00Z"),
            ("202607011200", "2026-07-01T11:00:00Z"),
            ("202607011200Z", "2026-07-01T12:00:00Z"),
        ] {
            let read = super::read_time(text, berlin).map(|at| at.to_string());
            assert_eq!(read.as_deref(), Some(meant), "{text}");
        }
        assert_eq!(StandardTime::ahead_sec(86_401), None);
    }

    #[test]
    fn both_ends_belong_to_the_window() {
        let window = ValidityWindow { after: read_time("20260101"), before: read_time("20260201") };
        for (at, inside) in [
            ("20251231235959", false),
            ("20260101", true),
            ("20260201", true),
            ("20260201000001", false),
        ] {
            assert_eq!(read_time(at).map(|at| window.holds(at)), Some(inside), "{at}");
        }
        assert!(!window.is_empty());
        assert!(ValidityWindow { after: window.before, before: window.after }.is_empty());
    }
}
