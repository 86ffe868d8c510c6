//! The started and local requests of which this host has neither the file nor the record. Pure:
//! times are arguments.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The requests, each with the time of the first look that found nothing of it.
#[derive(Default)]
pub(super) struct MissingRecords {
    since: BTreeMap<String, Instant>,
}

impl MissingRecords {
    /// Notes that a look found nothing of a request. Returns the time since the first such look.
    pub(super) fn missed(&mut self, request: &str, now: Instant) -> Duration {
        let since = *self.since.entry(request.to_owned()).or_insert(now);
        now.saturating_duration_since(since)
    }

    /// Forgets a request of which something was found.
    pub(super) fn forget(&mut self, request: &str) {
        self.since.remove(request);
    }

    /// Forgets every request except these.
    pub(super) fn keep(&mut self, requests: &[String]) {
        self.since.retain(|request, _| requests.contains(request));
    }

    /// Returns whether each of these requests has been missing for this long.
    pub(super) fn has_all(&self, requests: &[String], now: Instant, wait: Duration) -> bool {
        requests.iter().all(|request| {
            let since = self.since.get(request);
            since.is_some_and(|at| now.saturating_duration_since(*at) >= wait)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(30);

    #[test]
    fn a_record_is_missing_since_the_first_look_without_it() {
        let (mut missing, now) = (MissingRecords::default(), Instant::now());
        assert_eq!(missing.missed("a", now), Duration::ZERO);
        assert_eq!(missing.missed("a", now + WAIT), WAIT);
        missing.forget("a");
        assert_eq!(missing.missed("a", now + WAIT), Duration::ZERO);
    }

    #[test]
    fn a_host_has_reported_everything_when_the_rest_is_missing_for_long() {
        let (mut missing, now) = (MissingRecords::default(), Instant::now());
        let requests = ["a", "b"].map(str::to_owned);
        assert!(missing.has_all(&[], now, WAIT));
        missing.missed("a", now);
        assert!(!missing.has_all(&requests, now + WAIT, WAIT), "b is not missing");
        missing.missed("b", now + WAIT);
        assert!(!missing.has_all(&requests, now + WAIT, WAIT), "b is missing since now");
        assert!(missing.has_all(&requests, now + 2 * WAIT, WAIT));
        missing.keep(&requests[1..]);
        assert!(!missing.has_all(&requests, now + 2 * WAIT, WAIT), "a is forgotten");
    }
}
