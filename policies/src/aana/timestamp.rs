//! Times in evidence: ISO 8601, as UTC if the offset is missing. It must never accept more than
//! upstream does; an unreadable text is not a time.

use model::UtcTime;

/// Reads a time. Fractions of a second are dropped.
pub(super) fn parse(text: &str) -> Option<UtcTime> {
    if !text.is_ascii() {
        return None;
    }
    let (date, rest) = text.split_at_checked(10)?;
    if rest.is_empty() {
        return time(date, "00:00:00", 0);
    }
    let clock = rest.strip_prefix(['T', ' '])?;
    let (clock, offset) = match clock.find(['Z', '+', '-']) {
        Some(at) => (&clock[..at], offset_sec(&clock[at..])?),
        None => (clock, 0),
    };
    match clock.len() {
        5 => time(date, &format!("{clock}:00"), offset),
        8 => time(date, clock, offset),
        _ => {
            let (clock, fraction) = clock.split_once('.')?;
            let digits = fraction.bytes().all(|it| it.is_ascii_digit());
            let good = digits && matches!(fraction.len(), 3 | 6);
            if good { time(date, clock, offset) } else { None }
        }
    }
}

fn time(date: &str, clock: &str, offset_sec: i64) -> Option<UtcTime> {
    let local: UtcTime = format!("{date}T{clock}Z").parse().ok()?;
    Some(UtcTime::from_unix(local.unix() - offset_sec))
}

/// Reads `Z`, `+HH:MM` or `-HH:MM`, less than a day.
fn offset_sec(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let (sign, digits) = text.split_at_checked(1)?;
    let (hours, minutes) = digits.split_once(':')?;
    let two = |digits: &str, most: i64| {
        let number: i64 = digits.parse().ok()?;
        let plain = digits.len() == 2 && digits.bytes().all(|it| it.is_ascii_digit());
        (plain && number <= most).then_some(number)
    };
    let seconds = two(hours, 23)? * 3600 + two(minutes, 59)? * 60;
    Some(if sign == "-" { -seconds } else { seconds })
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn unix(text: &str) -> Option<i64> {
        parse(text).map(model::UtcTime::unix)
    }

    #[test]
    fn a_time_is_read_with_its_offset() {
        let at = unix("2026-02-09T16:05:01Z");
        assert!(at.is_some());
        for same in [
            "2026-02-09 16:05:01",
            "2026-02-09T16:05:01.999999+00:00",
            "2026-02-09T18:05:01+02:00",
            "2026-02-09T10:35:01-05:30",
        ] {
            assert_eq!(unix(same), at, "{same}");
        }
        assert_eq!(unix("2026-02-09T16:05"), at.map(|it| it - 1));
        assert_eq!(unix("2026-02-09"), unix("2026-02-09T00:00:00Z"));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            " ",
            "yesterday",
            "2026-02-30",
            "2026-02-09T",
            "2026-02-09T25:00:00Z",
            "2026-02-09T16:05:60Z",
            "2026-02-09T16:05:01+2",
            "2026-02-09T16:05:01+24:00",
            "2026-02-09T16:05:01+-1:00",
            "2026-02-09T16:05:01.Z",
            "2026-02-09T16:05:01ZZ",
            "２026-02-09",
        ] {
            assert_eq!(unix(text), None, "{text:?}");
        }
    }
}
