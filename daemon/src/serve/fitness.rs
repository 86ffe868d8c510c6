//! Whether this host can start a sandbox, as the loop knows it. A probe is made before the daemon is ready, after
//! a reload, after a request for which no sandbox could be built, and at every rescan while the last one failed. While
//! requests are served it runs on a thread of its own, because a launcher may take its time.

use std::thread;
use std::time::Instant;

use super::AtWork;
use super::watch::Event;
use crate::metrics::StoppedBy;
use crate::model::Halt;
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
}

impl AtWork<'_, '_> {
    /// Has a probe made, unless one is under way.
    pub(super) fn probe(&mut self) -> Result<(), Halt> {
        if self.fitness.is_probing {
            // What is under way may have begun before the reason to ask again.
            self.fitness.next_probe = Some(Instant::now());
            return Ok(());
        }
        let (host, send) = (self.host, self.send.clone());
        let probe = move || {
            if send.send(Event::Probed(host.probe())).is_err() {
                tracing::debug!("probed after the end");
            }
        };
        let spawned =
            thread::Builder::new().name("probe".to_owned()).spawn_scoped(self.scope, probe);
        spawned.map_err(|error| Halt::Kernel("a thread", error))?;
        (self.fitness.is_probing, self.fitness.next_probe) = (true, None);
        Ok(())
    }

    /// Probes if it is time to.
    pub(super) fn probe_if_due(&mut self) -> Result<(), Halt> {
        if self.host.is_doubted() || self.fitness.due().is_some_and(|at| at <= Instant::now()) {
            return self.probe();
        }
        Ok(())
    }

    pub(super) fn hear_probed(&mut self, probed: Probed) -> Result<(), Halt> {
        self.fitness.is_probing = false;
        let was_unfit = self.fitness.fault.is_some();
        match probed {
            Probed::Fit(_) => self.fitness.fault = None,
            Probed::Unfit(fault) => self.fitness.fault = Some(fault.reason()),
            // What was known stays; each request is answered for itself.
            Probed::NotTried(why) => tracing::warn!("no sandbox was tried: {why}"),
        }
        if let Some((by, why)) = self.fitness.stopped() {
            self.stop_admission(by, why);
            self.fitness.next_probe.get_or_insert(Instant::now() + self.pace.rescan);
        } else if was_unfit && self.admission_stopped()?.is_none() {
            self.resume_admission();
        }
        self.look_wanted = true;
        Ok(())
    }
}
