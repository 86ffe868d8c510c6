//! Retention: a separate thread deletes expired results and requests. It must never delete much at
//! once, nor anything while the daemon stops.

use spool::retention::{Going, Gone, Keep, Kind};

use super::at_work::AtWork;
use super::model::Orders;
use crate::host::Host;
use crate::system;

/// The most removals of each kind in one round, which also bounds the memory.
const REMOVALS_MAX: usize = 1024;

impl AtWork<'_, '_> {
    /// Deletes stored inputs unused for long, and starts to delete expired results and requests.
    pub(super) fn tidy(&mut self) {
        self.host.spool.expire_inputs();
        if self.tidying.as_ref().is_some_and(|tidying| !tidying.is_finished()) {
            return;
        }
        let (host, orders, keep) = (self.host, self.orders, self.pace.keep);
        self.tidying = Some(self.scope.spawn(move || remove(host, orders, &keep)));
    }
}

/// Works in rounds until nothing has expired.
fn remove(host: &Host, orders: &Orders, keep: &Keep) {
    let is_stopped = || orders.stopped.get().is_some();
    loop {
        let removal = match host.spool.retain(keep, system::now(), REMOVALS_MAX, &is_stopped) {
            Ok(removal) => removal,
            Err(error) => return tracing::error!("nothing expired is deleted: {error}"),
        };
        let mut removed = Vec::new();
        for (going, gone) in removal.gone {
            match gone {
                Gone::Removed => removed.push(going),
                Gone::Left(error) => tracing::warn!("not deleted, and tried again later: {error}"),
            }
        }
        for &kind in Kind::ALL {
            tell(kind, &removed);
        }
        if !removal.is_full || removed.is_empty() || is_stopped() {
            return;
        }
    }
}

fn tell(kind: Kind, removed: &[Going]) {
    let of_kind = removed.iter().filter(|one| one.kind == kind);
    let (count, bytes) =
        of_kind.fold((0_u64, 0), |(count, bytes), one| (count + 1, bytes + one.bytes));
    if count > 0 {
        tracing::info!(removed = count, bytes, "{}/: expired and deleted", kind.as_str());
    }
}
