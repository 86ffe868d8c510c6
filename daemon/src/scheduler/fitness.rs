//! The fitness of the host: the result of the last probe, and the time of the next one.

use std::time::Instant;

use crate::metrics::AdmissionStopReason;
use crate::probe::ProbeResult;

#[derive(Default)]
pub(super) struct HostFitness {
    /// The reason why no sandbox can be started, from the last probe.
    fault: Option<String>,
    is_probing: bool,
    next_probe: Option<Instant>,
}

impl HostFitness {
    /// Returns the reason why nothing may be taken.
    pub(super) fn stopped(&self) -> Option<(AdmissionStopReason, String)> {
        self.fault.clone().map(|why| (AdmissionStopReason::Host, why))
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.next_probe.filter(|_| !self.is_probing)
    }

    pub(super) fn is_probing(&self) -> bool {
        self.is_probing
    }

    pub(super) fn note_start(&mut self) {
        (self.is_probing, self.next_probe) = (true, None);
    }

    /// Requests a probe as soon as the current one has ended.
    pub(super) fn ask_again(&mut self) {
        self.next_probe = Some(Instant::now());
    }

    /// Requests a probe at this time, unless one is scheduled.
    pub(super) fn ask_again_at(&mut self, at: Instant) {
        self.next_probe.get_or_insert(at);
    }

    /// Notes the result of a probe. Returns whether the host was unfit before.
    pub(super) fn note_result(&mut self, probed: ProbeResult) -> bool {
        self.is_probing = false;
        let was_unfit = self.fault.is_some();
        match probed {
            ProbeResult::Fit(_) => self.fault = None,
            ProbeResult::Unfit(fault) => self.fault = Some(fault.reason()),
            // The previous result stays; each request gets its own record.
            ProbeResult::NotTried(why) => tracing::warn!(
                "the host was not probed: {why}; help: check it with `toolexec doctor`"
            ),
        }
        was_unfit
    }
}
