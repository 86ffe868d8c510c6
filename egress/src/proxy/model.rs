//! The state that the connections of a run share: its rules, the addresses of its hosts, its
//! counters. It must never open a connection by itself.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;

use egress::frame::{Confinement, Reason};

use super::ceiling::Ceiling;
use super::ledger::Ledger;
use super::options::Patience;
use super::resolve::Resolver;
use super::rules::Rules;

/// The time for which a failed name look-up is not repeated.
const FAILURE_KEPT: Duration = Duration::from_secs(1);

/// The state that all runs share.
pub(super) struct Host {
    pub(super) resolver: Resolver,
    pub(super) patience: Patience,
    pub(super) confinement: Confinement,
    pub(super) ceiling: Ceiling,
}

/// The state that the connections of one run share.
pub(super) struct Run {
    pub(super) rules: Rules,
    /// One per rule.
    pub(super) pins: Vec<Pin>,
    pub(super) ledger: Ledger,
    pub(super) host: Arc<Host>,
}

impl std::ops::Deref for Run {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// The addresses of a name, each allowed or refused.
#[derive(Clone, Debug)]
pub(super) struct Pinned {
    pub(super) addresses: Vec<IpAddr>,
    pub(super) refused: Vec<(IpAddr, Reason)>,
}

impl Pinned {
    /// Returns the first refused address, if all are refused.
    pub(super) fn refused(&self) -> Option<(IpAddr, Reason)> {
        self.refused.first().filter(|_| self.addresses.is_empty()).copied()
    }

    /// Returns the refusals that the client does not see. A bad address among good ones is
    /// reported, because it may be a DNS rebinding attack.
    pub(super) fn passed_over(&self) -> &[(IpAddr, Reason)] {
        let told = usize::from(self.refused().is_some());
        &self.refused[told..]
    }
}

/// The addresses of one rule for the whole run. A later change of the name has no effect.
pub(super) struct Pin {
    pub(super) answer: OnceCell<Pinned>,
    /// The time of the last failed look-up, so that waiting connections do not repeat it.
    failed: Mutex<Option<Instant>>,
}

impl Pin {
    pub(super) fn new() -> Self {
        Self { answer: OnceCell::new(), failed: Mutex::new(None) }
    }

    /// Locks the time. No code that panics runs under the lock.
    pub(super) fn failed(&self) -> MutexGuard<'_, Option<Instant>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failed_just_now(&self) -> bool {
        self.failed().is_some_and(|it| it.elapsed() < FAILURE_KEPT)
    }
}
