//! Probes whether this host can start a sandbox: before the daemon is ready, after a reload, after
//! a request whose sandbox could not be built, and at every rescan while the last probe failed.
//! While requests are served, a probe has its own thread, because a launcher may be slow.

use std::thread;
use std::time::Instant;

use super::event::LoopEvent;
use super::loop_state::EventLoop;
use crate::model::DaemonError;
use crate::probe::ProbeResult;

impl EventLoop<'_, '_> {
    /// Starts a probe, unless one is in progress.
    pub(super) fn probe(&mut self) -> Result<(), DaemonError> {
        if self.fitness.is_probing() {
            // The current probe may have begun before the reason for this one.
            self.fitness.ask_again();
            return Ok(());
        }
        let (host, send) = (self.host, self.send.clone());
        let probe = move || {
            if send.send(LoopEvent::Probed(host.probe())).is_err() {
                tracing::debug!("a probe ended after the event loop");
            }
        };
        let spawned =
            thread::Builder::new().name("probe".to_owned()).spawn_scoped(self.scope, probe);
        spawned.map_err(|error| DaemonError::System("start a thread", error))?;
        self.fitness.note_start();
        Ok(())
    }

    pub(super) fn probe_if_due(&mut self) -> Result<(), DaemonError> {
        if self.host.take_doubtful() || self.fitness.due().is_some_and(|at| at <= Instant::now()) {
            return self.probe();
        }
        Ok(())
    }

    pub(super) fn handle_probe(&mut self, probed: ProbeResult) -> Result<(), DaemonError> {
        let was_unfit = self.fitness.note_result(probed);
        if let Some((by, why)) = self.fitness.stopped() {
            self.stop_admission(by, why);
            self.fitness.ask_again_at(Instant::now() + self.loop_config.scan_interval);
        } else if was_unfit {
            if self.admission_stopped()?.is_none() {
                self.resume_admission();
            }
            self.try_accelerators()?;
        }
        self.scan_wanted = true;
        Ok(())
    }
}
