//! The uses of standing approvals, counted from the lines of the ledger. A use is counted as soon
//! as its line is written, also if its run does not end. It must never be counted twice.

use std::collections::{HashMap, VecDeque};

use model::UtcTime;
use policies::standing::StandingUses;
use serde::{Deserialize, Serialize};

/// `uses_per_hour_max` is about this many seconds.
const HOUR_SEC: i64 = 3600;
/// Limit of the times that are kept for readers.
pub(crate) const LATEST_USES_MAX: usize = 100;

/// The use of a standing approval by a run, in the line of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StandingUseLine {
    /// The digest of the standing approval.
    pub(crate) sha256: String,
    /// The number of this use, from 1.
    #[serde(rename = "use")]
    pub(crate) number: u64,
}

/// A use whose line was missing when the ledger was rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StandingUseNote {
    /// The digest of the standing approval.
    pub(crate) sha256: String,
    /// The number of this use, from 1.
    #[serde(rename = "use")]
    pub(crate) number: u64,
    /// The time when the run was begun, in UTC.
    pub(crate) at: String,
    pub(crate) result_id: String,
}

/// An admission or a revocation of a standing approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StandingNote {
    pub(crate) standing_id: String,
    pub(crate) sha256: String,
    /// The time, in UTC.
    pub(crate) at: String,
    /// The person and the key by which it was revoked, or the uid of the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
}

#[derive(Default)]
struct StandingCounts {
    admitted_id: Option<String>,
    revoked_by: Option<String>,
    uses: u64,
    latest: Option<UtcTime>,
    /// The times of the uses within an hour before the latest one, in seconds since 1970.
    last_hour: VecDeque<i64>,
    /// The times of the latest uses, the oldest first.
    latest_uses: VecDeque<UtcTime>,
}

impl StandingCounts {
    fn keep_time(&mut self, at: UtcTime) {
        // The lines of a rebuilt ledger may be in another order.
        let place = self.latest_uses.partition_point(|known| *known <= at);
        self.latest_uses.insert(place, at);
        if self.latest_uses.len() > LATEST_USES_MAX {
            self.latest_uses.pop_front();
        }
    }
}

/// The state of every standing approval, by the digest of its file.
#[derive(Default)]
pub(crate) struct StandingLedger {
    by_digest: HashMap<String, StandingCounts>,
}

impl StandingLedger {
    pub(super) fn admit(&mut self, note: &StandingNote) {
        self.counts(&note.sha256).admitted_id = Some(note.standing_id.clone());
    }

    pub(super) fn revoke(&mut self, note: &StandingNote) {
        let by = note.by.clone().unwrap_or_default();
        self.counts(&note.sha256).revoked_by.get_or_insert(by);
    }

    /// Counts a use with this number at this time; 0 if its number is unknown.
    pub(super) fn count_use(&mut self, sha256: &str, number: u64, at: Option<UtcTime>) {
        let counts = self.counts(sha256);
        // Each number is one more than all uses before it. After a rebuild, earlier lines may be
        // missing, or come after this one.
        counts.uses = match number {
            0 => counts.uses.saturating_add(1),
            number => counts.uses.max(number),
        };
        let Some(at) = at else { return };
        counts.latest = counts.latest.max(Some(at));
        counts.keep_time(at);
        counts.last_hour.push_back(at.unix());
        let begin = counts.latest.unwrap_or(at).unix().saturating_sub(HOUR_SEC);
        // The clock never runs backwards between two uses, so the oldest are at the front.
        while counts.last_hour.front().is_some_and(|at| *at <= begin) {
            counts.last_hour.pop_front();
        }
    }

    fn counts(&mut self, sha256: &str) -> &mut StandingCounts {
        self.by_digest.entry(sha256.to_owned()).or_default()
    }

    /// Returns the uses so far, unless the standing approval was never admitted here.
    pub(crate) fn uses(&self, sha256: &str, now: UtcTime) -> Option<StandingUses> {
        let counts = self.by_digest.get(sha256).filter(|it| it.admitted_id.is_some())?;
        let begin = now.unix().saturating_sub(HOUR_SEC);
        let last_hour = counts.last_hour.iter().filter(|at| **at > begin).count();
        Some(StandingUses {
            now,
            uses: counts.uses,
            uses_last_hour: u64::try_from(last_hour).unwrap_or(u64::MAX),
            latest: counts.latest,
            is_revoked: counts.revoked_by.is_some(),
            // The decision has verified the signatures.
            is_signed: true,
        })
    }

