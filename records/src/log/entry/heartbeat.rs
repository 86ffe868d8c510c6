//! The heartbeat entry: the log was alive at this time. A reader who knows the interval notices if
//! the end of a log was cut off. A heartbeat must never have another time than the caller's.

use std::fmt;
use std::str::FromStr;

use model::UtcTime;
use serde::Deserialize;

use crate::log::format::OWN_VERSION;

pub(crate) const KIND: &str = "toolexec-heartbeat";

/// The time at which the log was alive, and the boot of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    time: UtcTime,
    boot_id: Option<BootId>,
}

/// The kernel's id of one boot: `/proc/sys/kernel/random/boot_id` (random(4)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootId(String);

/// The error for a text that is not a lower-case UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotABootId;

impl fmt::Display for NotABootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a boot id: expected a UUID in lower case")
    }
}

impl std::error::Error for NotABootId {}

impl FromStr for BootId {
    type Err = NotABootId;

    fn from_str(text: &str) -> Result<Self, NotABootId> {
        let digits = |group: &str| group.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        let groups: Vec<&str> = text.split('-').collect();
        let lengths = groups.iter().map(|group| group.len());
        let fits = lengths.eq([8, 4, 4, 4, 12]) && groups.iter().all(|group| digits(group));
        if fits { Ok(Self(text.to_owned())) } else { Err(NotABootId) }
    }
}

impl fmt::Display for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Deserialize)]
struct RawHeartbeat {
    spec: RawHeartbeatSpec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawHeartbeatSpec {
    boot_id: Option<String>,
    time: String,
}

impl Heartbeat {
    /// Makes a heartbeat for this time.
    #[must_use]
    pub fn new(time: UtcTime, boot_id: Option<BootId>) -> Self {
        Self { time, boot_id }
    }

    /// Returns the host's wall clock at that moment.
    #[must_use]
    pub fn time(&self) -> UtcTime {
        self.time
    }

    /// Returns the boot id, if it is known.
    #[must_use]
    pub fn boot_id(&self) -> Option<&BootId> {
        self.boot_id.as_ref()
    }

    /// Returns the entry as canonical JSON (RFC 8785). Two heartbeats in one second are one entry.
    #[must_use]
    pub fn entry(&self) -> Vec<u8> {
        // Canonical: sorted names, no space, and no value with a character that JSON escapes.
        let boot_id =
            self.boot_id.as_ref().map_or_else(String::new, |it| format!("\"bootId\":\"{it}\","));
        let time = self.time;
        format!(
            "{{\"apiVersion\":\"{OWN_VERSION}\",\"kind\":\"{KIND}\",\"spec\":{{{boot_id}\
             \"time\":\"{time}\"}}}}"
        )
        .into_bytes()
    }

    /// A quick check that excludes entries that are not heartbeats.
    pub(crate) fn has_prefix(bytes: &[u8]) -> bool {
        let head = format!("{{\"apiVersion\":\"{OWN_VERSION}\",\"kind\":\"{KIND}\"");
        bytes.starts_with(head.as_bytes())
    }

    /// Parses exactly the bytes that [`Self::entry`] writes.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let RawHeartbeat { spec } = serde_json::from_slice(bytes).ok()?;
        let boot_id = spec.boot_id.map(|text| text.parse()).transpose().ok()?;
        let heartbeat = Self::new(spec.time.parse().ok()?, boot_id);
        (heartbeat.entry() == bytes).then_some(heartbeat)
    }
}

/// Returns whether nothing was appended for this many seconds. True as well if the last entry's
/// time is unknown, or later than now: a future time must not silence the log.
#[must_use]
pub fn heartbeat_is_due(interval_sec: u32, last: Option<UtcTime>, now: UtcTime) -> bool {
    let Some(last) = last else { return true };
    let since = now.unix() - last.unix();
    since < 0 || since >= i64::from(interval_sec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::entry::LogEntry;

    const WHOLE: &str = "{\"apiVersion\":\"0.1.0\",\"kind\":\"toolexec-heartbeat\",\"spec\":\
                         {\"bootId\":\"0e8dd5cb-8e27-4ac4-b68c-65b2df4bd5ab\",\
                         \"time\":\"2026-11-22T10:48:00Z\"}}";
    const SHORT: &str = "{\"apiVersion\":\"0.1.0\",\"kind\":\"toolexec-heartbeat\",\"spec\":\
                         {\"time\":\"2026-11-22T10:48:00Z\"}}";

    #[test]
    fn a_heartbeat_is_read_as_it_was_written_and_in_no_other_form() {
        let time: UtcTime = "2026-11-22T10:48:00Z".parse().unwrap();
        let boot_id = "0e8dd5cb-8e27-4ac4-b68c-65b2df4bd5ab".parse().ok();
        for (heartbeat, text) in
            [(Heartbeat::new(time, boot_id), WHOLE), (Heartbeat::new(time, None), SHORT)]
        {
            assert_eq!(heartbeat.entry(), text.as_bytes());
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json_canonicalizer::to_vec(&value).unwrap(), text.as_bytes());
            assert_eq!(LogEntry::read(text.as_bytes()), LogEntry::Heartbeat(heartbeat));
            assert!(Heartbeat::has_prefix(text.as_bytes()));
        }
        for (from, to) in [
            ("0.1.0", "0.1.1"),
            ("heartbeat", "heartbeats"),
            (":{", ": {"),
            ("Z\"", "Z\",\"more\":1"),
            ("0e8dd5cb", "0E8DD5CB"),
            ("0e8dd5cb-", "0e8dd5c-b"),
            ("10:48", "24:48"),
            ("\"}}", "\"}}\n"),
        ] {
            let changed = WHOLE.replacen(from, to, 1);
            assert_ne!(changed, WHOLE);
            assert_eq!(LogEntry::read(changed.as_bytes()), LogEntry::Unknown, "{changed}");
        }
        for other in ["", "entry 1", "null", "{}", "{\"apiVersion\":\"0.1.0\"}"] {
            assert_eq!(LogEntry::read(other.as_bytes()), LogEntry::Unknown, "{other}");
        }
    }

    #[test]
    fn a_heartbeat_is_due_after_the_interval_and_when_the_clock_went_back() {
        let at = UtcTime::from_unix;
        assert!(heartbeat_is_due(60, None, at(0)));
        for (now, due) in [(1000, false), (1059, false), (1060, true), (2000, true), (999, true)] {
            assert_eq!(heartbeat_is_due(60, Some(at(1000)), at(now)), due, "{now}");
        }
        assert!(heartbeat_is_due(0, Some(at(5)), at(5)));
    }
}
