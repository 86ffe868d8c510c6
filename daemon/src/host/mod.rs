//! The shared state of a daemon or an embedded run.

mod disk_room;
mod publish;
mod reload;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use egress::client::Egress;
use model::{Sha256, UtcTime};
use policies::Policy;
use records::ResultKey;
use sandbox::client::Reach;
use sandbox::plan::CellPlan;
use spool::Spool;

use crate::clock::Floor;
use crate::metrics::Metrics;
use crate::model::Halt;
use crate::outbox::Outbox;
use crate::permissions::Permissions;
use crate::probe::{Probed, probe_by};
use crate::ready::{self, ReadyCells};
use crate::record_log::RecordLog;
use crate::room::{Room, RoomMax};
use crate::room_wanted::RoomWanted;
use crate::rules::Rules;
use crate::signing::Signing;
use crate::status::{Telling, Watching};
use crate::supply::Digests;
use crate::system;
use crate::trust_store::TrustStore;
pub(crate) use reload::Renewed;

/// The parts of a [`Host`].
pub struct HostParts {
    pub spool: Spool,
    pub policy: Policy,
    /// The keys whose signatures count.
    pub trust: TrustStore,
    pub key: ResultKey,
    /// The directory of this host's public keys.
    pub public_keys: PathBuf,
    /// The log; its name is this host's name in `x-audience`.
    pub log: RecordLog,
    pub launcher: Reach,
    /// The proxy for runs with hosts; without one those requests are refused.
    pub egress: Option<Egress>,
    /// The permission store; none if the policy requires no permission.
    pub permissions: Option<Permissions>,
    /// The directory of the runtime caches, by the name of the runtime.
    pub caches: PathBuf,
}

/// The state of one host, on which several requests run concurrently.
pub struct Host {
    pub(crate) spool: Spool,
    pub(crate) log: RecordLog,
    pub(crate) outbox: Outbox,
    pub(crate) room: Room,
    pub(crate) room_wanted: RoomWanted,
    pub(crate) floor: Floor,
    /// Declared before the launcher: its sandboxes are given up before the launcher is waited for.
    pub(crate) ready: Mutex<ReadyCells>,
    pub(crate) signing: Signing,
    pub(crate) public_keys: PathBuf,
    rules: RwLock<Arc<Rules>>,
    pub(crate) egress: Option<Egress>,
    permissions: Mutex<Option<Permissions>>,
    digests: Mutex<Digests>,
    pub(crate) telling: Telling,
    /// Set when a sandbox could not be built; cleared by [`Self::is_doubted`].
    doubted: AtomicBool,
}

impl Host {
    /// Creates the state without capacity limits and prewarmed sandboxes.
    #[must_use]
    pub fn new(parts: HostParts) -> Self {
        let HostParts { spool, policy, trust, key, public_keys, log, .. } = parts;
        let HostParts { launcher, egress, permissions, caches, .. } = parts;
        let program = match &launcher {
            Reach::Spawn { program, .. } => Some(program.as_path()),
            Reach::Socket(_) => None,
        };
        let digests = Digests::of_host(program, egress.as_ref().and_then(Egress::program));
        let rules = Rules::new(policy, trust, launcher, &caches);
        let telling = Telling::new(Metrics::new(system::now()));
        let metrics = Arc::clone(&telling.metrics);
        spool.watch_barriers(move |time, fsyncs| {
            metrics.barrier(time);
            metrics.fsyncs(fsyncs);
        });
        Self {
            telling,
            spool,
            log,
            outbox: Outbox::default(),
            room: Room::boundless(),
            room_wanted: RoomWanted::default(),
            floor: Floor::default(),
            ready: Mutex::new(ReadyCells::new(0)),
            signing: Signing::new(key),
            public_keys,
            rules: RwLock::new(Arc::new(rules)),
            egress,
            permissions: Mutex::new(permissions),
            digests: Mutex::new(digests),
            doubted: AtomicBool::new(false),
        }
    }

    /// Probes whether this host can start a sandbox, with the launcher of its runs.
    pub(crate) fn probe(&self) -> Probed {
        let Rules { launcher, policy, binaries, .. } = &*self.rules();
        probe_by(launcher, &self.spool.staging(), policy, binaries)
    }

