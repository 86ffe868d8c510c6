//! The state that the tasks of an agent share. All of them run on one thread, and none keeps a
//! borrow while it waits.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use fleet::model::HostName;
use policies::{AllowedSigners, FleetList, FleetListSerial};
use spool::clock;
use tokio::sync::Notify;

use super::claim_book::{ClaimBook, ClaimOwner};
use super::config::{AgentConfig, BEATS_MISSED_MAX};
use super::error::FleetAgentError;
use super::fleet_list::{FleetListFiles, TrustedFleetList, check_same_fleet, labels_in};
use super::link::{CALL_TIME_MAX, DatabaseTarget};
use super::link_pool::LinkPool;
use super::readiness::Readiness;
use super::results::ResultWatch;
use super::start_nonces::StartNonces;
use super::start_priority::StartPriority;
use super::state_directory::StateDirectory;
use crate::bytes::ByteStore;
use crate::database::{ClaimAsk, Database, LostOrderTrust};

/// The list in use, with the labels of this host in it.
struct UsedFleetList {
    list: Rc<FleetList>,
    signers: Rc<AllowedSigners>,
    labels: Vec<HostName>,
}

impl UsedFleetList {
    fn of(TrustedFleetList { list, signers }: TrustedFleetList, labels: Vec<HostName>) -> Self {
        Self { list: Rc::new(list), signers: Rc::new(signers), labels }
    }
}

/// The state of an agent.
pub(super) struct Agent {
    pub(super) config: AgentConfig,
    pub(super) directory: StateDirectory,
    pub(super) book: ClaimBook,
    pub(super) results: ResultWatch,
    pub(super) nonces: StartNonces,
    pub(super) store: ByteStore,
    pub(super) target: DatabaseTarget,
    /// The connections that decide starts.
    pub(super) starts: LinkPool,
    pub(super) start_priority: StartPriority,
    pub(super) readiness: RefCell<Readiness>,
    pub(super) list_files: FleetListFiles,
    used_list: RefCell<UsedFleetList>,
    /// The number of the last beat.
    beats: Cell<u64>,
    /// Set when the agent stops: no new query is taken.
    pub(super) is_stopping: Cell<bool>,
    /// There may be work for the claims task.
    pub(super) claims_wake: Notify,
    /// There may be a record to report.
    pub(super) reports_wake: Notify,
}

impl Agent {
    /// Opens everything that the configuration names, except the database.
    ///
    /// # Errors
    /// The first object that cannot be used. The message has help.
    pub(super) fn open(config: AgentConfig) -> Result<Self, String> {
        let directory = StateDirectory::open(&config.state)?;
        let list_files = FleetListFiles::of(&config);
        let trusted = list_files.read()?;
        let list = &trusted.list;
        let labels = labels_in(list, &config.host, directory.list_serial()?.as_ref())?;
        let owner = ClaimOwner::new(list.fleet_id(), &config.host);
        // A state directory of another fleet or host is refused before it is changed.
        let book = ClaimBook::open(directory.claims(), owner)?;
        directory.note_list_serial(&FleetListSerial::of(list))?;
        let store = ByteStore::open(config.store.as_deref()).map_err(|error| error.to_string())?;
        let target = DatabaseTarget::of(&config, list);
        let readiness = Readiness::new(config.host.as_str(), config.beat * BEATS_MISSED_MAX);
        Ok(Self {
            book,
            results: ResultWatch::new(config.results()),
            nonces: StartNonces::default(),
            store,
            starts: LinkPool::new("toolexec-fleet starts", CALL_TIME_MAX),
            start_priority: StartPriority::default(),
            readiness: RefCell::new(readiness),
            list_files,
            beats: Cell::new(directory.last_beats(list.fleet_id())),
            used_list: RefCell::new(UsedFleetList::of(trusted, labels)),
            is_stopping: Cell::new(false),
            claims_wake: Notify::new(),
            reports_wake: Notify::new(),
            target,
            directory,
            config,
        })
    }

    /// Returns the name of this host.
    pub(super) fn host(&self) -> &HostName {
        &self.config.host
    }

