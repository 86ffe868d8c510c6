//! The audit log of a host, as whoever writes records uses it. A record must never be published before
//! the log has it, and after a failed write nothing is appended to what is open: the log is read
//! from its disk again first.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use records::log::entry::{BootId, Heartbeat, heartbeat_is_due};
use records::log::{Inclusion, Log, LogError, LogKey, PublicLogKey};
use validator::UtcTime;

/// Where every record is logged before it is published.
pub struct RecordLog {
    directory: PathBuf,
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
        directory: &Path,
        key: LogKey,
        heartbeat_sec: Option<NonZero<u32>>,
    ) -> Result<Self, LogError> {
        let key = Arc::new(key);
        let log = Log::open_or_create(directory, Arc::clone(&key))?;
        let access = Access::Alone(Some(Box::new(log)));
        let directory = directory.to_owned();
        Ok(Self { directory, key, access, last: None, heartbeat_sec })
    }

    /// The log of embedded runs, of which there may be several at once.
    #[must_use]
    pub fn shared(directory: &Path, key: LogKey) -> Self {
        let (directory, key) = (directory.to_owned(), Arc::new(key));
        Self { directory, key, access: Access::Shared, last: None, heartbeat_sec: None }
    }

    /// What checks everything that this log says.
    #[must_use]
    pub fn key(&self) -> &PublicLogKey {
        self.key.public()
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

    fn append_to_disk(&mut self, entry: &[u8]) -> Result<Inclusion, LogError> {
        match &mut self.access {
            Access::Shared => {
                Log::open_waiting(&self.directory, Arc::clone(&self.key))?.append(entry)
            }
            Access::Alone(open) => {
                let mut log = match open.take() {
                    Some(log) => log,
                    None => Box::new(Log::open_or_create(&self.directory, Arc::clone(&self.key))?),
                };
                let inclusion = log.append(entry)?;
                *open = Some(log);
                Ok(inclusion)
            }
        }
    }
}
