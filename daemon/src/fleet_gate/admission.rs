//! The last answer of the gate about admission, shared by the thread that asks and the event loop.

use std::sync::{Mutex, MutexGuard, PoisonError};

const NOT_ASKED: &str = "fleet: its gate was not asked yet; help: wait a moment";

/// The reason why nothing may be admitted, if any. Until the first answer, the missing answer is
/// the reason.
pub(super) struct FleetAdmission(Mutex<Option<String>>);

impl FleetAdmission {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Some(NOT_ASKED.to_owned())))
    }

    pub(super) fn stopped(&self) -> Option<String> {
        self.lock().clone()
    }

    /// Notes an answer. Returns whether admission begins or ends with it.
    pub(super) fn note(&self, stopped: Option<String>) -> bool {
        let mut known = self.lock();
        let has_changed = known.is_some() != stopped.is_some();
        *known = stopped;
        has_changed
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        // No code that can panic runs while the lock is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admission_is_stopped_until_the_first_answer() {
        let admission = FleetAdmission::new();
        assert_eq!(admission.stopped().as_deref(), Some(NOT_ASKED));
        let stopped = |reason: &str| Some(reason.to_owned());
        for (answer, has_changed) in [
            (stopped("a"), false),
            (None, true),
            (None, false),
            (stopped("b"), true),
            (stopped("c"), false),
            (None, true),
        ] {
            assert_eq!(admission.note(answer.clone()), has_changed, "{answer:?}");
            assert_eq!(admission.stopped(), answer);
        }
    }
}
