//! The last listing of the results directory, and the decision if its names are still complete.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use super::result_events::{ResultChanges, ResultEvents};

/// A change shortly before a listing may be missing in it: the file system's clock is coarse.
const CLOCK_STEP_MAX: Duration = Duration::from_secs(1);
/// After this time the directory is listed again although it looks unchanged: the clock of the file
/// system may differ from this host's.
const LIST_INTERVAL: Duration = Duration::from_secs(10);
/// The same interval while events report the changes. Changes of a network file system by other
/// hosts have no events.
const REPORTED_LIST_INTERVAL: Duration = Duration::from_secs(60);

/// The identity and the modification time of the results directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResultsStamp {
    /// The device and the inode.
    object: (u64, u64),
    /// Seconds and nanoseconds.
    changed: (i64, i64),
}

impl ResultsStamp {
    pub(super) fn of(found: &Metadata) -> Self {
        let object = (found.dev(), found.ino());
        Self { object, changed: (found.mtime(), found.mtime_nsec()) }
    }
}

/// The next act about the names of results.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ListingStep {
    /// The names are complete.
    Keep,
    /// Only these names may have appeared or left.
    Look(BTreeSet<OsString>),
    /// The directory must be listed.
    List,
}

/// A listing of the results directory, with the events since then.
pub(super) struct LastListing {
    /// The time at which the listing ended.
    pub(super) at: Instant,
    /// The watch, which is older than the listing. Without inotify there is none.
    pub(super) events: Option<ResultEvents>,
    /// The directory at the listing, or at the last events. With `None`, a later change may leave
    /// the modification time as it is.
    stamp: Option<ResultsStamp>,
    /// Events came, and no change without an event was seen after them.
    is_reported: bool,
}

impl LastListing {
    /// Notes a listing.
    ///
    /// - `found` is the directory after the watch began and before the listing.
    /// - `age` is the time from its last change until then.
    /// - `was_reported` states if events have reported the changes until now.
    pub(super) fn new(
        found: ResultsStamp,
        age: Option<Duration>,
        events: Option<ResultEvents>,
        was_reported: bool,
    ) -> Self {
        let is_reported = was_reported && events.is_some();
        let is_settled = age.is_some_and(|age| age > CLOCK_STEP_MAX);
        let stamp = (is_reported || is_settled).then_some(found);
        Self { at: Instant::now(), events, stamp, is_reported }
    }

    /// Returns whether events report the changes.
    pub(super) fn is_reported(&self) -> bool {
        self.is_reported
    }

    /// Returns the changes since the last call, or `None` without a watch.
    pub(super) fn take_changes(&self) -> Option<ResultChanges> {
        self.events.as_ref().map(ResultEvents::take)
    }

    /// Takes the changes again if they are empty, but `found`, which was read later, differs. A
    /// change between the two must not look unreported.
    pub(super) fn with_later(
        &self,
        changes: Option<ResultChanges>,
        found: ResultsStamp,
    ) -> Option<ResultChanges> {
        match changes {
            Some(changes) if changes.is_empty() && self.stamp != Some(found) => self.take_changes(),
            changes => changes,
        }
    }

