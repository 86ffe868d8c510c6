//! Follows the gate of the fleet on a thread of its own. The event loop reads the last answer, and
//! is woken when admission begins or ends. A host without a fleet has no such thread.

use std::sync::mpsc::Sender;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Instant;

use super::event::LoopEvent;
use super::loop_state::EventLoop;
use super::model::StopState;
use crate::fleet_gate::GatePoll;
use crate::model::DaemonError;
use crate::state::Daemon;

/// Asks the gate once, so that a daemon that starts beside a ready gate reports no stop. Then a
/// thread asks it until the daemon stops.
pub(super) fn follow<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    host: &'env Daemon,
    stop_state: &'env StopState,
    send: Sender<LoopEvent>,
) -> Result<Option<ScopedJoinHandle<'scope, ()>>, DaemonError> {
    let Some(membership) = &host.fleet else { return Ok(None) };
    let mut gate = GatePoll::new(membership, &host.progress.metrics);
    let mut is_wanted = move || stop_state.stopped_at.get().is_none();
    gate.poll(&mut is_wanted);
    let following = move || {
        loop {
            thread::park_timeout(GatePoll::INTERVAL);
            if !is_wanted() {
                return;
            }
            if gate.poll(&mut is_wanted) && send.send(LoopEvent::GateChanged).is_err() {
                tracing::debug!("the gate answered after the event loop");
            }
        }
    };
    let spawned = thread::Builder::new().name("gate".to_owned()).spawn_scoped(scope, following);
    spawned.map(Some).map_err(|error| DaemonError::System("start a thread", error))
}

impl EventLoop<'_, '_> {
    /// The next step admits, or reports why nothing is admitted. During a stop, requests that are
    /// not started go back to `approved/`.
    pub(super) fn handle_gate_change(&mut self) {
        if self.host.fleet_stopped().is_some() {
            self.release_unstarted();
        }
        self.next_rescan = Instant::now();
    }
}
