//! The loop's knowledge of the host: if a sandbox can be started, and when that is probed next.

use std::time::Instant;

use crate::metrics::StoppedBy;
use crate::probe::Probed;

/// What is known of the host.
#[derive(Default)]
pub(super) struct Fitness {
    /// Why no sandbox can be started, by the last probe.
    fault: Option<String>,
    /// A probe is under way.
    is_probing: bool,
    next_probe: Option<Instant>,
}

impl Fitness {
    /// Why nothing may be taken.
    pub(super) fn stopped(&self) -> Option<(StoppedBy, String)> {
        self.fault.clone().map(|why| (StoppedBy::Host, why))
    }

    /// When the loop must wake up for it.
    pub(super) fn due(&self) -> Option<Instant> {
        self.next_probe.filter(|_| !self.is_probing)
    }

    /// Returns whether a probe is under way.
    pub(super) fn is_probing(&self) -> bool {
        self.is_probing
    }

    /// Notes that a probe began.
    pub(super) fn begun(&mut self) {
        (self.is_probing, self.next_probe) = (true, None);
    }

    /// Has a probe made as soon as none is under way.
    pub(super) fn ask_again(&mut self) {
        self.next_probe = Some(Instant::now());
    }

    /// Has a probe made at that time, unless one is planned already.
    pub(super) fn ask_again_at(&mut self, at: Instant) {
        self.next_probe.get_or_insert(at);
    }

    /// Takes in a probe. Returns whether no sandbox could be started before it.
    pub(super) fn take_in(&mut self, probed: Probed) -> bool {
        self.is_probing = false;
        let was_unfit = self.fault.is_some();
        match probed {
            Probed::Fit(_) => self.fault = None,
            Probed::Unfit(fault) => self.fault = Some(fault.reason()),
            // What was known stays; each request is answered for itself.
            Probed::NotTried(why) => tracing::warn!("no sandbox was tried: {why}"),
        }
        was_unfit
    }
}
