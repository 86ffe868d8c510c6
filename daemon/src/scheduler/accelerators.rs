//! Tries the accelerators of virtual machines on a thread of its own, at the start and after a
//! reload. It delays no request: those for such a backend use the next accelerator of the policy,
//! or are refused, until the thread has ended.

use std::mem;
use std::thread;

use super::event::LoopEvent;
use super::loop_state::EventLoop;
use crate::model::DaemonError;
use crate::runtimes::BackendScope;

impl EventLoop<'_, '_> {
    /// Starts the thread, unless there is nothing to try. On a host that can start no sandbox, each
    /// try would fail, and that would be remembered.
    pub(super) fn try_accelerators(&mut self) -> Result<(), DaemonError> {
        let scope = BackendScope::All;
        if self.fitness.stopped().is_some() || !self.host.has_untried_accelerator(&scope) {
            return Ok(());
        }
        if self.is_trying_accelerators {
            // The thread has the rules from before the reload.
            self.must_try_accelerators_again = true;
            return Ok(());
        }
        let (host, send, stop_state) = (self.host, self.send.clone(), self.stop_state);
        let attempt = move || {
            // A stop need not wait for a guest.
            let is_stopped = || stop_state.stopped_at.get().is_some();
            let is_tried = host.try_accelerators(&scope, &is_stopped);
            if send.send(LoopEvent::AcceleratorsTried(is_tried)).is_err() {
                tracing::debug!("an accelerator was tried after the event loop");
            }
        };
        let spawned = thread::Builder::new()
            .name("accelerators".to_owned())
            .spawn_scoped(self.scope, attempt);
        spawned.map_err(|error| DaemonError::System("start a thread", error))?;
        self.is_trying_accelerators = true;
        Ok(())
    }

    /// Only a reload in the meantime may cause another try: results that cannot be written would
    /// be tried for ever.
    pub(super) fn handle_accelerators(&mut self, is_tried: bool) -> Result<(), DaemonError> {
        self.is_trying_accelerators = false;
        if is_tried {
            self.host.choose_accelerators();
            self.scan_wanted = true;
        }
        match mem::take(&mut self.must_try_accelerators_again) && !self.is_stopping() {
            true => self.try_accelerators(),
            false => Ok(()),
        }
    }
}
