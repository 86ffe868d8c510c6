//! The shared state of a daemon or an embedded run.

mod accelerators;
mod disk_space;
mod fleet;
mod permission_filing;
mod publish;
mod reload;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use egress::client::Egress;
use model::{Sha256, UtcTime};
use policies::Policy;
use records::ResultKey;
use sandbox::client::LauncherAddress;
use sandbox::plan::SandboxSpec;
use spool::Spool;

use crate::capacity::{Capacity, CapacityLimits};
use crate::clock::ClockFloor;
use crate::environment_digests::DigestCache;
use crate::environments::environments_dir;
use crate::filing_thread::FilingThread;
use crate::fleet_gate::FleetMembership;
use crate::metrics::Metrics;
use crate::model::DaemonError;
use crate::permissions::Permissions;
use crate::prewarm::{self, PrewarmedSandboxes};
use crate::probe::{ProbeResult, probe_with};
use crate::publish_queue::PublishQueue;
use crate::record_log::RecordLog;
use crate::rules::DaemonRules;
use crate::runtimes::{BackendScope, RuntimeSearch};
use crate::shortage::ShortageState;
use crate::signing::RecordSigner;
use crate::status::{ProgressObserver, ProgressRegistry};
use crate::system;
use crate::trust_store::HostTrustStore;
pub(crate) use reload::TrustRenewal;

/// The parts of a [`Daemon`].
pub struct DaemonParts {
    /// The opened spool, whose locks are held.
    pub spool: Spool,
    /// The first policy; a reload can replace it.
    pub policy: Policy,
    /// The keys whose signatures count.
    pub trust: HostTrustStore,
    /// The key that signs records.
    pub key: ResultKey,
    /// The directory of this host's public keys.
    pub public_keys: PathBuf,
    /// The log; its name is this host's name in `x-audience`.
    pub log: RecordLog,
    /// The launcher of sandboxes: a socket, or a program that is started.
    pub launcher: LauncherAddress,
    /// The proxy for runs with hosts; without one those requests are refused.
    pub egress: Option<Egress>,
    /// The permission store; none if the policy requires no permission.
    pub permissions: Option<Permissions>,
    /// The backends that requests may use here: one that is not in the scope is unavailable.
    pub backends: BackendScope,
}

/// The state of one host, on which several requests run concurrently.
pub struct Daemon {
    pub(crate) spool: Spool,
    pub(crate) log: RecordLog,
    pub(crate) publish_queue: PublishQueue,
    pub(crate) capacity: Capacity,
    pub(crate) shortage: ShortageState,
    pub(crate) clock_floor: ClockFloor,
    /// Declared before the launcher: its sandboxes are given up before the launcher is waited for.
    pub(crate) prewarmed: Mutex<PrewarmedSandboxes>,
    pub(crate) signer: RecordSigner,
    pub(crate) public_keys: PathBuf,
    /// The store of environments.
    pub(crate) environments: PathBuf,
    backends: BackendScope,
    rules: RwLock<Arc<DaemonRules>>,
    pub(crate) egress: Option<Egress>,
    /// Without it, no start waits for a gate.
    pub(crate) fleet: Option<FleetMembership>,
    /// Locked for a moment only, because the event loop needs it.
    permissions: Mutex<Option<Permissions>>,
    filing: Mutex<FilingThread>,
    digests: Mutex<DigestCache>,
    pub(crate) progress: ProgressRegistry,
    /// Set when a sandbox could not be built; cleared by [`Self::take_doubtful`].
    is_doubtful: AtomicBool,
}

impl Daemon {
    /// Creates the state without capacity limits and prewarmed sandboxes.
    #[must_use]
    pub fn new(parts: DaemonParts) -> Self {
        let DaemonParts { spool, policy, trust, key, public_keys, log, .. } = parts;
        let DaemonParts { launcher, egress, permissions, backends, .. } = parts;
        let program = match &launcher {
            LauncherAddress::Spawn(program) => Some(program.path.as_path()),
            LauncherAddress::Socket(_) => None,
        };
        let mut digests = DigestCache::of_host(program, egress.as_ref().and_then(Egress::program));
        let environments = environments_dir(spool.roots()[0]);
        let search = RuntimeSearch { state: spool.roots()[0], backends: &backends };
        let rules = DaemonRules::new(policy, trust, launcher, search, &environments, &mut digests);
        let progress = ProgressRegistry::new(Metrics::new(system::now()));
        let metrics = Arc::clone(&progress.metrics);
        spool.watch_syncs(move |time, fsyncs| {
            metrics.barrier(time);
            metrics.fsyncs(fsyncs);
        });
        Self {
            progress,
            spool,
            log,
            publish_queue: PublishQueue::default(),
            capacity: Capacity::unlimited(),
            shortage: ShortageState::default(),
            clock_floor: ClockFloor::default(),
            prewarmed: Mutex::new(PrewarmedSandboxes::new(0)),
            signer: RecordSigner::new(key),
            public_keys,
            environments,
            backends,
            rules: RwLock::new(Arc::new(rules)),
            egress,
            fleet: None,
            permissions: Mutex::new(permissions),
            filing: Mutex::default(),
            digests: Mutex::new(digests),
            is_doubtful: AtomicBool::new(false),
        }
    }

