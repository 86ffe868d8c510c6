//! The signals between the event loop and the thread of drafts. Both hold the lock of the signals
//! for a moment only, and never while they use a file. So the event loop never waits for the
//! thread.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The reason why the thread goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DraftWake {
    /// The event loop wants a look.
    Wanted,
    /// The time of the next look has come.
    Due,
    /// The daemon stops.
    Stopped,
}

/// The file or directory that the thread uses, and since when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DraftStep {
    pub(super) object: String,
    pub(super) since: Instant,
}

#[derive(Default)]
struct DraftThreadState {
    is_wanted: bool,
    is_stopped: bool,
    step: Option<DraftStep>,
}

#[derive(Default)]
pub(super) struct DraftSignals {
    state: Mutex<DraftThreadState>,
    changed: Condvar,
}

impl DraftSignals {
    /// Asks the thread for a look. Several calls before the look begins count as one.
    pub(super) fn wake(&self) {
        self.lock().is_wanted = true;
        self.changed.notify_all();
    }

    /// Ends the thread after its present step.
    pub(super) fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Returns the present step, if the thread is at work.
    pub(super) fn step(&self) -> Option<DraftStep> {
        self.lock().step.clone()
    }

    /// Notes the object that the thread uses next.
    pub(super) fn begin_step(&self, object: String) {
        self.lock().step = Some(DraftStep { object, since: Instant::now() });
    }

    /// Notes that the thread is not at work.
    pub(super) fn end_step(&self) {
        self.lock().step = None;
    }

    /// Waits until a look is wanted or due. Without a time, none is due.
    pub(super) fn wait(&self, due: Option<Instant>) -> DraftWake {
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return DraftWake::Stopped;
            }
            if mem::take(&mut state.is_wanted) {
                return DraftWake::Wanted;
            }
            let rest = due.map(|due| due.saturating_duration_since(Instant::now()));
            state = match rest {
                Some(rest) if rest.is_zero() => return DraftWake::Due,
                Some(rest) => {
                    let waited = self.changed.wait_timeout(state, rest);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Waits for this time, or until the daemon stops.
    pub(super) fn pause(&self, length: Duration) {
        let is_served = |state: &mut DraftThreadState| !state.is_stopped;
        drop(self.changed.wait_timeout_while(self.lock(), length, is_served));
    }

    fn lock(&self) -> MutexGuard<'_, DraftThreadState> {
        // Each change is a single assignment, so a panic leaves no half of one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_wakes_are_one_look_and_a_stop_comes_first() {
        let signals = DraftSignals::default();
        let now = Some(Instant::now());
        signals.wake();
        signals.wake();
        assert_eq!(signals.wait(now), DraftWake::Wanted);
        assert_eq!(signals.wait(now), DraftWake::Due);
        signals.wake();
        signals.stop();
        assert_eq!(signals.wait(now), DraftWake::Stopped);
        assert!(signals.is_stopped());
        // It would take an hour otherwise.
        signals.pause(Duration::from_secs(3600));
    }

    #[test]
    fn the_step_is_seen_until_its_end() {
        let signals = DraftSignals::default();
        assert_eq!(signals.step(), None);
        signals.begin_step("a".to_owned());
        signals.begin_step("b".to_owned());
        assert_eq!(signals.step().map(|step| step.object), Some("b".to_owned()));
        signals.end_step();
        assert_eq!(signals.step(), None);
    }
}
