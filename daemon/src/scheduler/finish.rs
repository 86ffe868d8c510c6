//! The end of a worker: its result is noted, logged and published.

use spool::SubmissionState;
use validator::Violation;

use super::event::{PickupOutcome, WorkerEnd};
use super::loop_state::{AssignedRequest, EventLoop};
use crate::held_requests;
use crate::log_event::{self, LogEvent, LogEventFields};
use crate::model::{DaemonError, PermissionFiled};
use crate::pipeline::ReleaseReason;

impl EventLoop<'_, '_> {
    pub(super) fn handle_worker_end(&mut self, ended: WorkerEnd) {
        let WorkerEnd { name, result: taken } = ended;
        let Some(in_flight) = self.in_flight.remove(&name) else { return };
        match taken {
            Some(Ok(PickupOutcome::Recorded(originals))) => {
                self.note_recorded(name, &in_flight, originals)
            }
            Some(Ok(PickupOutcome::Held(waits_for, filed))) => {
                self.note_held(&name, &in_flight, &waits_for, filed);
            }
            Some(Ok(PickupOutcome::Released(why))) => {
                self.scan_wanted = true;
                if let ReleaseReason::Shortage(want) = why {
                    self.host.shortage.note(want, &"a request could not continue");
                }
            }
            Some(Err(error)) => self.fail(error),
            None => self.fail(DaemonError::WorkerDied),
        }
    }

    fn note_recorded(
        &mut self,
        name: String,
        in_flight: &AssignedRequest,
        originals: SubmissionState,
    ) {
        self.forget_held(&name);
        // The same name was submitted again meanwhile.
        self.scan_wanted |= self.dropbox.identity(&name).is_some();
        let request = Some(spool::stem_of(&name).unwrap_or(&name));
        let SubmissionState::NotRemoved(error) = originals else {
            log_event::log(
                LogEvent::Archived,
                &LogEventFields { request, ..LogEventFields::default() },
            );
            return;
        };
        if let Some(want) = error.shortage() {
            self.host.shortage.note(want, &error);
            self.host.shortage.mark_unsettled();
        }
        let why = format!("recorded; its file is ignored until it changes: {error}");
        let fields = LogEventFields { request, reason: Some(&why), ..LogEventFields::default() };
        log_event::log(LogEvent::Ignored, &fields);
        self.ignored.insert(name, in_flight.identity);
    }

    fn note_held(
        &mut self,
        name: &str,
        in_flight: &AssignedRequest,
        waits_for: &[Violation],
        filed: PermissionFiled,
    ) {
        let &AssignedRequest { decision_digest: digest, stamp: dropped, until, .. } = in_flight;
        let known = self.held.release(name);
        // If the permission request was not filed, the next look retries.
        let (digest, decide_at) = match filed {
            PermissionFiled::NotNeeded => (digest, until),
            // The permission request of another run may be shared, and close earlier.
            PermissionFiled::Until(closes) => (digest, until.min(closes)),
            PermissionFiled::NotYet => (held_requests::undecided_digest(), until),
        };
        self.held.hold(name, (digest, decide_at), dropped);
        // An approval may have arrived meanwhile.
        self.scan_wanted |= filed != PermissionFiled::NotYet;
        let entry = held_requests::public_entry(dropped.at, until, waits_for);
        held_requests::warn_if_failed(self.host.spool.publish_held(name, &entry));
        for one in waits_for.iter().filter(|_| !known) {
            let (code, why) = (one.code.as_str(), format!("until {until}: {}", one.message));
            let fields = LogEventFields {
                request: Some(spool::stem_of(name).unwrap_or(name)),
                code: Some(&code),
                reason: Some(&why),
                ..LogEventFields::default()
            };
            log_event::log(LogEvent::Held, &fields);
        }
    }

    fn forget_held(&mut self, name: &str) {
        if self.held.release(name) {
            held_requests::warn_if_failed(self.host.spool.remove_held(name));
        }
    }
}
