//! The directories of a spool, and the locks on them.

use std::fs::{self, DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::barrier::{Barrier, BarrierArrival, CoveredFileSystems};
use crate::error::SpoolError;
use crate::input_store::{InputStore, StoreLimits};
use crate::input_trees::{InputTreeLimits, InputTreeStore};
use crate::ledger::{HEAD_FILE, Ledger};
use crate::lock::{FileLock, LockMode};
use crate::reserve::Reserve;

/// The time limit for a process to make a directory and lock it, which takes microseconds.
const CREATION_TIME_MAX: Duration = Duration::from_secs(60);
/// The attempts to take the lock: a process that tests for a daemon holds it for a moment only.
const LOCK_TRIES: u32 = 10;
const LOCK_INTERVAL: Duration = Duration::from_millis(10);

/// Bytes of inputs that a daemon keeps for later runs, beyond what is in its slots.
const DAEMON_STORE_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// The same for embedded runs, which store inputs in a user's home directory.
const EMBEDDED_STORE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const STORE_FILES_MAX: usize = 4096;
/// Bytes of folders that a daemon keeps for later runs.
const DAEMON_TREES_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// The same for embedded runs.
const EMBEDDED_TREES_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Files, directories and links of all kept folders; each one takes an inode.
const TREES_ENTRIES_MAX: u64 = 200_000;
const TREES_MAX: usize = 64;
/// The time limit for a process to use a tree under a hidden name; a removal may continue after it.
const TREES_HIDDEN_MAX: Duration = Duration::from_secs(60);
/// A stored input is deleted this long after its last run.
const STORE_UNUSED_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The directories of a spool.
#[derive(Clone, Debug)]
pub struct SpoolPaths {
    /// Ledger, staging slots, stored inputs and the lock: private.
    pub state: PathBuf,
    /// `work/`, `archive/` and `quarantine/`, on the same file system as the submissions.
    pub spool: PathBuf,
    /// The directory in which results are published.
    pub results: PathBuf,
    /// The directory of the transparency log.
    pub log: PathBuf,
}

/// The private state of one daemon, or of one user's embedded runs, with its results directory.
pub struct Spool {
    paths: SpoolPaths,
    mode: SpoolMode,
    ledger: Mutex<Ledger>,
    barrier: Barrier,
    store: InputStore,
    trees: InputTreeStore,
    reserve: Reserve,
    /// Held for the lifetime of this value: exclusively by a daemon, shared by embedded runs.
    locks: [FileLock; 2],
}

/// The processes that may use a state directory at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpoolMode {
    /// One daemon and no other process.
    Daemon,
    /// Any number of embedded runs.
    Embedded,
}

impl Spool {
    /// Opens the directories for one daemon. A second daemon is refused.
    ///
    /// # Errors
    /// [`SpoolError::Busy`], or the failure to make a directory.
    pub fn open_for_daemon(places: &SpoolPaths) -> Result<Self, SpoolError> {
        Self::open(places, SpoolMode::Daemon)
    }

    /// Opens the directories for one embedded run, which may run beside others.
    ///
    /// # Errors
    /// [`SpoolError::Busy`] while a daemon holds them, or the failure to make a directory.
    pub fn open_embedded(places: &SpoolPaths) -> Result<Self, SpoolError> {
        Self::open(places, SpoolMode::Embedded)
    }