    /// Returns the fleet list in use.
    pub(super) fn list(&self) -> Rc<FleetList> {
        Rc::clone(&self.used_list.borrow().list)
    }

    /// Reads the fleet list again. After an error the list in use stays.
    ///
    /// # Errors
    /// The list cannot be used. The message has help.
    pub(super) fn reload_list(&self) -> Result<(), String> {
        let trusted = self.list_files.read()?;
        let list = &trusted.list;
        check_same_fleet(&self.list(), list)?;
        let labels = labels_in(list, self.host(), self.directory.list_serial()?.as_ref())?;
        self.directory.note_list_serial(&FleetListSerial::of(list))?;
        *self.used_list.borrow_mut() = UsedFleetList::of(trusted, labels);
        Ok(())
    }

    /// Returns what decides now if an order about a lost host counts.
    pub(super) fn lost_order_trust(&self) -> LostOrderTrust {
        let used = self.used_list.borrow();
        let (list, signers) = (Rc::clone(&used.list), Rc::clone(&used.signers));
        LostOrderTrust { list, signers, now: clock::now() }
    }

    /// Returns a query for work, with the labels of this host in the signed list.
    pub(super) fn ask(&self, count: u32) -> ClaimAsk {
        ClaimAsk {
            host: self.host().clone(),
            labels: self.used_list.borrow().labels.clone(),
            without_audience: self.config.without_audience,
            count,
            submitter_max: self.config.submitter_max(),
        }
    }

    /// Returns whether this host may claim: it could start what it claims now.
    pub(super) fn may_claim(&self) -> bool {
        let (readiness, now) = (self.readiness.borrow(), Instant::now());
        readiness.stop_reason(now).is_none() && readiness.is_daemon_alive(now)
    }

    /// Wakes the claims task if there is room for several claims: each look at the database costs
    /// it some milliseconds.
    pub(super) fn wake_for_room(&self) {
        let unstarted = u32::try_from(self.book.unstarted().len()).unwrap_or(u32::MAX);
        if unstarted <= self.config.claims_max / 2 {
            self.claims_wake.notify_one();
        }
    }

    /// Forgets a claim that was reported, given back, refused or lost.
    ///
    /// # Errors
    /// Its file cannot be removed.
    pub(super) fn forget(&self, request: &str) -> Result<(), FleetAgentError> {
        self.book.remove(request)?;
        self.nonces.forget(request);
        Ok(())
    }

    /// Beats: the database notes that this host works, and answers with the state of the fleet.
    ///
    /// # Errors
    /// The database does not answer, or it is an older copy of itself.
    pub(super) async fn beat(&self, database: &mut Database) -> Result<(), FleetAgentError> {
        // Other connections may beat meanwhile. Only a number up to this one shows an older copy.
        let (before, asked_at) = (self.beats.get(), Instant::now());
        let ClaimAsk { host, labels, .. } = self.ask(0);
        let answer = database.beat(&host, &labels, &self.lost_order_trust()).await?;
        if answer.beats <= before {
            let why = format!(
                "database: it has beat {} of host {host}, after beat {before} was answered: it is \
                 an older copy, which does not know later starts; help: find out what ran since as \
                 docs/fleet.md describes, then remove {} and restart toolexec-fleet",
                answer.beats,
                self.directory.beats_path().display()
            );
            self.readiness.borrow_mut().found_older_copy(why.clone());
            return Err(FleetAgentError::lasting(why));
        }
        self.beats.set(self.beats.get().max(answer.beats));
        if let Err(why) = self.directory.note_beats(self.target.fleet_id(), self.beats.get()) {
            tracing::warn!("{why}");
        }
        let mut readiness = self.readiness.borrow_mut();
        let defect = answer.lost_order_defect.as_deref();
        if let Some(why) = defect.filter(|why| Some(*why) != readiness.lost_order_defect()) {
            tracing::error!("database: {why}");
        }
        readiness.answered(asked_at, Instant::now(), answer);
        Ok(())
    }
}
