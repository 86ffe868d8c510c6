//! Everything that one daemon, or one embedded run, works with.

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

/// What a [`Host`] is made of.
pub struct HostParts {
    pub spool: Spool,
    pub policy: Policy,
    /// Whose signatures count.
    pub trust: TrustStore,
    pub key: ResultKey,
    /// The directory with the public halves of this host's keys.
    pub public_keys: PathBuf,
    /// Its name is this host's in `x-audience`.
    pub log: RecordLog,
    pub launcher: Reach,
    /// The proxy of runs that name hosts; without one they are refused.
    pub egress: Option<Egress>,
    /// What people answered about agents; nothing where policy asks for no permission.
    pub permissions: Option<Permissions>,
    /// The directory with the caches that were made once for all runs, by the name of the runtime.
    pub caches: PathBuf,
}

/// One place where requests are run, several at once.
pub struct Host {
    pub(crate) spool: Spool,
    pub(crate) log: RecordLog,
    pub(crate) outbox: Outbox,
    pub(crate) room: Room,
    pub(crate) room_wanted: RoomWanted,
    pub(crate) floor: Floor,
    /// Before the launcher, so that its cells are given up before it is waited for.
    pub(crate) ready: Mutex<ReadyCells>,
    pub(crate) signing: Signing,
    pub(crate) public_keys: PathBuf,
    rules: RwLock<Arc<Rules>>,
    pub(crate) egress: Option<Egress>,
    permissions: Mutex<Option<Permissions>>,
    digests: Mutex<Digests>,
    pub(crate) telling: Telling,
    /// A sandbox could not be built since this was looked at last.
    doubted: AtomicBool,
}

impl Host {
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

    /// Whether this host can start a sandbox, by the launcher that its runs use.
    pub(crate) fn probe(&self) -> Probed {
        let Rules { launcher, policy, binaries, .. } = &*self.rules();
        probe_by(launcher, &self.spool.staging(), policy, binaries)
    }

    /// Notes that a sandbox could not be built.
    pub(crate) fn doubt(&self) {
        self.doubted.store(true, Ordering::Relaxed);
    }

    /// Whether that was noted since this was asked last.
    pub(crate) fn is_doubted(&self) -> bool {
        self.doubted.swap(false, Ordering::Relaxed)
    }

    /// Holds the wall clock against this time from the start on, and against what is begun and told later.
    #[must_use]
    pub fn with_floor(mut self, floor: Floor) -> Self {
        self.floor = floor;
        self
    }

    /// Keeps at most so many cells ready for runs to come. The service that
    /// this host is given to ends them.
    #[must_use]
    pub fn with_ready_cells(mut self, cells_max: usize) -> Self {
        self.ready = Mutex::new(ReadyCells::new(cells_max));
        self
    }

    /// Has at most so many cells at once, which are promised at most so much memory together.
    #[must_use]
    pub fn with_room(mut self, max: RoomMax) -> Self {
        self.room = Room::new(max);
        self
    }

    /// The rules as they are now; whoever has them keeps them.
    pub(crate) fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts other rules in their place, for the requests that are still to come.
    pub(crate) fn replace_rules(&self, rules: Rules) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// The permissions, held by one at a time.
    pub(crate) fn permissions(&self) -> MutexGuard<'_, Option<Permissions>> {
        // What panicked between two of its files stops at the next one, or is read anew at a start.
        self.permissions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the workflows that the policy takes to have ended. What the disk does not take is tried again
    /// at the next rescan; a store that is damaged stops the next decision.
    pub(crate) fn clean_up_idle_workflows(&self) {
        let rules = self.rules();
        if let Some(permissions) = &mut *self.permissions()
            && let Err(error) = permissions.clean_up_idle(&rules.policy, &self.spool)
        {
            tracing::warn!("{error}; permissions of idle workflows were not ended");
        }
    }

    /// What decisions hang on beside the request and its files, and may change while one waits.
    pub(crate) fn standing(&self) -> Result<Vec<Sha256>, Halt> {
        let rules = self.rules();
        let permissions = self.permissions().as_mut().map(Permissions::standing).transpose()?;
        let fixed = [rules.policy.sha256(), rules.trust.standing()];
        Ok(fixed.into_iter().chain(permissions).collect())
    }

    /// How long a request that was dropped then may wait for an answer.
    pub(crate) fn held_until(&self, since: UtcTime) -> UtcTime {
        let sec = i64::try_from(self.rules().policy.held_sec_max()).unwrap_or(i64::MAX);
        UtcTime::from_unix(since.unix().saturating_add(sec))
    }

    pub(crate) fn digests(&self) -> MutexGuard<'_, Digests> {
        // Each entry is whole or not there.
        self.digests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ready_cells(&self) -> MutexGuard<'_, ReadyCells> {
        // A cell that was lost to a panic is a cell that is not ready.
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Between runs: has a cell made for the next run of the last one's kind.
    pub(crate) fn make_ready(&self) {
        let wanted = self.ready_cells().wanted(&self.spool);
        self.make_ahead(wanted.into_iter());
    }

    /// While nothing is to do: replaces ready cells that are too old.
    pub(crate) fn renew_ready(&self) {
        let old = self.ready_cells().take_old(&self.spool);
        self.make_ahead(old.into_iter());
    }

    /// Asks for cells while nobody is kept from those that are there: a launcher may take its time.
    fn make_ahead(&self, plans: impl Iterator<Item = CellPlan>) {
        let launcher = Arc::clone(&self.rules().launcher);
        for plan in plans {
            if let Some(made) = ready::make(&self.spool, &launcher, &plan) {
                self.ready_cells().add(&self.spool, made);
            }
        }
    }

    /// Ends the ready cells.
    pub(crate) fn give_up_ready(&self) {
        self.ready_cells().empty(&self.spool);
    }

    /// For whoever looks on while it is at work.
    #[must_use]
    pub fn watching(&self) -> Watching {
        Watching::of(&self.telling)
    }

    #[must_use]
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    #[must_use]
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.rules().policy)
    }

    #[must_use]
    pub fn key(&self) -> Arc<ResultKey> {
        self.signing.key()
    }

    #[must_use]
    pub fn log(&self) -> &RecordLog {
        &self.log
    }
}
