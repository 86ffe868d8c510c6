//! The audit log of a host, as whoever writes records uses it. A record must never be published before
//! the log has it, and after a failed write nothing is appended to what is open: the log is read
//! from its disk again first.

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::time::Duration;

use model::UtcTime;
use records::TakeoverError;
use records::log::entry::{BootId, Heartbeat, heartbeat_is_due};
use records::log::{Inclusion, Log, LogError, LogKey, LogOrigin, LogPlace, LogView, PublicLogKey};

/// How long one waits for others who append to the same log; each takes milliseconds.
pub const LOG_WAIT: Duration = Duration::from_secs(30);

/// Where every record is logged before it is published.
pub struct RecordLog {
    place: LogPlace,
    key: RwLock<Arc<LogKey>>,
    origin: LogOrigin,
    access: Access,
    /// When this process appended last.
    last: Mutex<Option<UtcTime>>,
    heartbeat_sec: Option<NonZero<u32>>,
    entries: AtomicU64,
}

/// Who else appends.
enum Access {
    /// Nobody; open for as long as nothing failed.
    Alone(Mutex<Option<Box<Log>>>),
    /// Other embedded runs; open for each record alone.
    Shared,
}

impl RecordLog {
    /// The log of a daemon, which is its only writer.
    ///
    /// # Errors
    /// [`LogError`]: somebody else appends to it, or it is not what its checkpoint says.
    pub fn of_daemon(
        place: LogPlace,
        key: LogKey,
        heartbeat_sec: Option<NonZero<u32>>,
    ) -> Result<Self, LogError> {
        let key = Arc::new(key);
        let log = Log::open_or_create(place.clone(), Arc::clone(&key))?;
        let entries = AtomicU64::new(log.head().size());
        let access = Access::Alone(Mutex::new(Some(Box::new(log))));
        let (origin, last) = (key.public().origin().clone(), Mutex::new(None));
        let key = RwLock::new(key);
        Ok(Self { place, key, origin, access, last, heartbeat_sec, entries })
    }

    /// The log of embedded runs, of which there may be several at once.
    #[must_use]
    pub fn shared(place: LogPlace, key: LogKey) -> Self {
        let (origin, last) = (key.public().origin().clone(), Mutex::new(None));
        let (key, entries) = (RwLock::new(Arc::new(key)), AtomicU64::new(0));
        Self { place, key, origin, access: Access::Shared, last, heartbeat_sec: None, entries }
    }

    /// What checks everything that this log says.
    #[must_use]
    pub fn key(&self) -> PublicLogKey {
        self.signing_key().public().clone()
    }

    /// The key that signs its checkpoints.
    pub(crate) fn signing_key(&self) -> Arc<LogKey> {
        Arc::clone(&self.key.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has a change of keys logged, and goes on under the successor where the log's own key changed.
    /// No other thread appends meanwhile.
    ///
    /// # Errors
    /// The error of `act`, and [`TakeoverError::NotBegun`] where the log cannot be opened.
    pub(crate) fn change_key<T>(
        &self,
        successor: Option<&Arc<LogKey>>,
        act: impl FnOnce(&mut Log) -> Result<T, TakeoverError>,
    ) -> Result<T, TakeoverError> {
        let Access::Alone(open) = &self.access else { return act(&mut *self.open()?) };
        let mut open = lock(open);
        let done = self.in_open(&mut open, act);
        if let Some(successor) = successor {
            *open = None;
            // The checkpoint decides which key is in force, also after another failure.
            if LogView::open(self.directory(), successor.public()).is_ok() {
                *self.key.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(successor);
            }
        }
        done
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.place.directory()
    }

    /// The name of this host, as requests and logs have it.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.origin.as_str()
    }

    /// Appends a heartbeat where nothing was appended for as long as is configured, or not since this
    /// process began.
    pub(crate) fn beat(
        &self,
        now: UtcTime,
        boot_id: impl FnOnce() -> Option<BootId>,
    ) -> Result<(), LogError> {
        let interval_sec = self.heartbeat_sec.map(NonZero::get);
        let last = *lock(&self.last);
        if interval_sec.is_some_and(|interval_sec| heartbeat_is_due(interval_sec, last, now)) {
            let beat = Heartbeat::new(now, boot_id());
            self.append(&beat.entry(), now)?;
        }
        Ok(())
    }

    /// How long it is until the next heartbeat, if any is to come.
    pub(crate) fn beats_in(&self, now: UtcTime) -> Option<Duration> {
        let interval_sec = i64::from(self.heartbeat_sec?.get());
        let silent_sec = lock(&self.last).map_or(interval_sec, |last| now.unix() - last.unix());
        let left_sec = interval_sec.saturating_sub(silent_sec).clamp(0, interval_sec);
        Some(Duration::from_secs(u64::try_from(left_sec).unwrap_or(0)))
    }

    /// Appends one entry, durably by itself, and gives the proof.
    pub(crate) fn append(&self, entry: &[u8], now: UtcTime) -> Result<Inclusion, LogError> {
        let inclusion = match &self.access {
            Access::Alone(open) => self.in_open(&mut lock(open), |log| log.append(entry))?,
            Access::Shared => self.open()?.append(entry)?,
        };
        self.appended(now);
        Ok(inclusion)
    }

    /// Whether others append to it too.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.access, Access::Shared)
    }

    /// The log, held for a batch; none where others append too.
    pub(crate) fn hold(&self) -> Option<HeldLog<'_>> {
        match &self.access {
            Access::Alone(open) => Some(HeldLog { log: self, open: lock(open) }),
            Access::Shared => None,
        }
    }

    /// How many entries there are, as of the last append; nothing where others append too.
    pub(crate) fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Whether a record could be logged now: asked before a tool runs, so that none runs without a
    /// record that anybody may see. Where others append too, the log is not kept from them meanwhile.
    pub(crate) fn ready(&self) -> Result<(), LogError> {
        match &self.access {
            Access::Alone(open) => match open.try_lock() {
                Ok(mut open) => self.in_open(&mut open, |_| Ok(())),
                // Another record is being logged: that tells.
                Err(TryLockError::WouldBlock) => Ok(()),
                Err(TryLockError::Poisoned(open)) => {
                    self.in_open(&mut open.into_inner(), |_| Ok(()))
                }
            },
            Access::Shared => self.open().map(drop),
        }
    }

    pub(crate) fn appended(&self, now: UtcTime) {
        *lock(&self.last) = Some(now);
    }

    /// Whole after all that was asked of it; else it is read from the disk again before the next time.
    fn in_open<T, E: From<LogError>>(
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
            Access::Alone(_) => Log::open_or_create(self.place.clone(), key),
            Access::Shared => Log::open_within(LOG_WAIT, self.place.clone(), key),
        };
        opened.map(Box::new)
    }
}

/// The log, while nobody else appends to it.
pub(crate) struct HeldLog<'a> {
    log: &'a RecordLog,
    open: MutexGuard<'a, Option<Box<Log>>>,
}

impl HeldLog<'_> {
    /// Does this with the open log; after a failure it is opened again for the next time.
    pub(crate) fn act<T, E: From<LogError>>(
        &mut self,
        act: impl FnOnce(&mut Log) -> Result<T, E>,
    ) -> Result<T, E> {
        self.log.in_open(&mut self.open, act)
    }

    /// Has it read from the disk again before the next time.
    pub(crate) fn let_go(&mut self) {
        *self.open = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A log that was being written to when something panicked was taken out, and is read anew.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
