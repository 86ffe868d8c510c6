//! The audit log of a host, as whoever writes records uses it. A record must never be published before
//! the log has it, and after a failed write nothing is appended to what is open: the log is read
//! from its disk again first.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use records::KeyError;
use records::log::{Inclusion, Log, LogError, LogKey, LogOrigin, PublicLogKey};

/// Where every record is logged before it is published.
pub struct RecordLog {
    directory: PathBuf,
    key: Arc<LogKey>,
    access: Access,
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
    pub fn of_daemon(directory: &Path, key: LogKey) -> Result<Self, LogError> {
        let key = Arc::new(key);
        let log = Log::open_or_create(directory, Arc::clone(&key))?;
        let access = Access::Alone(Some(Box::new(log)));
        Ok(Self { directory: directory.to_owned(), key, access })
    }

    /// The log of embedded runs, of which there may be several at once.
    #[must_use]
    pub fn shared(directory: &Path, key: LogKey) -> Self {
        Self { directory: directory.to_owned(), key: Arc::new(key), access: Access::Shared }
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

    /// Appends one entry, durably, and gives the proof.
    pub(crate) fn append(&mut self, entry: &[u8]) -> Result<Inclusion, LogError> {
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

/// The log's key in this directory, made on first use under the name that is configured, else under
/// the host's.
///
/// # Errors
/// [`KeyError`]; also where the key was made for a log of another name.
pub fn log_key(directory: &Path, configured: Option<&LogOrigin>) -> Result<LogKey, KeyError> {
    let known = PublicLogKey::open(directory).ok();
    // A host may be named anew; its log stays the log it is.
    let origin = configured.or(known.as_ref().map(PublicLogKey::origin)).cloned();
    LogKey::open_or_create(directory, &origin.unwrap_or_else(own_name))
}

fn own_name() -> LogOrigin {
    let name = rustix::system::uname().nodename().to_string_lossy().to_lowercase();
    name.parse().unwrap_or_else(|_| LogOrigin::localhost())
}
