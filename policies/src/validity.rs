//! The time window of a key in `allowed_signers`, in OpenSSH's spelling. It must never depend on
//! the time zone of the host: a time without `Z` is read as UTC too, as on a host that runs in UTC.

use validator::UtcTime;

/// From when to when a key's approvals count; both ends belong to it, as with `ssh-keygen`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Validity {
    pub(crate) after: Option<UtcTime>,
    pub(crate) before: Option<UtcTime>,
}

impl Validity {
    pub(crate) fn holds(&self, at: UtcTime) -> bool {
        self.after.is_none_or(|after| after <= at) && self.before.is_none_or(|before| at <= before)
    }

    /// No moment lies in it: a slip that would otherwise make a key silently worthless.
    pub(crate) fn is_empty(&self) -> bool {
        matches!((self.after, self.before), (Some(after), Some(before)) if before <= after)
    }
}

/// Reads `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, each optionally with `Z` behind it.
pub(crate) fn read_time(text: &str) -> Option<UtcTime> {
    let digits = text.strip_suffix('Z').unwrap_or(text);
    if !digits.bytes().all(|b| b.is_ascii_digit()) || ![8, 12, 14].contains(&digits.len()) {
        return None;
    }
    let full = format!("{digits:0<14}");
    let part = |from: usize, to: usize| full.get(from..to);
    let date = format!("{}-{}-{}", part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let time = format!("{}:{}:{}", part(8, 10)?, part(10, 12)?, part(12, 14)?);
    format!("{date}T{time}Z").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Validity, read_time};

    #[test]
    fn the_three_forms_are_read_as_utc() {
        for (text, meant) in [
            ("20260209", "2026-02-09T00:00:00Z"),
            ("20260209Z", "2026-02-09T00:00:00Z"),
            ("202602091605", "2026-02-09T16:05:00Z"),
            ("20260209160501Z", "2026-02-09T16:05:01Z"),
        ] {
            assert_eq!(read_time(text).map(|at| at.to_string()).as_deref(), Some(meant), "{text}");
        }
    }

    #[test]
    fn other_forms_and_unreal_dates_are_refused() {
        for text in ["", "Z", "2026", "20260230", "2026020925", "202602092460", "20260209z", "٢"] {
            assert_eq!(read_time(text), None, "{text}");
        }
    }

    #[test]
    fn both_ends_belong_to_the_window() {
        let window = Validity { after: read_time("20260101"), before: read_time("20260201") };
        for (at, inside) in [
            ("20251231235959", false),
            ("20260101", true),
            ("20260201", true),
            ("20260201000001", false),
        ] {
            assert_eq!(read_time(at).map(|at| window.holds(at)), Some(inside), "{at}");
        }
        assert!(!window.is_empty());
        assert!(Validity { after: window.before, before: window.after }.is_empty());
    }
}
