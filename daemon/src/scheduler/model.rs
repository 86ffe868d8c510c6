//! Types that the threads of the scheduler share.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ::model::UtcTime;
use notify::RecommendedWatcher;
use policies::{ActionTarget, SignedActionTerms};
use spool::retention::RetentionPolicy;
use spool::{Inbox, SeenDrafts, SignedActionInbox, SignedActionMarks};

/// The settings of the event loop.
pub struct LoopConfig {
    /// The longest time between two looks at the directory.
    pub scan_interval: Duration,
    /// The time that runs may continue after a stop signal.
    pub shutdown_grace: Duration,
    /// The limit on requests in progress, from claim to published record.
    pub in_flight_max: usize,
    /// Retention of results and requests.
    pub retention: RetentionPolicy,
}

/// The file that a name referred to: inode and change time.
pub(super) type FileIdentity = (u64, i64, i64);

pub(super) struct StopState {
    pub(super) stopped_at: OnceLock<Instant>,
    /// The time that runs may continue after it.
    pub(super) shutdown_grace: Duration,
    /// Set by a second stop signal: running requests are ended.
    pub(super) is_immediate: AtomicBool,
}

#[derive(Default)]
pub(super) struct WorkerControl {
    /// The request is to be ended.
    pub(super) end: AtomicBool,
    /// The request is to be released unless it was started.
    pub(super) release: AtomicBool,
}

/// A directory that was empty when it was listed.
pub(super) struct EmptyListing {
    pub(super) changed_at: (i64, i64),
    pub(super) listed: Instant,
}

/// The open directory `drafts/`, while policy allows to take drafts from it.
#[derive(Default)]
pub(super) struct StandingDrafts {
    pub(super) directory: Option<Inbox>,
    pub(super) watcher: Option<RecommendedWatcher>,
    pub(super) seen: SeenDrafts,
    /// A file may have changed since the present pass over the directory began.
    pub(super) has_changed: bool,
    /// The last error, which is logged once.
    pub(super) reported: Option<String>,
}

/// An order is remembered for this time, in which a repetition of it could still be taken.
const ORDERS_KEPT_SEC: i64 = 3600;

/// The open directory `signed/`, if it exists.
pub(super) struct SignedActions {
    pub(super) inbox: Option<SignedActionInbox>,
    pub(super) watcher: Option<RecommendedWatcher>,
    /// The last error, which is logged once.
    pub(super) reported: Option<String>,
    /// The marks of taken actions, from the first look at the directory on.
    pub(super) marks: Option<SignedActionMarks>,
    /// The stems of actions that wait for a momentary error to end, the last attempt last.
    pub(super) waiting: Vec<String>,
    /// The last look ended at its time limit, with actions left.
    pub(super) is_behind: bool,
    started: UtcTime,
    /// The time of the last order of each request.
    last_orders: BTreeMap<ActionTarget, UtcTime>,
}

impl SignedActions {
    pub(super) fn new(started: UtcTime) -> Self {
        Self {
            inbox: None,
            watcher: None,
            reported: None,
            marks: None,
            waiting: Vec::new(),
            is_behind: false,
            started,
            last_orders: BTreeMap::new(),
        }
    }

    /// Returns the last time at which this order would have no effect. An earlier daemon may have
    /// taken what was signed before the start, also if the clock was set back since.
    pub(super) fn orders_until(&self, terms: &SignedActionTerms) -> UtcTime {
        let targets = terms.documents().iter().map(|document| &document.target);
        let last = targets.filter_map(|target| self.last_orders.get(target)).max();
        last.map_or(self.started, |last| self.started.max(*last))
    }

    /// Notes a taken action, if it is an order.
    pub(super) fn note_order(&mut self, terms: &SignedActionTerms, now: UtcTime) {
        let (true, Some(at)) = (terms.kind().is_order(), terms.at()) else { return };
        let kept_from = now.unix().saturating_sub(ORDERS_KEPT_SEC);
        self.last_orders.retain(|_, at| at.unix() >= kept_from);
        for document in terms.documents() {
            self.last_orders.insert(document.target.clone(), at);
        }
    }

    /// Puts an action behind all others until it is answered.
    pub(super) fn defer(&mut self, stem: String) {
        self.waiting.retain(|waiting| *waiting != stem);
        self.waiting.push(stem);
    }

    /// Returns the rank of an action in a look: one that waits must not delay the others.
    pub(super) fn rank(&self, stem: &str) -> usize {
        let position = self.waiting.iter().position(|waiting| waiting == stem);
        position.map_or(0, |position| position.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use policies::{ActionDocument, SignedActionKind};

    use super::*;

    fn hold(at_sec: i64) -> SignedActionTerms {
        let target = "TR-20260209-160501Z-one".parse().unwrap();
        let documents = vec![ActionDocument { sha256: None, target }];
        let at = Some(UtcTime::from_unix(at_sec));
        SignedActionTerms::new(SignedActionKind::Hold, None, at, documents).unwrap()
    }

    #[test]
    fn an_order_has_no_effect_up_to_the_last_one_and_the_start() {
        let mut signed = SignedActions::new(UtcTime::from_unix(1000));
        assert_eq!(signed.orders_until(&hold(0)).unix(), 1000);
        // A clock that was set back does not lower it.
        signed.note_order(&hold(900), UtcTime::from_unix(900));
        assert_eq!(signed.orders_until(&hold(0)).unix(), 1000);
        signed.note_order(&hold(1100), UtcTime::from_unix(1100));
        assert_eq!(signed.orders_until(&hold(0)).unix(), 1100);
    }

    #[test]
    fn actions_that_wait_come_last_and_take_turns() {
        let mut signed = SignedActions::new(UtcTime::from_unix(0));
        for stem in ["a", "b", "a"] {
            signed.defer(stem.to_owned());
        }
        let mut stems = ["a", "b", "c", "d"];
        stems.sort_by_key(|stem| signed.rank(stem));
        assert_eq!(stems, ["c", "d", "b", "a"]);
    }
}
