//! The state that the connections of a run share. It must never open a connection by itself.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;

use egress::frame::{EgressConfinement, EgressRefusalReason};

use super::counters::TrafficCounters;
use super::limit::PrivateAddressLimit;
use super::options::Timeouts;
use super::resolve::Resolver;
use super::rules::RunHostRules;

/// The time for which a failed name look-up is not repeated.
const FAILURE_TTL: Duration = Duration::from_secs(1);

pub(super) struct ProxyState {
    pub(super) resolver: Resolver,
    pub(super) timeouts: Timeouts,
    pub(super) confinement: EgressConfinement,
    pub(super) private_limit: PrivateAddressLimit,
}

pub(super) struct ServedRun {
    pub(super) rules: RunHostRules,
    /// One per rule.
    pub(super) pins: Vec<AddressPin>,
    pub(super) counters: TrafficCounters,
    pub(super) host: Arc<ProxyState>,
}

impl std::ops::Deref for ServedRun {
    type Target = ProxyState;

    fn deref(&self) -> &ProxyState {
        &self.host
    }
}

impl std::fmt::Debug for ServedRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// The addresses of a name, each allowed or refused.
#[derive(Clone, Debug)]
pub(super) struct PinnedAddresses {
    pub(super) addresses: Vec<IpAddr>,
    pub(super) refused: Vec<(IpAddr, EgressRefusalReason)>,
}

impl PinnedAddresses {
    /// Returns the first refused address, if all are refused.
    pub(super) fn refused(&self) -> Option<(IpAddr, EgressRefusalReason)> {
        self.refused.first().filter(|_| self.addresses.is_empty()).copied()
    }

    /// Returns the refusals that the client does not see. A bad address among good ones is
    /// reported, because it may be a DNS rebinding attack.
    pub(super) fn hidden_refusals(&self) -> &[(IpAddr, EgressRefusalReason)] {
        let shown = usize::from(self.refused().is_some());
        &self.refused[shown..]
    }
}

/// The addresses of one rule for the whole run. A later change of the name has no effect.
pub(super) struct AddressPin {
    pub(super) answer: OnceCell<PinnedAddresses>,
    /// Connections that wait do not repeat a look-up that has just failed.
    failed: Mutex<Option<Instant>>,
}

impl AddressPin {
    pub(super) fn new() -> Self {
        Self { answer: OnceCell::new(), failed: Mutex::new(None) }
    }

    /// No code that panics runs under the lock.
    pub(super) fn failed(&self) -> MutexGuard<'_, Option<Instant>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failed_recently(&self) -> bool {
        self.failed().is_some_and(|it| it.elapsed() < FAILURE_TTL)
    }
}
