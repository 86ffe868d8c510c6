//! The meaning of a receiver's answer, and the time of the next attempt. Pure: the time and the
//! random number are arguments.

use std::time::Duration;

use model::UtcTime;

const DELAY_MAX: Duration = Duration::from_secs(5 * 60);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60 * 60);
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The end of an attempt. A reason names neither the address nor a part of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PostOutcome {
    Delivered,
    /// Another attempt would end in the same way.
    Refused(String),
    Failed {
        reason: String,
        /// The least delay that the receiver asks for.
        retry_after: Option<Duration>,
    },
}

impl PostOutcome {
    /// Interprets a status and the value of `Retry-After`.
    pub(super) fn of_answer(status: u16, retry_after: Option<&str>, now: UtcTime) -> Self {
        match status {
            200..=299 => Self::Delivered,
            408 | 429 | 500.. => Self::Failed {
                reason: format!("answers with status {status}"),
                retry_after: retry_after.and_then(|value| read_retry_after(value, now)),
            },
            300..=399 => Self::Refused(format!(
                "answers with status {status}, a redirect, which is not followed"
            )),
            _ => Self::Refused(format!("refuses the event with status {status}")),
        }
    }
}

/// Reads a number of seconds, or a date of the preferred form of RFC 9110.
fn read_retry_after(value: &str, now: UtcTime) -> Option<Duration> {
    let value = value.trim();
    let seconds = match value.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let until = read_date(value)?.unix().saturating_sub(now.unix());
            u64::try_from(until).unwrap_or(0)
        }
    };
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}

/// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn read_date(value: &str) -> Option<UtcTime> {
    let mut words = value.split(' ').skip(1);
    let [day, month, year, time, zone] = std::array::from_fn(|_| words.next().unwrap_or_default());
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let text = format!("{year}-{month:02}-{day}T{time}Z");
    if zone == "GMT" { text.parse().ok() } else { None }
}

/// Returns the delay after this many failed attempts in a row: doubled each time, the second half
/// of it at random, so that several senders do not keep step.
pub(super) fn delay(failures: u32, retry_after: Option<Duration>, random: u16) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    let whole = Duration::from_secs(1_u64 << doublings).min(DELAY_MAX);
    let half = whole / 2;
    let delay = half + half * u32::from(random) / u32::from(u16::MAX);
    retry_after.map_or(delay, |least| least.max(delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> UtcTime {
        "2026-02-09T16:05:01Z".parse().unwrap()
    }

    fn is_failed(outcome: &PostOutcome) -> bool {
        matches!(outcome, PostOutcome::Failed { .. })
    }

    #[test]
    fn errors_of_the_receiver_are_retried_and_refusals_are_not() {
        let of = |status| PostOutcome::of_answer(status, None, now());
        assert_eq!((of(200), of(204)), (PostOutcome::Delivered, PostOutcome::Delivered));
        for status in [408, 429, 500, 503, 599] {
            assert!(is_failed(&of(status)), "{status}");
        }
        for status in [100, 301, 302, 308, 400, 401, 404, 410, 422] {
            assert!(matches!(of(status), PostOutcome::Refused(_)), "{status}");
        }
    }

    #[test]
    fn retry_after_is_read_and_limited_to_an_hour() {
        let after = |value: &str| match PostOutcome::of_answer(429, Some(value), now()) {
            PostOutcome::Failed { retry_after, .. } => retry_after.map(|after| after.as_secs()),
            other => panic!("{other:?}"),
        };
        assert_eq!((after("7"), after(" 0 ")), (Some(7), Some(0)));
        assert_eq!((after("3600"), after("86400")), (Some(3600), Some(3600)));
        assert_eq!(after("Mon, 09 Feb 2026 16:06:01 GMT"), Some(60));
        assert_eq!(after("Mon, 09 Feb 2026 15:06:01 GMT"), Some(0));
        assert_eq!(after("Mon, 09 Feb 2027 15:06:01 GMT"), Some(3600));
        for value in ["", "soon", "-1", "1.5", "Mon, 09 Feb 2026 16:06:01 CET", "a b c d e f"] {
            assert_eq!(after(value), None, "{value}");
        }
    }

    #[test]
    fn delays_double_up_to_a_limit_and_vary() {
        for (failures, whole) in [(1, 1), (2, 2), (5, 16), (9, 256), (10, 300), (u32::MAX, 300)] {
            let least = delay(failures, None, 0);
            assert_eq!(least, Duration::from_secs(whole) / 2, "{failures}");
            assert_eq!(delay(failures, None, u16::MAX), Duration::from_secs(whole), "{failures}");
        }
        assert_eq!(delay(1, Some(Duration::from_secs(90)), 0), Duration::from_secs(90));
        assert_eq!(delay(9, Some(Duration::from_secs(1)), 0), Duration::from_secs(128));
    }
}
