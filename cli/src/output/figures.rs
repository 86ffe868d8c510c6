//! Figures for people: sizes, counts and ages.

use model::UtcTime;

const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
const DAY_SEC: i64 = 24 * 60 * 60;

/// Formats bytes in the largest unit that gives at least one, with a tenth below ten.
pub(crate) fn size(bytes: u64) -> String {
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) if bytes / unit >= 10 => format!("{} {name}", bytes / unit),
        Some((name, unit)) => {
            format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit)
        }
        None => format!("{bytes} B"),
    }
}

/// Formats a number with its noun, such as `7,910 files`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{text} {}", if number == 1 { one } else { many })
}

/// Formats the whole days since a time.
pub(crate) fn age(since: UtcTime, now: UtcTime) -> String {
    match now.unix().saturating_sub(since.unix()) / DAY_SEC {
        ..1 => "today".to_owned(),
        1 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        let sizes = [512, 1 << 10, 3 << 19, 273_678_336, 5 << 30].map(size);
        assert_eq!(sizes, ["512 B", "1.0 KiB", "1.5 MiB", "261 MiB", "5.0 GiB"]);
        let counts = [0, 1, 999, 7_910, 1_234_567].map(|number| count(number, "file", "files"));
        assert_eq!(counts, ["0 files", "1 file", "999 files", "7,910 files", "1,234,567 files"]);
        let ages = [0, DAY_SEC - 1, DAY_SEC, 9 * DAY_SEC + 1, -DAY_SEC];
        let ages = ages.map(|sec| age(UtcTime::from_unix(0), UtcTime::from_unix(sec)));
        assert_eq!(ages, ["today", "today", "1 day ago", "9 days ago", "today"]);
    }
}