    /// Notes that a sandbox could not be built.
    pub(crate) fn doubt(&self) {
        self.doubted.store(true, Ordering::Relaxed);
    }

    /// Returns whether a sandbox could not be built since the last call.
    pub(crate) fn is_doubted(&self) -> bool {
        self.doubted.swap(false, Ordering::Relaxed)
    }

    /// Sets the earliest accepted wall clock time. Later starts and records raise it.
    #[must_use]
    pub fn with_floor(mut self, floor: Floor) -> Self {
        self.floor = floor;
        self
    }

    /// Sets the number of prewarmed sandboxes. The service that gets this host ends them.
    #[must_use]
    pub fn with_ready_cells(mut self, cells_max: usize) -> Self {
        self.ready = Mutex::new(ReadyCells::new(cells_max));
        self
    }

    /// Sets the limits on concurrent sandboxes and the memory promised to them.
    #[must_use]
    pub fn with_room(mut self, max: RoomMax) -> Self {
        self.room = Room::new(max);
        self
    }

    /// Returns the current rules; a caller may keep them after a reload.
    pub(crate) fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the rules for later requests.
    pub(crate) fn replace_rules(&self, rules: Rules) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// Locks the permission store.
    pub(crate) fn permissions(&self) -> MutexGuard<'_, Option<Permissions>> {
        // A panic between two writes is found by the next access, or by the next start.
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the workflows that the policy regards as idle. A disk error is retried at the next
    /// rescan; a damaged store stops the next decision.
    pub(crate) fn clean_up_idle_workflows(&self) {
        let rules = self.rules();
        if let Some(permissions) = &mut *self.permissions()
            && let Err(error) = permissions.clean_up_idle(&rules.policy, &self.spool)
        {
            tracing::warn!("permissions of idle workflows were not ended: {error}");
        }
    }

    /// Returns the digests of this host's inputs to decisions, which may change while a request is
    /// held.
    pub(crate) fn standing(&self) -> Result<Vec<Sha256>, Halt> {
        let rules = self.rules();
        let permissions = self.permissions().as_mut().map(Permissions::standing).transpose()?;
        let fixed = [rules.policy.sha256(), rules.trust.standing()];
        Ok(fixed.into_iter().chain(permissions).collect())
    }

    /// Returns the hold deadline of a request that was submitted at this time.
    pub(crate) fn held_until(&self, since: UtcTime) -> UtcTime {
        let sec = i64::try_from(self.rules().policy.held_sec_max()).unwrap_or(i64::MAX);
        UtcTime::from_unix(since.unix().saturating_add(sec))
    }

    pub(crate) fn digests(&self) -> MutexGuard<'_, Digests> {
        // Each entry is complete or absent.
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ready_cells(&self) -> MutexGuard<'_, ReadyCells> {
        // A panic loses at most a prewarmed sandbox.
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After a run: prewarms a sandbox for the next run of the same kind.
    pub(crate) fn make_ready(&self) {
        let wanted = self.ready_cells().wanted(&self.spool);
        self.make_ahead(wanted.into_iter());
    }

    /// While idle: replaces prewarmed sandboxes that are too old.
    pub(crate) fn renew_ready(&self) {
        let old = self.ready_cells().take_old(&self.spool);
        self.make_ahead(old.into_iter());
    }

    /// Asks for sandboxes without holding the lock, because a launcher may be slow.
    fn make_ahead(&self, plans: impl Iterator<Item = CellPlan>) {
        let launcher = Arc::clone(&self.rules().launcher);
        for plan in plans {
            if let Some(made) = ready::make(&self.spool, &launcher, &plan) {
                self.ready_cells().add(&self.spool, made);
            }
        }
    }

    /// Ends the prewarmed sandboxes.
    pub(crate) fn give_up_ready(&self) {
        self.ready_cells().empty(&self.spool);
    }

    /// Returns a handle that observes this host from other threads.
    #[must_use]
    pub fn watching(&self) -> Watching {
        Watching::of(&self.telling)
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
        self.signing.key()
    }

    /// Returns the log of records.
    #[must_use]
    pub fn log(&self) -> &RecordLog {
        &self.log
    }
}
