//! UTC times in whole seconds, written `YYYY-MM-DDTHH:MM:SSZ`. Must never read the clock.

use std::fmt;
use std::str::FromStr;

/// The Unix times of 0000-01-01T00:00:00Z, the first that four digits can write, and of the last
/// time of this type.
const UNIX_MIN: i64 = -62_167_219_200;
const UNIX_MAX: i64 = 253_402_207_200;

const DAY_SEC: i64 = 24 * 60 * 60;
/// The number of days in any 400 consecutive years.
const DAYS_OF_400_YEARS: i64 = 146_097;

/// A point in time in whole seconds, from year 0000 to 9999-12-30T22:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct UtcTime(i64);

/// The error for a text that is not a valid time in the required form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a real UTC time of the form YYYY-MM-DDTHH:MM:SSZ")
    }
}

impl std::error::Error for NotATime {}

impl UtcTime {
    /// Returns the time `seconds` after 1970-01-01T00:00:00Z, clamped to the range of the type.
    #[must_use]
    pub fn from_unix(seconds: i64) -> Self {
        Self(seconds.clamp(UNIX_MIN, UNIX_MAX))
    }

    /// Returns the seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn unix(self) -> i64 {
        self.0
    }

    /// Returns the form used in ids, `YYYYMMDD-HHMMSSZ`.
    #[must_use]
    pub fn compact(self) -> String {
        let at = self.civil();
        format!(
            "{:04}{:02}{:02}-{:02}{:02}{:02}Z",
            at.year, at.month, at.day, at.hour, at.minute, at.second
        )
    }

    /// Reads the form used in ids, with `separator` between date and time.
    ///
    /// # Errors
    /// The text does not have that form, or the time does not exist.
    pub fn from_compact(text: &str, separator: u8) -> Result<Self, NotATime> {
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
        year: i64,
        [month, day, hour, minute, second]: [i64; 5],
    ) -> Result<Self, NotATime> {
        if !(1..=12).contains(&month) || !(1..=days_of_month(year, month)).contains(&day) {
            return Err(NotATime);
        }
        if hour > 23 || minute > 59 || second > 59 {
            return Err(NotATime);
        }
        let whole_months: i64 = (1..month).map(|before| days_of_month(year, before)).sum();
        let days = days_before_year(year) + whole_months + day - 1;
        let seconds = UNIX_MIN + days * DAY_SEC + hour * 3600 + minute * 60 + second;
        if seconds > UNIX_MAX { Err(NotATime) } else { Ok(Self(seconds)) }
    }

    fn civil(self) -> Civil {
        let (days, second) =
            ((self.0 - UNIX_MIN).div_euclid(DAY_SEC), (self.0 - UNIX_MIN).rem_euclid(DAY_SEC));
        // Off by at most one year, because the length of a year varies by a day.
        let mut year = days * 400 / DAYS_OF_400_YEARS;
        while days_before_year(year + 1) <= days {
            year += 1;
        }
        while days_before_year(year) > days {
            year -= 1;
        }
        let (mut month, mut left) = (1, days - days_before_year(year));
        while left >= days_of_month(year, month) {
            left -= days_of_month(year, month);
            month += 1;
        }
        let (hour, minute) = (second / 3600, second / 60 % 60);
        Civil { year, month, day: left + 1, hour, minute, second: second % 60 }
    }
}

/// A date and time of the Gregorian calendar.
struct Civil {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

/// Returns the days from 0000-01-01 to the first day of `year`, which must not be negative.
fn days_before_year(year: i64) -> i64 {
    // Year 0 is a leap year, so each term rounds up.
    year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn two_digits(bytes: &[u8], at: usize) -> Result<i64, NotATime> {
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(tens @ b'0'..=b'9'), Some(ones @ b'0'..=b'9')) => {
            Ok(i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
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
            at.year, at.month, at.day, at.hour, at.minute, at.second
        )
    }
}

impl FromStr for UtcTime {
    type Err = NotATime;

    /// Reads exactly `YYYY-MM-DDTHH:MM:SSZ`: no offset, fraction, leap second or lower case.
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
