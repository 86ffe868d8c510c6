//! Group commit. After a thread passes a barrier, everything it wrote before is on the disk. One
//! sync serves all waiting threads. After a failed sync no barrier may ever succeed: the state of
//! the pages is unknown then, and a second sync would report success falsely.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat, syncfs};

use crate::error::SpoolError;
use crate::sync;

/// The longest time that the thread which could start a sync waits for others on their way to the
/// same barrier. The other threads use the processors meanwhile, so the wait costs them nothing.
const JOIN_TIME_MAX: Duration = Duration::from_millis(8);
/// The number of threads on their way from which the wait is worthwhile.
const JOIN_THREADS_MIN: usize = 6;

/// Syncs that serve every thread that was waiting when they began.
#[derive(Default)]
pub(crate) struct SyncGroup {
    round: Mutex<SyncRound>,
    arrived: Condvar,
    ended: Condvar,
    /// Threads that will reach the barrier, and those that wait at it.
    expected: AtomicUsize,
}

/// A thread on its way to the barrier, until this is dropped.
#[must_use]
pub struct BarrierArrival<'a>(&'a AtomicUsize);

impl Drop for BarrierArrival<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct SyncRound {
    /// Threads that wait for a sync that has not begun.
    waiting: usize,
    /// A thread is waiting for others before it starts a sync for all of them.
    lingering: bool,
    begun: u64,
    ended: u64,
    failed: bool,
}

impl SyncGroup {
    /// Returns when a sync that began after this call has succeeded. One waiting thread does it.
    pub(crate) fn pass(
        &self,
        path: &Path,
        act: impl FnOnce() -> Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        let mut turn = self.lock();
        // A running sync may have missed data that was written while it ran.
        let ours = turn.begun + 1;
        turn.waiting += 1;
        self.arrived.notify_all();
        loop {
            if turn.failed {
                return Err(SpoolError::EarlierSyncFailed { path: path.to_owned() });
            }
            if turn.ended >= ours {
                return Ok(());
            }
            if turn.begun == turn.ended && !turn.lingering {
                break;
            }
            turn = self.ended.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        let mut turn = self.wait_for_others(turn);
        turn.begun += 1;
        turn.waiting = 0;
        drop(turn);
        let acted = act();
        let mut turn = self.lock();
        turn.ended = turn.begun;
        turn.failed |= acted.is_err();
        self.ended.notify_all();
        acted
    }

    /// Waits briefly until half of the threads on their way have arrived.
    fn wait_for_others<'a>(
        &'a self,
        mut turn: MutexGuard<'a, SyncRound>,
    ) -> MutexGuard<'a, SyncRound> {
        let until = Instant::now() + JOIN_TIME_MAX;
        turn.lingering = true;
        loop {
            let crowd = self.expected.load(Ordering::Relaxed);
            let left = until.saturating_duration_since(Instant::now());
            if crowd < JOIN_THREADS_MIN || turn.waiting * 2 >= crowd || left.is_zero() {
                turn.lingering = false;
                return turn;
            }
            let waited = self.arrived.wait_timeout(turn, left);
            turn = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn announce_arrival(&self) -> BarrierArrival<'_> {
        self.expected.fetch_add(1, Ordering::Relaxed);
        BarrierArrival(&self.expected)
    }

    fn lock(&self) -> MutexGuard<'_, SyncRound> {
        // No code that panics runs while the lock is held.
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) enum Barrier {
    /// Syncs each file separately and leaves other files of the user alone.
    Each,
    /// Syncs whole file systems, once for all waiting threads.
    FileSystems(CoveredFileSystems),
}

/// The file systems of the spool's files, each by a directory that was opened before any write: the
/// kernel reports to a descriptor the failures since it was opened (syncfs(2)).
#[derive(Default)]
pub(crate) struct CoveredFileSystems {
    known: Mutex<Vec<CoveredFileSystem>>,
    group: SyncGroup,
    watcher: OnceLock<SyncObserver>,
}

/// Receives the duration of each sync and the number of file systems.
pub(crate) type SyncObserver = Box<dyn Fn(Duration, u64) + Send + Sync>;

struct CoveredFileSystem {
    device: u64,
    path: PathBuf,
    directory: OwnedFd,
}

impl Barrier {
    /// Adds the file system of a directory. Call it before anything is written there.
    pub(crate) fn cover(&self, path: &Path) -> Result<(), SpoolError> {
        let Self::FileSystems(file_systems) = self else { return Ok(()) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(CWD, path, flags, Mode::empty());
        let directory = File::from(opened.map_err(SpoolError::errno(path, "open"))?);
        let device = directory.metadata().map_err(SpoolError::io(path, "stat"))?.dev();
        let mut known = file_systems.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().all(|one| one.device != device) {
            let (path, directory) = (path.to_owned(), directory.into());
            known.push(CoveredFileSystem { device, path, directory });
        }
        Ok(())
    }

    /// Sets the receiver of sync reports. Only the first call has an effect.
    pub(crate) fn watch(&self, watcher: SyncObserver) {
        if let Self::FileSystems(file_systems) = self {
            file_systems.watcher.get_or_init(|| watcher);
        }
    }

    /// Counts the caller as on its way to the barrier.
    pub(crate) fn announce_arrival(&self) -> Option<BarrierArrival<'_>> {
        match self {
            Self::Each => None,
            Self::FileSystems(file_systems) => Some(file_systems.group.announce_arrival()),
        }
    }

    pub(crate) fn pass_file(&self, path: &Path, file: &File) -> Result<(), SpoolError> {
        match self {
            Self::Each => file.sync_data().map_err(SpoolError::io(path, "sync")),
            Self::FileSystems(file_systems) => file_systems.pass(),
        }
    }

    /// Makes these trees and their names durable.
    pub(crate) fn pass(&self, trees: &[&Path]) -> Result<(), SpoolError> {
        match self {
            Self::Each => trees.iter().try_for_each(|tree| {
                let parent = tree.parent().unwrap_or(tree);
                let synced = sync::sync_tree(tree).and_then(|()| sync::sync_dir(parent));
                synced.map_err(SpoolError::io(tree, "sync"))
            }),
            Self::FileSystems(file_systems) => file_systems.pass(),
        }
    }

    /// Makes the names in these directories durable. The named objects already are.
    pub(crate) fn pass_names(&self, directories: &[&Path]) -> Result<(), SpoolError> {
        match self {
            Self::Each => directories.iter().try_for_each(|directory| {
                let synced = sync::sync_dir(directory);
                synced.map_err(SpoolError::io(directory, "sync"))
            }),
            Self::FileSystems(file_systems) => file_systems.pass(),
        }
    }
}

impl CoveredFileSystems {
    fn pass(&self) -> Result<(), SpoolError> {
        self.group.pass(Path::new("the spool"), || {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let begun = Instant::now();
            let synced = known.iter().try_for_each(|one| {
                let synced = syncfs(&one.directory).map_err(io::Error::from);
                synced.map_err(SpoolError::unsynced(&one.path))
            });
            if let Some(watcher) = self.watcher.get() {
                watcher(begun.elapsed(), u64::try_from(known.len()).unwrap_or(u64::MAX));
            }
            synced
        })
    }
}

#[cfg(test)]
mod tests;
