//! The audit log of a host, as whoever writes records uses it. A record must never be published before
//! the log has it, and after a failed write nothing is appended to what is open: the log is read
//! from its disk again first.

use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use records::log::entry::{BootId, Heartbeat, heartbeat_is_due};
use records::log::{Inclusion, Log, LogError, LogKey, LogPlace, PublicLogKey};
use validator::UtcTime;

/// How long one waits for others who append to the same log; each takes milliseconds.
pub const LOG_WAIT: Duration = Duration::from_secs(30);

/// Where every record is logged before it is published.
pub struct RecordLog {
    place: LogPlace,
    key: Arc<LogKey>,
    access: Access,
    /// When this process appended last.
    last: Option<UtcTime>,
    heartbeat_sec: Option<NonZero<u32>>,
}

/// Who else appends.
enum Access {
    /// Nobody; open for as long as nothing failed.
    Alone(Option<Box<Log>>),
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
        let access = Access::Alone(Some(Box::new(log)));
        Ok(Self { place, key, access, last: None, heartbeat_sec })
    }

    /// The log of embedded runs, of which there may be several at once.
    #[must_use]
    pub fn shared(place: LogPlace, key: LogKey) -> Self {
        let key = Arc::new(key);
        Self { place, key, access: Access::Shared, last: None, heartbeat_sec: None }
    }

    /// What checks everything that this log says.
    #[must_use]
    pub fn key(&self) -> &PublicLogKey {
        self.key.public()
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.place.directory()
    }

    /// The name of this host, as requests and logs have it.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.key().origin().as_str()
    }

    /// Appends a heartbeat where nothing was appended for as long as is configured, or not since this
    /// process began.
    pub(crate) fn beat(
        &mut self,
        now: UtcTime,
        boot_id: impl FnOnce() -> Option<BootId>,
    ) -> Result<(), LogError> {
        let interval_sec = self.heartbeat_sec.map(NonZero::get);
        if interval_sec.is_some_and(|interval_sec| heartbeat_is_due(interval_sec, self.last, now)) {
            let beat = Heartbeat::new(now, boot_id());
            self.append(&beat.entry(), now)?;
        }
        Ok(())
    }

    /// Appends one entry, durably, and gives the proof.
    pub(crate) fn append(&mut self, entry: &[u8], now: UtcTime) -> Result<Inclusion, LogError> {
        let inclusion = self.append_to_disk(entry)?;
        self.last = Some(now);
        Ok(inclusion)
    }

    /// Whether a record could be logged now: asked before a tool runs, so that none runs without a
    /// record that anybody may see. Where others append too, the log is not kept from them meanwhile.
    pub(crate) fn ready(&mut self) -> Result<(), LogError> {
        let log = self.open()?;
        self.give_back(log);
        Ok(())
    }

    fn append_to_disk(&mut self, entry: &[u8]) -> Result<Inclusion, LogError> {
        let mut log = self.open()?;
        let inclusion = log.append(entry)?;
        self.give_back(log);
        Ok(inclusion)
    }

    fn open(&mut self) -> Result<Box<Log>, LogError> {
        let key = Arc::clone(&self.key);
        let log = match &mut self.access {
            Access::Alone(open) => match open.take() {
                Some(log) => return Ok(log),
                None => Log::open_or_create(self.place.clone(), key)?,
            },
            Access::Shared => Log::open_within(LOG_WAIT, self.place.clone(), key)?,
        };
        Ok(Box::new(log))
    }

    /// Whole after all that was asked of it.
    fn give_back(&mut self, log: Box<Log>) {
        if let Access::Alone(open) = &mut self.access {
            *open = Some(log);
        }
    }
}
