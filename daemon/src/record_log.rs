//! The transparency log of a host, for writers of records. A record must never be published before
//! its log entry is durable. After a failed write the log is read again before the next append.

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::time::Duration;

use model::UtcTime;
use records::TakeoverError;
use records::log::entry::{BootId, Heartbeat, heartbeat_is_due};
use records::log::{
    Inclusion, Log, LogError, LogKey, LogLocation, LogOrigin, LogView, PublicLogKey,
};

/// The longest wait for other writers of the same log; each append takes milliseconds.
pub const LOG_WAIT: Duration = Duration::from_secs(30);

/// The log that gets an entry for every record before it is published.
pub struct RecordLog {
    place: LogLocation,
    key: RwLock<Arc<LogKey>>,
    origin: LogOrigin,
    access: LogAccess,
    last_append: Mutex<Option<UtcTime>>,
    heartbeat_sec: Option<NonZero<u32>>,
    entries: AtomicU64,
}

/// The other writers of the log.
enum LogAccess {
    /// No other writer; the log stays open until a call fails.
    Exclusive(Mutex<Option<Box<Log>>>),
    /// Other embedded runs append too; the log is opened for each record.
    Shared,
}

impl RecordLog {
    /// Opens the log of a daemon, which is its only writer.
    ///
    /// # Errors
    /// [`LogError`]: another process appends to it, or it contradicts its checkpoint.
    pub fn of_daemon(
        place: LogLocation,
        key: LogKey,
        heartbeat_sec: Option<NonZero<u32>>,
    ) -> Result<Self, LogError> {
        let key = Arc::new(key);
        let log = Log::open_or_create(place.clone(), Arc::clone(&key))?;
        let entries = AtomicU64::new(log.head().size());
        let access = LogAccess::Exclusive(Mutex::new(Some(Box::new(log))));
        let (origin, last) = (key.public().origin().clone(), Mutex::new(None));
        let key = RwLock::new(key);
        Ok(Self { place, key, origin, access, last_append: last, heartbeat_sec, entries })
    }

    /// Returns the log of embedded runs, which may have several writers.
    #[must_use]
    pub fn shared(place: LogLocation, key: LogKey) -> Self {
        let (origin, last) = (key.public().origin().clone(), Mutex::new(None));
        let (key, entries) = (RwLock::new(Arc::new(key)), AtomicU64::new(0));
        Self {
            place,
            key,
            origin,
            access: LogAccess::Shared,
            last_append: last,
            heartbeat_sec: None,
            entries,
        }
    }

    /// Returns the public key that verifies the checkpoints of this log.
    #[must_use]
    pub fn key(&self) -> PublicLogKey {
        self.signing_key().public().clone()
    }

    pub(crate) fn signing_key(&self) -> Arc<LogKey> {
        Arc::clone(&self.key.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Logs a key change, and continues with `successor` if the log's own key changed. No other
    /// thread appends meanwhile.
    ///
    /// # Errors
    /// The error of `act`, and [`TakeoverError::NotBegun`] if the log cannot be opened.
    pub(crate) fn change_key<T>(
        &self,
        successor: Option<&Arc<LogKey>>,
        act: impl FnOnce(&mut Log) -> Result<T, TakeoverError>,
    ) -> Result<T, TakeoverError> {
        let LogAccess::Exclusive(open) = &self.access else { return act(&mut *self.open()?) };
        let mut open = lock(open);
        let done = self.with_open_log(&mut open, act);
        if let Some(successor) = successor {
            *open = None;
            // The checkpoint decides which key is in use, even after another failure.
            if LogView::open(self.directory(), successor.public()).is_ok() {
                *self.key.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(successor);
            }
        }
        done
    }

    /// Returns the directory of the log.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.place.directory()
    }

    /// Returns the name of this host, as used by requests and logs.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.origin.as_str()
    }

    /// A heartbeat is due if the interval has passed since this process's last append, or if it has
    /// not appended yet.
    pub(crate) fn append_heartbeat_if_due(
        &self,
        now: UtcTime,
        boot_id: impl FnOnce() -> Option<BootId>,
    ) -> Result<(), LogError> {
        let interval_sec = self.heartbeat_sec.map(NonZero::get);
        let last = *lock(&self.last_append);
        if interval_sec.is_some_and(|interval_sec| heartbeat_is_due(interval_sec, last, now)) {
            let beat = Heartbeat::new(now, boot_id());
            self.append(&beat.entry(), now)?;
        }
        Ok(())
    }