    fn open(places: &SpoolPaths, tenancy: SpoolMode) -> Result<Self, SpoolError> {
        let state = make_dir(&places.state, 0o700)?;
        let spool = make_dir(&places.spool, 0o755)?;
        for name in ["work", "archive", "quarantine"] {
            make_dir(&spool.join(name), 0o700)?;
        }
        // The launcher and the tool's uid must pass; the mode of the parent keeps others out.
        make_dir(&state.join("staging"), 0o755)?;
        let store = make_dir(&state.join("inputs"), 0o700)?;
        let trees = make_dir(&state.join("input-trees"), 0o700)?;
        let results = make_dir(&places.results, 0o755)?;
        // Lock both: two daemons with one spool and two states would run everything twice.
        let locks =
            [take_lock(&state.join("lock"), tenancy)?, take_lock(&spool.join(".lock"), tenancy)?];
        let barrier = match tenancy {
            SpoolMode::Daemon => Barrier::FileSystems(CoveredFileSystems::default()),
            SpoolMode::Embedded => Barrier::Each,
        };
        for directory in [&state, &spool, &results] {
            barrier.cover(directory)?;
        }
        let places = SpoolPaths { state, spool, results, log: places.log.clone() };
        let shown_by = places.trace_of_ledger()?;
        let (ledger, head) = (places.state.join("ledger"), places.state.join(HEAD_FILE));
        let ledger = Mutex::new(Ledger::open(&ledger, &head, shown_by)?);
        let reserve = Reserve::of(&places.spool);
        let store = InputStore::new(store, store_bounds(tenancy));
        let trees = InputTreeStore::new(trees, tree_bounds(tenancy));
        let (paths, mode) = (places, tenancy);
        let spool = Self { paths, mode, ledger, barrier, store, trees, reserve, locks };
        match (spool.keep_reserve(), tenancy) {
            // The daemon starts, and admits nothing until there is room.
            (Err(error), SpoolMode::Daemon) if error.shortage().is_some() => {
                tracing::error!("{error}")
            }
            (kept, _) => kept?,
        }
        Ok(spool)
    }

    /// Returns the results directory.
    #[must_use]
    pub fn results(&self) -> &Path {
        &self.paths.results
    }

    /// Returns whether a concurrent embedded run may still be making this object.
    pub(crate) fn may_be_incomplete(&self, path: &Path) -> bool {
        let made = fs::metadata(path).and_then(|found| found.modified()).ok();
        let age = made.and_then(|at| at.elapsed().ok());
        self.mode == SpoolMode::Embedded && age.is_none_or(|age| age < CREATION_TIME_MAX)
    }

    /// Returns the state directory and the spool directory.
    #[must_use]
    pub fn roots(&self) -> [&Path; 2] {
        [&self.paths.state, &self.paths.spool]
    }

    /// Returns the directory of the slots, which launchers may name.
    #[must_use]
    pub fn staging(&self) -> PathBuf {
        self.paths.state.join("staging")
    }

    /// Adds a directory's file system to the barriers. Call it before anything is written there.
    ///
    /// # Errors
    /// The directory cannot be opened.
    pub fn cover(&self, directory: &Path) -> Result<(), SpoolError> {
        self.barrier.cover(directory)
    }

    /// Checks that the paths still lead to the locked files. Otherwise another daemon may be there.
    ///
    /// # Errors
    /// [`SpoolError::Replaced`] if not.
    pub fn check_locked_paths(&self) -> Result<(), SpoolError> {
        let names = [self.paths.state.join("lock"), self.paths.spool.join(".lock")];
        for (path, lock) in names.into_iter().zip(&self.locks) {
            let open = lock.file().metadata().map_err(SpoolError::io(&path, "stat"))?;
            let same = |named: fs::Metadata| (named.dev(), named.ino()) == (open.dev(), open.ino());
            if !fs::metadata(&path).is_ok_and(same) {
                return Err(SpoolError::Replaced { path });
            }
        }
        Ok(())
    }

    /// Calls `watcher` after every sync, with its duration and the number of file systems.
    pub fn watch_syncs(&self, watcher: impl Fn(Duration, u64) + Send + Sync + 'static) {
        self.barrier.watch(Box::new(watcher));
    }