    /// Returns the number of uses, and the times of the latest ones with the oldest first, unless
    /// the standing approval was never admitted here.
    pub(crate) fn latest_uses(&self, sha256: &str) -> Option<(u64, impl Iterator<Item = UtcTime>)> {
        let counts = self.by_digest.get(sha256).filter(|it| it.admitted_id.is_some())?;
        Some((counts.uses, counts.latest_uses.iter().copied()))
    }

    /// Returns the digest that was admitted under this id.
    pub(crate) fn admitted_digest(&self, id: &str) -> Option<&str> {
        let found = self.by_digest.iter().find(|(_, it)| it.admitted_id.as_deref() == Some(id));
        found.map(|(sha256, _)| sha256.as_str())
    }

    /// Returns the person who revoked it.
    pub(crate) fn revoked_by(&self, sha256: &str) -> Option<&str> {
        self.by_digest.get(sha256)?.revoked_by.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> UtcTime {
        UtcTime::from_unix(1_770_000_000 + second)
    }

    fn note() -> StandingNote {
        let (standing_id, sha256) = ("SA-20260209-160501Z-means".to_owned(), "aa".to_owned());
        StandingNote { standing_id, sha256, at: at(0).to_string(), by: None }
    }

    #[test]
    fn uses_are_counted_in_all_and_within_an_hour() {
        let mut ledger = StandingLedger::default();
        ledger.count_use("aa", 1, Some(at(0)));
        assert!(ledger.uses("aa", at(0)).is_none());
        ledger.admit(&note());
        for (number, second) in [(2, 0), (3, 1), (4, 3599), (5, 3600)] {
            ledger.count_use("aa", number, Some(at(second)));
        }
        let uses = |second: i64| ledger.uses("aa", at(second)).unwrap();
        assert_eq!((uses(3600).uses, uses(3600).latest), (5, Some(at(3600))));
        // A use at second 0 is out of the hour that ends with second 3600.
        assert_eq!([3600, 3601, 7199, 7200].map(|it| uses(it).uses_last_hour), [3, 2, 1, 0]);
        assert_eq!(ledger.admitted_digest("SA-20260209-160501Z-means"), Some("aa"));
        assert!(!uses(3600).is_revoked);
        ledger.revoke(&StandingNote { by: Some("alice".to_owned()), ..note() });
        assert!(ledger.uses("aa", at(3600)).unwrap().is_revoked);
        assert_eq!(ledger.revoked_by("aa"), Some("alice"));
    }

    #[test]
    fn the_times_of_the_latest_uses_are_kept_in_order() {
        let mut ledger = StandingLedger::default();
        // The lines of a rebuilt ledger: the second use comes last.
        for number in (1..=150).filter(|it| *it != 2).chain([2]) {
            ledger.count_use("aa", number, Some(at(i64::try_from(number).unwrap())));
        }
        assert!(ledger.latest_uses("aa").is_none(), "it was not admitted");
        ledger.admit(&note());
        let (uses, times) = ledger.latest_uses("aa").unwrap();
        assert_eq!(uses, 150);
        assert_eq!(times.collect::<Vec<_>>(), (51..=150).map(at).collect::<Vec<_>>());
    }

    /// As the lines of a rebuilt ledger, and with a use whose number is unknown.
    #[test]
    fn a_number_counts_once_in_any_order() {
        let mut ledger = StandingLedger::default();
        ledger.admit(&note());
        for number in [1, 4, 2, 3, 3] {
            ledger.count_use("aa", number, None);
        }
        assert_eq!(ledger.uses("aa", at(0)).unwrap().uses, 4);
        for (number, uses) in [(0, 5), (6, 6)] {
            ledger.count_use("aa", number, None);
            assert_eq!(ledger.uses("aa", at(0)).unwrap().uses, uses);
        }
    }

    /// A use whose time is unknown counts for ever, and for no hour.
    #[test]
    fn a_use_without_a_time_is_counted() {
        let mut ledger = StandingLedger::default();
        ledger.admit(&note());
        ledger.count_use("aa", 0, None);
        let uses = ledger.uses("aa", at(0)).unwrap();
        assert_eq!((uses.uses, uses.uses_last_hour, uses.latest), (1, 0, None));
    }
}