    /// Decides the next step. `changes` are those until `found` was read, so a change that only
    /// `found` shows had no event.
    pub(super) fn next_step(
        &mut self,
        changes: Option<ResultChanges>,
        found: ResultsStamp,
        now: Instant,
    ) -> ListingStep {
        let has_events = changes.as_ref().is_some_and(|changes| changes.count > 0);
        let is_other = self.stamp.is_some_and(|known| known.object != found.object);
        let is_unreported = !has_events && self.stamp.is_some_and(|known| known != found);
        self.is_reported = !is_other && !is_unreported && (has_events || self.is_reported);
        let interval = if self.is_reported { REPORTED_LIST_INTERVAL } else { LIST_INTERVAL };
        let is_recent = now.saturating_duration_since(self.at) < interval;
        let is_complete = changes.as_ref().is_none_or(|changes| !changes.is_incomplete);
        if is_other || is_unreported || self.stamp.is_none() || !is_recent || !is_complete {
            return ListingStep::List;
        }
        self.stamp = Some(found);
        match changes {
            Some(changes) if has_events => ListingStep::Look(changes.names),
            _ => ListingStep::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: ResultsStamp = ResultsStamp { object: (1, 2), changed: (3, 4) };
    const CHANGED: ResultsStamp = ResultsStamp { changed: (3, 5), ..FOUND };
    const OTHER: ResultsStamp = ResultsStamp { object: (1, 7), ..FOUND };

    fn listing(stamp: Option<ResultsStamp>, is_reported: bool) -> LastListing {
        LastListing { at: Instant::now(), events: None, stamp, is_reported }
    }

    /// Changes with one event about each name.
    fn changes(names: &[&str]) -> Option<ResultChanges> {
        let names: BTreeSet<OsString> = names.iter().map(OsString::from).collect();
        Some(ResultChanges { count: names.len(), names, is_incomplete: false })
    }

    fn look(names: &[&str]) -> ListingStep {
        ListingStep::Look(names.iter().map(OsString::from).collect())
    }

    /// Returns the step so long after a listing.
    fn step(
        last: &mut LastListing,
        changes: Option<ResultChanges>,
        found: ResultsStamp,
        after: Duration,
    ) -> ListingStep {
        last.next_step(changes, found, last.at + after)
    }

    #[test]
    fn only_the_names_of_events_are_looked_at() {
        let mut last = listing(Some(FOUND), false);
        let soon = Duration::from_secs(1);
        assert_eq!(step(&mut last, changes(&[]), FOUND, soon), ListingStep::Keep);
        assert_eq!(step(&mut last, changes(&["a", "b"]), CHANGED, soon), look(&["a", "b"]));
        assert_eq!(step(&mut last, changes(&[]), CHANGED, soon), ListingStep::Keep);
    }

    #[test]
    fn lost_events_and_another_directory_cause_a_listing() {
        let soon = Duration::from_secs(1);
        let lost = ResultChanges { is_incomplete: true, ..changes(&["a"]).unwrap() };
        let mut last = listing(Some(FOUND), true);
        assert_eq!(step(&mut last, Some(lost), CHANGED, soon), ListingStep::List);
        let mut last = listing(Some(FOUND), true);
        assert_eq!(step(&mut last, changes(&["a"]), OTHER, soon), ListingStep::List);
        assert!(!last.is_reported(), "these were events of the first one");
    }

    #[test]
    fn an_unreported_change_causes_listings_until_events_come_again() {
        let soon = Duration::from_secs(1);
        let mut last = listing(Some(FOUND), true);
        assert_eq!(step(&mut last, changes(&[]), CHANGED, soon), ListingStep::List);
        assert!(!last.is_reported());
        let mut last = LastListing::new(CHANGED, Some(Duration::ZERO), None, false);
        assert_eq!(step(&mut last, changes(&[]), CHANGED, soon), ListingStep::List);
        assert!(!last.is_reported(), "the directory changed in the step of the clock");
        assert_eq!(step(&mut last, changes(&["a"]), CHANGED, soon), ListingStep::List);
        assert!(last.is_reported());
    }

    #[test]
    fn the_interval_of_listings_is_longer_if_events_report_the_changes() {
        let just_before = |interval: Duration| interval - Duration::from_millis(1);
        for (is_reported, interval) in [(false, LIST_INTERVAL), (true, REPORTED_LIST_INTERVAL)] {
            let mut last = listing(Some(FOUND), is_reported);
            let kept = step(&mut last, changes(&[]), FOUND, just_before(interval));
            assert_eq!(kept, ListingStep::Keep, "{is_reported}");
            let listed = step(&mut last, changes(&[]), FOUND, interval);
            assert_eq!(listed, ListingStep::List, "{is_reported}");
        }
    }

    #[test]
    fn without_a_watch_each_change_causes_a_listing() {
        let soon = Duration::from_secs(1);
        let mut last = LastListing::new(FOUND, Some(Duration::from_secs(2)), None, true);
        assert!(!last.is_reported(), "a later watch must prove itself");
        assert_eq!(step(&mut last, None, FOUND, soon), ListingStep::Keep);
        assert_eq!(step(&mut last, None, CHANGED, soon), ListingStep::List);
        let mut last = LastListing::new(FOUND, Some(CLOCK_STEP_MAX), None, false);
        assert_eq!(step(&mut last, None, FOUND, soon), ListingStep::List, "too young");
        let mut last = LastListing::new(FOUND, None, None, false);
        assert_eq!(step(&mut last, None, FOUND, soon), ListingStep::List, "another clock");
    }
}
