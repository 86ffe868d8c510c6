//! Which directories there are, and who holds them.

use std::fs::{self, DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::barrier::{Barrier, FileSystems, OnItsWay};
use crate::error::SpoolError;
use crate::ledger::{HEAD, Ledger};
use crate::lock::{Hold, Locked};
use crate::reserve::Reserve;
use crate::store::{Bounds, Store};

/// Between making a directory and locking it lie microseconds.
const MAKING_TIME_MAX: Duration = Duration::from_secs(60);
/// Somebody who looks whether a daemon lives holds the lock for a moment; a daemon holds it for longer.
const LOCK_TRIES: u32 = 10;
const LOCK_INTERVAL: Duration = Duration::from_millis(10);

/// Bytes of inputs that a daemon keeps for later runs, beyond what is in its slots.
const DAEMON_STORE_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// The same for embedded runs: it is a person's home that they lie in.
const EMBEDDED_STORE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const STORE_FILES_MAX: usize = 4096;
/// Nobody's input stays longer than this after its last run.
const STORE_UNUSED_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Which directories a spool is made of.
#[derive(Clone, Debug)]
pub struct Places {
    /// Ledger, staging slots, stored inputs and the lock: private.
    pub state: PathBuf,
    /// `work/`, `archive/` and `quarantine/`, on one file system with what is dropped.
    pub spool: PathBuf,
    /// Where results are published.
    pub results: PathBuf,
    /// Where the transparency log is.
    pub log: PathBuf,
}

/// The private state of one daemon, or of one user's embedded runs, and where results go.
pub struct Spool {
    places: Places,
    tenancy: Tenancy,
    ledger: Mutex<Ledger>,
    barrier: Barrier,
    store: Store,
    reserve: Reserve,
    /// Held exclusively by a daemon, shared by embedded runs, for as long as this lives.
    locks: [Locked; 2],
}

/// Who may be at work on a state directory at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tenancy {
    /// One daemon and nobody else.
    Daemon,
    /// Any number of embedded runs.
    Embedded,
}

impl Spool {
    /// Opens the places for one daemon; a second one is refused.
    ///
    /// # Errors
    /// [`SpoolError::Busy`], or what kept a directory from being made.
    pub fn open_for_daemon(places: &Places) -> Result<Self, SpoolError> {
        Self::open(places, Tenancy::Daemon)
    }

    /// Opens the places for one embedded run beside others.
    ///
    /// # Errors
    /// [`SpoolError::Busy`] while a daemon holds them, or what kept a directory from being made.
    pub fn open_embedded(places: &Places) -> Result<Self, SpoolError> {
        Self::open(places, Tenancy::Embedded)
    }

    fn open(places: &Places, tenancy: Tenancy) -> Result<Self, SpoolError> {
        let state = make_dir(&places.state, 0o700)?;
        let spool = make_dir(&places.spool, 0o755)?;
        for name in ["work", "archive", "quarantine"] {
            make_dir(&spool.join(name), 0o700)?;
        }
        // The launcher and the tool's uid must be able to pass; the parent keeps others out.
        make_dir(&state.join("staging"), 0o755)?;
        let store = make_dir(&state.join("inputs"), 0o700)?;
        let results = make_dir(&places.results, 0o755)?;
        // Both: two daemons with one spool and two states would run everything twice.
        let locks =
            [take_lock(&state.join("lock"), tenancy)?, take_lock(&spool.join(".lock"), tenancy)?];
        let barrier = match tenancy {
            Tenancy::Daemon => Barrier::FileSystems(FileSystems::default()),
            Tenancy::Embedded => Barrier::Each,
        };
        for directory in [&state, &spool, &results] {
            barrier.cover(directory)?;
        }
        let places = Places { state, spool, results, log: places.log.clone() };
        let shown_by = places.trace_of_a_ledger()?;
        let (ledger, head) = (places.state.join("ledger"), places.state.join(HEAD));
        let ledger = Mutex::new(Ledger::open(&ledger, &head, shown_by)?);
        let reserve = Reserve::of(&places.spool);
        let store = Store::new(store, store_bounds(tenancy));
        let spool = Self { places, tenancy, ledger, barrier, store, reserve, locks };
        match (spool.keep_reserve(), tenancy) {
            // It admits nothing until there is room.
            (Err(error), Tenancy::Daemon) if error.want().is_some() => tracing::error!("{error}"),
            (kept, _) => kept?,
        }
        Ok(spool)
    }

    #[must_use]
    pub fn results(&self) -> &Path {
        &self.places.results
    }

    /// Whether something that a process makes in two steps may still be between them. A daemon is alone
    /// here; embedded runs are not, and one of them may be at it now.
    pub(crate) fn may_be_in_the_making(&self, path: &Path) -> bool {
        let made = fs::metadata(path).and_then(|found| found.modified()).ok();
        let age = made.and_then(|at| at.elapsed().ok());
        self.tenancy == Tenancy::Embedded && age.is_none_or(|age| age < MAKING_TIME_MAX)
    }