    /// Starts the launcher on another thread, so that it is ready for the first run.
    pub fn start_launcher(&self) {
        self.rules().launcher.start_ahead();
    }

    /// Uses the launcher of the runs.
    pub(crate) fn probe(&self) -> ProbeResult {
        let DaemonRules { launcher, policy, binaries, .. } = &*self.rules();
        probe_with(launcher, &self.spool.staging(), policy, binaries)
    }

    pub(crate) fn mark_doubtful(&self) {
        self.is_doubtful.store(true, Ordering::Relaxed);
    }

    /// Returns whether a sandbox could not be built since the last call.
    pub(crate) fn take_doubtful(&self) -> bool {
        self.is_doubtful.swap(false, Ordering::Relaxed)
    }

    /// Sets the earliest accepted wall clock time. Later starts and records raise it.
    #[must_use]
    pub fn with_clock_floor(mut self, floor: ClockFloor) -> Self {
        self.clock_floor = floor;
        self
    }

    /// Sets the number of prewarmed sandboxes. The service that gets this host ends them.
    #[must_use]
    pub fn with_prewarmed_sandboxes(mut self, sandboxes_max: usize) -> Self {
        self.prewarmed = Mutex::new(PrewarmedSandboxes::new(sandboxes_max));
        self
    }

    /// Sets the limits on concurrent sandboxes and the memory reserved for them.
    #[must_use]
    pub fn with_capacity(mut self, max: CapacityLimits) -> Self {
        self.capacity = Capacity::new(max);
        self
    }

    /// Returns the current rules; a caller may keep them after a reload.
    pub(crate) fn rules(&self) -> Arc<DaemonRules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Only the event loop may call this, or an embedded run: of two threads, one could bring back
    /// the rules that the other has replaced.
    pub(crate) fn replace_rules(&self, rules: Arc<DaemonRules>) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    pub(crate) fn permissions(&self) -> MutexGuard<'_, Option<Permissions>> {
        // A panic between two writes is found by the next access, or by the next start.
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A disk error is retried at the next rescan; a damaged store stops the next decision.
    pub(crate) fn end_idle_workflows(&self) {
        let rules = self.rules();
        if let Some(permissions) = &mut *self.permissions()
            && let Err(error) = permissions.end_idle_workflows(&rules.policy, &self.spool)
        {
            tracing::warn!("permissions of idle workflows were not ended: {error}");
        }
    }

    /// Returns the inputs to decisions that may change while a request is held.
    pub(crate) fn decision_digests(&self) -> Result<Vec<Sha256>, DaemonError> {
        let rules = self.rules();
        let permissions =
            self.permissions().as_mut().map(Permissions::answers_digest).transpose()?;
        let fixed = [rules.policy.sha256(), rules.trust.digest()];
        Ok(fixed.into_iter().chain(permissions).collect())
    }

    pub(crate) fn held_until(&self, since: UtcTime) -> UtcTime {
        let sec = i64::try_from(self.rules().policy.held_sec_max()).unwrap_or(i64::MAX);
        UtcTime::from_unix(since.unix().saturating_add(sec))
    }

    pub(crate) fn digests(&self) -> MutexGuard<'_, DigestCache> {
        // Each entry is complete or absent.
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn prewarmed(&self) -> MutexGuard<'_, PrewarmedSandboxes> {
        // A panic loses at most a prewarmed sandbox.
        self.prewarmed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prewarms a sandbox for the next run of the same kind.
    pub(crate) fn prewarm_next(&self) {
        let wanted = self.prewarmed().next_plan(&self.spool);
        self.prewarm(wanted.into_iter());
    }

    /// Replaces prewarmed sandboxes that are too old.
    pub(crate) fn renew_prewarmed(&self) {
        let old = self.prewarmed().take_old(&self.spool);
        self.prewarm(old.into_iter());
    }

    /// Without holding the lock, because a launcher may be slow.
    fn prewarm(&self, plans: impl Iterator<Item = SandboxSpec>) {
        let launcher = Arc::clone(&self.rules().launcher);
        for plan in plans {
            if let Some(made) = prewarm::start_build(&self.spool, &launcher, &plan) {
                self.prewarmed().add(&self.spool, made);
            }
        }
    }

    pub(crate) fn end_prewarmed(&self) {
        self.prewarmed().empty(&self.spool);
    }

    /// Returns a handle that observes this host from other threads.
    #[must_use]
    pub fn observer(&self) -> ProgressObserver {
        ProgressObserver::of(&self.progress)
    }

    /// Returns the spool.
    #[must_use]
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// Returns the current policy.
    #[must_use]
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.rules().policy)
    }

    /// Returns the current key for records.
    #[must_use]
    pub fn key(&self) -> Arc<ResultKey> {
        self.signer.key()
    }

    /// Returns the log of records.
    #[must_use]
    pub fn log(&self) -> &RecordLog {
        &self.log
    }
}
