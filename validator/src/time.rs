//! Points in time as the schemas write them: UTC, whole seconds, `YYYY-MM-DDTHH:MM:SSZ`. This
//! module must never ask for the present time: callers bring it.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The Unix times from year 0000 on, which four digits can write, to the last one that jiff knows.
const FIRST: i64 = -62_167_219_200;
const LAST: i64 = 253_402_207_200;

/// A point in time in whole seconds, from year 0000 to 9999-12-30T22:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UtcTime(i64);

/// The text is not a real date and time of the form that the schema asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a real UTC time of the form YYYY-MM-DDTHH:MM:SSZ")
    }
}

impl std::error::Error for NotATime {}

impl UtcTime {
    /// The time that many seconds after 1970-01-01T00:00:00Z; what lies outside the range
    /// becomes the nearest second inside.
    #[must_use]
    pub fn from_unix(seconds: i64) -> Self {
        Self(seconds.clamp(FIRST, LAST))
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn unix(self) -> i64 {
        self.0
    }

    /// The form that ids use, `YYYYMMDD-HHMMSSZ`.
    #[must_use]
    pub fn compact(self) -> String {
        let at = self.civil();
        format!(
            "{:04}{:02}{:02}-{:02}{:02}{:02}Z",
            at.year(),
            at.month(),
            at.day(),
            at.hour(),
            at.minute(),
            at.second()
        )
    }

    /// Reads the form that ids use, with `separator` between date and time.
    pub(crate) fn from_compact(text: &str, separator: u8) -> Result<Self, NotATime> {
        let bytes = text.as_bytes();
        if bytes.len() != 16 || bytes[8] != separator || bytes[15] != b'Z' {
            return Err(NotATime);
        }
        let pair = |at: usize| two_digits(bytes, at);
        Self::from_parts(
            pair(0)? * 100 + pair(2)?,
            [pair(4)?, pair(6)?, pair(9)?, pair(11)?, pair(13)?],
        )
    }

    fn from_parts(
        year: i16,
        [month, day, hour, minute, second]: [i16; 5],
    ) -> Result<Self, NotATime> {
        let small = |value: i16| i8::try_from(value).map_err(|_| NotATime);
        let civil = DateTime::new(
            year,
            small(month)?,
            small(day)?,
            small(hour)?,
            small(minute)?,
            small(second)?,
            0,
        )
        .map_err(|_| NotATime)?;
        let zoned = civil.to_zoned(TimeZone::UTC).map_err(|_| NotATime)?;
        Ok(Self::from_unix(zoned.timestamp().as_second()))
    }

    fn civil(self) -> DateTime {
        // The range is kept by the constructor; the fallback only spares a panic path.
        let timestamp = Timestamp::from_second(self.0).unwrap_or(Timestamp::UNIX_EPOCH);
        Zoned::new(timestamp, TimeZone::UTC).datetime()
    }
}

fn two_digits(bytes: &[u8], at: usize) -> Result<i16, NotATime> {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(tens @ b'0'..=b'9'), Some(ones @ b'0'..=b'9')) => {
            Ok(i16::from(tens - b'0') * 10 + i16::from(ones - b'0'))
        }
        _ => Err(NotATime),
    }
}

impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.civil();
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            at.year(),
            at.month(),
            at.day(),
            at.hour(),
            at.minute(),
            at.second()
        )
    }
}

impl FromStr for UtcTime {
    type Err = NotATime;

    /// Reads exactly `YYYY-MM-DDTHH:MM:SSZ`; no offsets, fractions, leap seconds or lower case.
    fn from_str(text: &str) -> Result<Self, NotATime> {
        let bytes = text.as_bytes();
        let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
        if bytes.len() != 20 || marks.iter().any(|&(at, mark)| bytes[at] != mark) {
            return Err(NotATime);
        }
        let pair = |at: usize| two_digits(bytes, at);
        Self::from_parts(
            pair(0)? * 100 + pair(2)?,
            [pair(5)?, pair(8)?, pair(11)?, pair(14)?, pair(17)?],
        )
    }
}