    /// Where state and spool are.
    #[must_use]
    pub fn roots(&self) -> [&Path; 2] {
        [&self.places.state, &self.places.spool]
    }

    /// The directory that launchers may name slots of.
    #[must_use]
    pub fn staging(&self) -> PathBuf {
        self.places.state.join("staging")
    }

    /// Has what is written in this directory made durable with the rest; to be called before anything is.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn cover(&self, directory: &Path) -> Result<(), SpoolError> {
        self.barrier.cover(directory)
    }

    /// Whether the spool and the state are still where they were when they were locked: another daemon
    /// could have what is there now.
    ///
    /// # Errors
    /// [`SpoolError::Replaced`] if not.
    pub fn insist_on_place(&self) -> Result<(), SpoolError> {
        let names = [self.places.state.join("lock"), self.places.spool.join(".lock")];
        for (path, lock) in names.into_iter().zip(&self.locks) {
            let open = lock.file().metadata().map_err(SpoolError::io(&path, "look at"))?;
            let same = |named: fs::Metadata| (named.dev(), named.ino()) == (open.dev(), open.ino());
            if !fs::metadata(&path).is_ok_and(same) {
                return Err(SpoolError::Replaced { path });
            }
        }
        Ok(())
    }

    /// Has every barrier told, with its time and how many file systems it was for.
    pub fn watch_barriers(&self, watcher: impl Fn(Duration, u64) + Send + Sync + 'static) {
        self.barrier.watch(Box::new(watcher));
    }

    /// How many bytes are free for us where the spool is.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn free_bytes(&self) -> Result<u64, SpoolError> {
        let path = &self.places.spool;
        let found = rustix::fs::statvfs(path).map_err(SpoolError::errno(path, "look at"))?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Says that a request is on its way through this spool, for as long as the answer lives.
    pub fn on_its_way(&self) -> Option<OnItsWay<'_>> {
        self.barrier.on_its_way()
    }

    pub(crate) fn barrier(&self) -> &Barrier {
        &self.barrier
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A look-up that panicked has changed nothing; an append reads the file again first.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Lets go of stored inputs that no run has used for long; to be asked now and then.
    pub fn expire_inputs(&self) {
        self.store.expire();
    }

    pub(crate) fn state_dir(&self) -> &Path {
        &self.places.state
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.places.spool.join("work")
    }

    pub(crate) fn archive(&self) -> PathBuf {
        self.places.spool.join("archive")
    }

    pub(crate) fn quarantine(&self) -> PathBuf {
        self.places.spool.join("quarantine")
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    pub(crate) fn spool_dir(&self) -> &Path {
        &self.places.spool
    }

    pub(crate) fn reserve(&self) -> &Reserve {
        &self.reserve
    }
}

fn store_bounds(tenancy: Tenancy) -> Bounds {
    let bytes_max = match tenancy {
        Tenancy::Daemon => DAEMON_STORE_BYTES_MAX,
        Tenancy::Embedded => EMBEDDED_STORE_BYTES_MAX,
    };
    Bounds { bytes_max, files_max: STORE_FILES_MAX, unused_max: STORE_UNUSED_MAX }
}

/// Makes a directory if it is not there, and says where it really is.
pub(crate) fn make_dir(path: &Path, mode: u32) -> Result<PathBuf, SpoolError> {
    if !path.is_dir() {
        let made = DirBuilder::new().mode(mode).recursive(true).create(path);
        made.map_err(SpoolError::io(path, "make the directory"))?;
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            crate::durable::sync_dir(parent).map_err(SpoolError::io(parent, "make durable"))?;
        }
    }
    fs::canonicalize(path).map_err(SpoolError::io(path, "resolve"))
}

/// Keeps everybody else from a state and its spool, as a daemon does.
pub(crate) fn lock_alone(places: &Places) -> Result<[Locked; 2], SpoolError> {
    let lock = |path: PathBuf| take_lock(&path, Tenancy::Daemon);
    Ok([lock(places.state.join("lock"))?, lock(places.spool.join(".lock"))?])
}

fn take_lock(path: &Path, tenancy: Tenancy) -> Result<Locked, SpoolError> {
    let open =
        || OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    let hold = match tenancy {
        Tenancy::Daemon => Hold::Exclusive,
        Tenancy::Embedded => Hold::Shared,
    };
    for _ in 0..LOCK_TRIES {
        let file = open().map_err(SpoolError::io(path, "open"))?;
        match Locked::try_hold(file, hold) {
            Ok(locked) => return Ok(locked),
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(LOCK_INTERVAL),
            Err(errno) => return Err(SpoolError::errno(path, "lock")(errno)),
        }
    }
    Err(SpoolError::Busy { path: path.to_owned() })
}
