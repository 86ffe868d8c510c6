//! Retention: a separate thread deletes expired results and requests. It must never delete much at
//! once, nor anything while the daemon stops.

use spool::retention::{ExpiredEntry, RemovalOutcome, RetentionKind, RetentionPolicy};

use super::loop_state::EventLoop;
use super::model::StopState;
use crate::state::Daemon;
use crate::system;

/// The most removals of each kind in one round, which also bounds the memory.
const REMOVALS_MAX: usize = 1024;

impl EventLoop<'_, '_> {
    /// Deletes stored inputs unused for long, and starts to delete expired results and requests.
    pub(super) fn clean_up(&mut self) {
        self.host.spool.expire_inputs();
        if self.cleanup.as_ref().is_some_and(|tidying| !tidying.is_finished()) {
            return;
        }
        let (host, orders, keep) = (self.host, self.stop_state, self.loop_config.retention);
        self.cleanup = Some(self.scope.spawn(move || remove(host, orders, &keep)));
    }
}

fn remove(host: &Daemon, orders: &StopState, keep: &RetentionPolicy) {
    let is_stopped = || orders.stopped_at.get().is_some();
    loop {
        let removal =
            match host.spool.remove_expired(keep, system::now(), REMOVALS_MAX, &is_stopped) {
                Ok(removal) => removal,
                Err(error) => return tracing::error!("nothing expired is deleted: {error}"),
            };
        let mut removed = Vec::new();
        let mut failed = removal.unfinished;
        for (going, gone) in removal.outcomes {
            match gone {
                RemovalOutcome::Removed => removed.push(going),
                RemovalOutcome::Failed(error) => failed.push(error),
            }
        }
        for error in failed {
            tracing::warn!("not deleted, and tried again later: {error}");
        }
        for &kind in RetentionKind::ALL {
            log_removals(kind, &removed);
        }
        if !removal.may_have_more || removed.is_empty() || is_stopped() {
            return;
        }
    }
}

fn log_removals(kind: RetentionKind, removed: &[ExpiredEntry]) {
    let of_kind = removed.iter().filter(|one| one.kind == kind);
    let (count, bytes) =
        of_kind.fold((0_u64, 0), |(count, bytes), one| (count + 1, bytes + one.bytes));
    if count > 0 {
        tracing::info!(removed = count, bytes, "{}/: expired and deleted", kind.as_str());
    }
}