    pub(crate) fn time_to_heartbeat(&self, now: UtcTime) -> Option<Duration> {
        let interval_sec = i64::from(self.heartbeat_sec?.get());
        let silent_sec =
            lock(&self.last_append).map_or(interval_sec, |last| now.unix() - last.unix());
        let left_sec = interval_sec.saturating_sub(silent_sec).clamp(0, interval_sec);
        Some(Duration::from_secs(u64::try_from(left_sec).unwrap_or(0)))
    }

    /// Appends one entry durably.
    fn append(&self, entry: &[u8], now: UtcTime) -> Result<(), LogError> {
        match &self.access {
            LogAccess::Exclusive(open) => {
                self.with_open_log(&mut lock(open), |log| log.append(entry))?
            }
            LogAccess::Shared => self.open()?.append(entry)?,
        };
        self.note_append(now);
        Ok(())
    }

    /// Appends one entry to a log with other writers. `prove` makes the files with its proof durable
    /// before the entry is in the log.
    pub(crate) fn append_proved<E: From<LogError>>(
        &self,
        entry: &[u8],
        now: UtcTime,
        prove: impl FnOnce(&Inclusion) -> Result<(), E>,
    ) -> Result<(), E> {
        self.open()?.append_proved(entry, prove)?;
        self.note_append(now);
        Ok(())
    }

    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.access, LogAccess::Shared)
    }

    /// Locks the log for a batch; none if other processes append too.
    pub(crate) fn lock(&self) -> Option<LockedLog<'_>> {
        match &self.access {
            LogAccess::Exclusive(open) => Some(LockedLog { log: self, open: lock(open) }),
            LogAccess::Shared => None,
        }
    }

    /// Returns the number of entries as of the last append; 0 if other processes append too.
    pub(crate) fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Checks, before a tool runs, that its record could be logged. Blocks no other process.
    pub(crate) fn check_writable(&self) -> Result<(), LogError> {
        match &self.access {
            LogAccess::Exclusive(open) => match open.try_lock() {
                Ok(mut open) => self.with_open_log(&mut open, |_| Ok(())),
                // Another record is being logged, so the log is writable.
                Err(TryLockError::WouldBlock) => Ok(()),
                Err(TryLockError::Poisoned(open)) => {
                    self.with_open_log(&mut open.into_inner(), |_| Ok(()))
                }
            },
            LogAccess::Shared => self.open().map(drop),
        }
    }

    pub(crate) fn note_append(&self, now: UtcTime) {
        *lock(&self.last_append) = Some(now);
    }

    /// Runs `act` on the open log. After an error, the log is read from disk before the next use.
    fn with_open_log<T, E: From<LogError>>(
        &self,
        open: &mut Option<Box<Log>>,
        act: impl FnOnce(&mut Log) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut log = match open.take() {
            Some(log) => log,
            None => self.open()?,
        };
        let done = act(&mut log)?;
        self.entries.store(log.head().size(), Ordering::Relaxed);
        *open = Some(log);
        Ok(done)
    }

    fn open(&self) -> Result<Box<Log>, LogError> {
        let key = self.signing_key();
        let opened = match &self.access {
            LogAccess::Exclusive(_) => Log::open_or_create(self.place.clone(), key),
            LogAccess::Shared => Log::open_within(LOG_WAIT, self.place.clone(), key),
        };
        opened.map(Box::new)
    }
}

pub(crate) struct LockedLog<'a> {
    log: &'a RecordLog,
    open: MutexGuard<'a, Option<Box<Log>>>,
}

impl LockedLog<'_> {
    pub(crate) fn with<T, E: From<LogError>>(
        &mut self,
        act: impl FnOnce(&mut Log) -> Result<T, E>,
    ) -> Result<T, E> {
        self.log.with_open_log(&mut self.open, act)
    }

    /// Closes the log, so that it is read from disk again before the next use.
    pub(crate) fn close(&mut self) {
        *self.open = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A log that was in use during a panic was taken out of the option, and is read again.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