    /// Returns the bytes that are free for this user on the file system of the spool.
    ///
    /// # Errors
    /// The file system does not report them.
    pub fn free_bytes(&self) -> Result<u64, SpoolError> {
        let path = &self.paths.spool;
        let found = rustix::fs::statvfs(path).map_err(SpoolError::errno(path, "stat"))?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Counts a request as on its way to a barrier for as long as the returned value lives.
    pub fn announce_arrival(&self) -> Option<BarrierArrival<'_>> {
        self.barrier.announce_arrival()
    }

    pub(crate) fn barrier(&self) -> &Barrier {
        &self.barrier
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A look-up that panicked has changed nothing; an append reads the file again first.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> &InputStore {
        &self.store
    }

    pub(crate) fn trees(&self) -> &InputTreeStore {
        &self.trees
    }

    /// Deletes stored inputs that no run has used for too long. Call it from time to time.
    pub fn expire_inputs(&self) {
        self.store.expire();
        self.trees.expire();
    }

    pub(crate) fn state_dir(&self) -> &Path {
        &self.paths.state
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.paths.spool.join("work")
    }

    pub(crate) fn archive(&self) -> PathBuf {
        self.paths.spool.join("archive")
    }

    pub(crate) fn quarantine(&self) -> PathBuf {
        self.paths.spool.join("quarantine")
    }

    pub(crate) fn paths(&self) -> &SpoolPaths {
        &self.paths
    }

    pub(crate) fn spool_dir(&self) -> &Path {
        &self.paths.spool
    }

    pub(crate) fn reserve(&self) -> &Reserve {
        &self.reserve
    }
}

fn store_bounds(tenancy: SpoolMode) -> StoreLimits {
    let bytes_max = match tenancy {
        SpoolMode::Daemon => DAEMON_STORE_BYTES_MAX,
        SpoolMode::Embedded => EMBEDDED_STORE_BYTES_MAX,
    };
    StoreLimits { bytes_max, files_max: STORE_FILES_MAX, unused_max: STORE_UNUSED_MAX }
}

fn tree_bounds(tenancy: SpoolMode) -> InputTreeLimits {
    let bytes_max = match tenancy {
        SpoolMode::Daemon => DAEMON_TREES_BYTES_MAX,
        SpoolMode::Embedded => EMBEDDED_TREES_BYTES_MAX,
    };
    InputTreeLimits {
        bytes_max,
        entries_max: TREES_ENTRIES_MAX,
        trees_max: TREES_MAX,
        unused_max: STORE_UNUSED_MAX,
        hidden_max: TREES_HIDDEN_MAX,
    }
}

/// Makes a directory if it does not exist, and returns its resolved path.
pub(crate) fn make_dir(path: &Path, mode: u32) -> Result<PathBuf, SpoolError> {
    if !path.is_dir() {
        let made = DirBuilder::new().mode(mode).recursive(true).create(path);
        made.map_err(SpoolError::io(path, "create the directory"))?;
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            crate::sync::sync_dir(parent).map_err(SpoolError::io(parent, "sync"))?;
        }
    }
    fs::canonicalize(path).map_err(SpoolError::io(path, "resolve"))
}

pub(crate) fn lock_exclusively(places: &SpoolPaths) -> Result<[FileLock; 2], SpoolError> {
    let lock = |path: PathBuf| take_lock(&path, SpoolMode::Daemon);
    Ok([lock(places.state.join("lock"))?, lock(places.spool.join(".lock"))?])
}

fn take_lock(path: &Path, tenancy: SpoolMode) -> Result<FileLock, SpoolError> {
    let open =
        || OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    let hold = match tenancy {
        SpoolMode::Daemon => LockMode::Exclusive,
        SpoolMode::Embedded => LockMode::Shared,
    };
    for _ in 0..LOCK_TRIES {
        let file = open().map_err(SpoolError::io(path, "open"))?;
        match FileLock::try_lock(file, hold) {
            Ok(locked) => return Ok(locked),
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(LOCK_INTERVAL),
            Err(errno) => return Err(SpoolError::errno(path, "lock")(errno)),
        }
    }
    Err(SpoolError::Busy { path: path.to_owned() })
}
