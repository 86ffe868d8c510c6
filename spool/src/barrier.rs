//! What was written is on the disk when a barrier has been passed. Whoever waits at one is let through by
//! one act for all who wait, so that many requests at once cost no more than a few. It must never let
//! anybody through after a failure: what the kernel did with the pages then, nobody knows, and a second
//! try would succeed falsely.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat, syncfs};

use crate::durable;
use crate::error::SpoolError;

/// How long one who could act waits for others that are on their way to the same barrier. They need the
/// processors meanwhile, so that it costs the crowd nothing.
const LINGER_MAX: Duration = Duration::from_millis(8);
/// So many on their way are a crowd.
const CROWD_MIN: usize = 6;

/// Acts that let through all who waited when they began.
#[derive(Default)]
pub(crate) struct Group {
    turn: Mutex<Turn>,
    came: Condvar,
    ended: Condvar,
    /// Those that will come to the barrier sooner or later, and those who stand before it.
    on_their_way: AtomicUsize,
}

/// One of those on their way, until it is dropped.
#[must_use]
pub struct OnItsWay<'a>(&'a AtomicUsize);

impl Drop for OnItsWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Turn {
    /// Those who wait for an act that has not begun.
    waiting: usize,
    /// Somebody waits for more to come, to act for all of them.
    lingering: bool,
    /// Acts that have begun, and of these how many have ended.
    begun: u64,
    ended: u64,
    failed: bool,
}

impl Group {
    /// Returns when an act that began after this was called has ended well. One of those who wait does it.
    pub(crate) fn pass(
        &self,
        path: &Path,
        act: impl FnOnce() -> Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        let mut turn = self.lock();
        // An act that is under way may have passed over what was written while it ran.
        let ours = turn.begun + 1;
        turn.waiting += 1;
        self.came.notify_all();
        loop {
            if turn.failed {
                return Err(SpoolError::Stopped { path: path.to_owned() });
            }
            if turn.ended >= ours {
                return Ok(());
            }
            if turn.begun == turn.ended && !turn.lingering {
                break;
            }
            turn = self.ended.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        let mut turn = self.linger(turn);
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

    /// Waits a little for the others of a crowd, until half of it is here.
    fn linger<'a>(&'a self, mut turn: MutexGuard<'a, Turn>) -> MutexGuard<'a, Turn> {
        let until = Instant::now() + LINGER_MAX;
        turn.lingering = true;
        loop {
            let crowd = self.on_their_way.load(Ordering::Relaxed);
            let left = until.saturating_duration_since(Instant::now());
            if crowd < CROWD_MIN || turn.waiting * 2 >= crowd || left.is_zero() {
                turn.lingering = false;
                return turn;
            }
            let waited = self.came.wait_timeout(turn, left);
            turn = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn on_its_way(&self) -> OnItsWay<'_> {
        self.on_their_way.fetch_add(1, Ordering::Relaxed);
        OnItsWay(&self.on_their_way)
    }

    fn lock(&self) -> MutexGuard<'_, Turn> {
        // Nothing that panics runs while it is held.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How the files of one spool get to the disk.
pub(crate) enum Barrier {
    /// Each by itself: other files on the disk, a person's, are left alone.
    Each,
    /// Whole file systems at once, for everybody who waits.
    FileSystems(FileSystems),
}

/// Those that hold something of ours, each by a directory that was opened before anything was written:
/// the kernel tells a descriptor of the failures since it was opened (syncfs(2)).
#[derive(Default)]
pub(crate) struct FileSystems {
    known: Mutex<Vec<FileSystem>>,
    group: Group,
    watcher: OnceLock<Watcher>,
}

/// Told how long an act took, and of how many file systems it was.
pub(crate) type Watcher = Box<dyn Fn(Duration, u64) + Send + Sync>;

struct FileSystem {
    device: u64,
    path: PathBuf,
    directory: OwnedFd,
}

impl Barrier {
    /// Takes in the file system of a directory; to be called before anything is written there.
    pub(crate) fn cover(&self, path: &Path) -> Result<(), SpoolError> {
        let Self::FileSystems(file_systems) = self else { return Ok(()) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(CWD, path, flags, Mode::empty());
        let directory = File::from(opened.map_err(SpoolError::errno(path, "open"))?);
        let device = directory.metadata().map_err(SpoolError::io(path, "look at"))?.dev();
        let mut known = file_systems.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().all(|one| one.device != device) {
            let (path, directory) = (path.to_owned(), directory.into());
            known.push(FileSystem { device, path, directory });
        }
        Ok(())
    }

    /// Has the first one who asks for it told of every act.
    pub(crate) fn watch(&self, watcher: Watcher) {
        if let Self::FileSystems(file_systems) = self {
            file_systems.watcher.get_or_init(|| watcher);
        }
    }

    /// Says that somebody is on the way to it.
    pub(crate) fn on_its_way(&self) -> Option<OnItsWay<'_>> {
        match self {
            Self::Each => None,
            Self::FileSystems(file_systems) => Some(file_systems.group.on_its_way()),
        }
    }

    /// Makes one file that is open durable.
    pub(crate) fn pass_file(&self, path: &Path, file: &File) -> Result<(), SpoolError> {
        match self {
            Self::Each => file.sync_data().map_err(SpoolError::io(path, "make durable")),
            Self::FileSystems(file_systems) => file_systems.pass(),
        }
    }

    /// Makes these trees and their names durable.
    pub(crate) fn pass(&self, trees: &[&Path]) -> Result<(), SpoolError> {
        match self {
            Self::Each => trees.iter().try_for_each(|tree| {
                let parent = tree.parent().unwrap_or(tree);
                let synced = durable::sync_tree(tree).and_then(|()| durable::sync_dir(parent));
                synced.map_err(SpoolError::io(tree, "make durable"))
            }),
            Self::FileSystems(file_systems) => file_systems.pass(),
        }
    }

    /// Makes the names in these directories durable; what has them was made so before.
    pub(crate) fn pass_names(&self, directories: &[&Path]) -> Result<(), SpoolError> {
        match self {
            Self::Each => directories.iter().try_for_each(|directory| {
                let synced = durable::sync_dir(directory);
                synced.map_err(SpoolError::io(directory, "make durable"))
            }),
            Self::FileSystems(file_systems) => file_systems.pass(),
        }
    }
}

impl FileSystems {
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
