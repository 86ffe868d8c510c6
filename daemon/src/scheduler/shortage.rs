//! The event loop during a shortage: it admits nothing, checks for the end of the shortage, and
//! then settles unfinished claims first. It must never block here, because readers and the service
//! manager still get updates.

use std::time::{Duration, Instant};

use super::loop_state::EventLoop;
use crate::log_event::{self, LogEvent, LogEventFields};
use crate::metrics::AdmissionStopReason;
use crate::model::DaemonError;

/// The interval of the checks during a shortage.
const SPACE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

impl EventLoop<'_, '_> {
    /// Recovers the claims of an earlier daemon, or those that a shortage interrupted. If a
    /// shortage prevents that, nothing is admitted.
    pub(super) fn settle(&mut self) -> Result<(), DaemonError> {
        // No worker is active, and this thread must not wait.
        self.host.shortage.forbid_waiting();
        let recovered = self.host.recover();
        self.host.shortage.allow_waiting();
        let settled = match recovered {
            Err(error) => {
                let Some(want) = error.shortage() else { return Err(error) };
                self.host.shortage.mark_unsettled();
                self.host.shortage.note(want, &error);
                return Ok(());
            }
            Ok(settled) => settled,
        };
        for id in settled.recorded {
            let result = Some(id.as_str());
            log_event::log(
                LogEvent::Recovered,
                &LogEventFields { result, ..LogEventFields::default() },
            );
        }
        for name in settled.ignored {
            let identity = self.dropbox.identity(&name);
            self.ignored.extend(identity.map(|identity| (name, identity)));
        }
        self.host.shortage.mark_settled();
        Ok(())
    }

    /// Notes a shortage, which does not end the daemon. Returns any other error.
    pub(super) fn note_shortage(&mut self, error: DaemonError) -> Result<(), DaemonError> {
        let Some(want) = error.shortage() else { return Err(error) };
        self.host.shortage.note(want, &error);
        self.scan_wanted = true;
        Ok(())
    }

    /// Interrupted claims are settled before the shortage counts as ended.
    pub(super) fn is_space_available(&mut self, now: Instant) -> Result<bool, DaemonError> {
        let Some((want, why)) = self.host.shortage.reason() else { return Ok(true) };
        self.stop_admission(AdmissionStopReason::of_shortage(want), why);
        if now < self.next_space_check {
            return Ok(false);
        }
        self.next_space_check = now + SPACE_CHECK_INTERVAL;
        match self.host.check_space_again() {
            Err(error) if error.shortage().is_some() => return Ok(false),
            tried => tried?,
        }
        if self.host.shortage.is_unsettled() {
            if !self.in_flight.is_empty() {
                return Ok(false);
            }
            // Recovery removes slots without a claim, and those of prewarmed sandboxes have none.
            self.host.end_prewarmed();
            self.settle()?;
            if self.host.shortage.is_unsettled() {
                return Ok(false);
            }
        }
        self.host.shortage.clear();
        self.scan_wanted = true;
        if self.admission_stopped()?.is_none() {
            self.resume_admission();
        }
        Ok(true)
    }
}
