//! The public halves of a key directory, those that are in force no longer among them, each with the
//! time for which it counts. A retired key must never be given out without its end.

use std::path::Path;

use model::UtcTime;
use ssh_key::PublicKey;

use crate::key_error::KeyError;
use crate::key_files::{Custody, KeyDirectory, PUBLIC_BYTES_MAX};
use crate::key_model::Dated;
use crate::keys::{PublicResultKey, RESULT_NAMESPACE, RESULT_PRINCIPAL};
use crate::log::{KEY_CHANGE_NAMESPACE, KeyRole, LogOrigin, PublicLogKey, trusted_root};

/// The keys that are in force no longer, newest first, as `allowed_signers` lines: such a file is read
/// by `ssh-keygen` as it is.
pub(crate) const RETIRED: &str = "retired";

/// What a key directory has for those who verify: the keys in force first, then older ones.
#[derive(Clone, Debug)]
pub struct PublicKeys {
    results: Vec<Dated<PublicResultKey>>,
    logs: Vec<Dated<PublicLogKey>>,
}

impl PublicKeys {
    /// Reads `<dir>/result.pub`, `<dir>/log.pub` if it is there, and `<dir>/retired`.
    ///
    /// # Errors
    /// Any [`KeyError`]; a missing `result.pub` is [`KeyError::Io`].
    pub fn open(dir: &Path) -> Result<Self, KeyError> {
        let keys = KeyDirectory::open(dir, Custody::Ours)?;
        let retired = Retired::open(&keys)?;
        let Self { results, logs } = retired.with_result(PublicResultKey::open_in(&keys)?);
        let retired = Retired { results: Vec::new(), logs };
        let Self { logs, .. } = match PublicLogKey::open_in(&keys)? {
            Some(key) => retired.with_log(key),
            None => Self { results: Vec::new(), logs: retired.logs },
        };
        Ok(Self { results, logs })
    }

    /// Keys that sign records; never empty.
    #[must_use]
    pub fn results(&self) -> &[Dated<PublicResultKey>] {
        &self.results
    }

    /// Keys of the log; empty where it never had one.
    #[must_use]
    pub fn logs(&self) -> &[Dated<PublicLogKey>] {
        &self.logs
    }

    /// A line for each result key: what `ssh-keygen -Y verify -I tool-exec` takes, with
    /// `-Overify-time` for the records of retired ones.
    #[must_use]
    pub fn allowed_signers(&self) -> String {
        self.results.iter().map(|key| format!("{}\n", result_line(key))).collect()
    }

    /// The same for the keys of the log, which sign nothing of SSH's but changes of keys.
    #[must_use]
    pub fn allowed_signers_of_log(&self) -> String {
        self.logs.iter().map(|key| format!("{}\n", log_line(key))).collect()
    }

    /// A verifier line (C2SP signed-note) for each key of the log.
    #[must_use]
    pub fn verifier_lines(&self) -> String {
        self.logs.iter().map(|log| format!("{}\n", log.key.verifier_line())).collect()
    }

    /// Sigstore's `trusted_root.json` with this log as the only one that is trusted, under each key
    /// that it had.
    #[must_use]
    pub fn trusted_root(&self) -> String {
        trusted_root(&self.logs)
    }
}

/// The public half of a key of either role.
pub(crate) enum PublicHalf {
    Result(PublicResultKey),
    Log(PublicLogKey),
}

impl PublicHalf {
    pub(crate) fn fingerprint(&self) -> String {
        match self {
            Self::Result(key) => key.fingerprint(),
            Self::Log(key) => key.fingerprint(),
        }
    }
}

/// What `<dir>/retired` has.
#[derive(Debug, Default)]
pub(crate) struct Retired {
    results: Vec<Dated<PublicResultKey>>,
    logs: Vec<Dated<PublicLogKey>>,
}

impl Retired {
    pub(crate) fn open(keys: &KeyDirectory) -> Result<Self, KeyError> {
        let bytes = keys.read(RETIRED, PUBLIC_BYTES_MAX)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut retired = Self::default();
        for (index, line) in text.lines().enumerate() {
            let read = retired.read(line);
            let wrong = || KeyError::Retired { path: keys.path(RETIRED), line: index + 1 };
            read.ok_or_else(wrong)?;
        }
        Ok(retired)
    }

    fn read(&mut self, line: &str) -> Option<()> {
        let mut words = line.splitn(3, ' ');
        let (principal, options, key) = (words.next()?, words.next()?, words.next()?);
        let key = PublicKey::from_openssh(key).ok()?;
        let (namespace, rest) = options.strip_prefix("namespaces=\"")?.split_once('"')?;
        let (valid_after, rest) = match rest.strip_prefix(",valid-after=\"") {
            Some(rest) => {
                let (time, rest) = rest.split_once('"')?;
                (Some(from_option(time)?), rest)
            }
            None => (None, rest),
        };
        let time = rest.strip_prefix(",valid-before=\"")?.strip_suffix('"')?;
        let valid_before = Some(from_option(time)?);
        if namespace == RESULT_NAMESPACE && principal == RESULT_PRINCIPAL {
            let key = PublicResultKey::from_key(&key)?;
            self.results.push(Dated { key, valid_after, valid_before });
        } else if namespace == KEY_CHANGE_NAMESPACE {
            let origin: LogOrigin = principal.parse().ok()?;
            let key = PublicLogKey::from_key(origin, &key)?;
            self.logs.push(Dated { key, valid_after, valid_before });
        } else {
            return None;
        }
        Some(())
    }

    pub(crate) fn has(&self, key: &PublicHalf) -> bool {
        match key {
            PublicHalf::Result(key) => self.results.iter().any(|dated| dated.key == *key),
            PublicHalf::Log(key) => self.logs.iter().any(|dated| dated.key == *key),
        }
    }

    /// When the last key of this role went.
    pub(crate) fn last(&self, role: KeyRole) -> Option<UtcTime> {
        match role {
            KeyRole::Result => self.results.first().and_then(|last| last.valid_before),
            KeyRole::Log => self.logs.first().and_then(|last| last.valid_before),
        }
    }

    /// With the key in force, which came when the last one went.
    pub(crate) fn with_result(mut self, key: PublicResultKey) -> PublicKeys {
        let valid_after = self.last(KeyRole::Result);
        self.results.insert(0, Dated { key, valid_after, valid_before: None });
        PublicKeys { results: self.results, logs: self.logs }
    }

    /// The same for the log's.
    pub(crate) fn with_log(mut self, key: PublicLogKey) -> PublicKeys {
        let valid_after = self.last(KeyRole::Log);
        self.logs.insert(0, Dated { key, valid_after, valid_before: None });
        PublicKeys { results: self.results, logs: self.logs }
    }
}

/// A result key's line, in force or retired.
pub(crate) fn result_line(dated: &Dated<PublicResultKey>) -> String {
    let options = options(RESULT_NAMESPACE, dated);
    format!("{RESULT_PRINCIPAL} {options} {}", dated.key.openssh_line())
}

/// A log key's line, in force or retired.
pub(crate) fn log_line(dated: &Dated<PublicLogKey>) -> String {
    let options = options(KEY_CHANGE_NAMESPACE, dated);
    format!("{} {options} {}", dated.key.origin(), dated.key.openssh_line())
}

fn options<K>(namespace: &str, dated: &Dated<K>) -> String {
    let mut options = format!("namespaces=\"{namespace}\"");
    for (name, time) in [("valid-after", dated.valid_after), ("valid-before", dated.valid_before)] {
        if let Some(time) = time {
            options.push_str(&format!(",{name}=\"{}\"", time.compact().replace('-', "")));
        }
    }
    options
}

/// Reads `YYYYMMDDHHMMSSZ`.
fn from_option(text: &str) -> Option<UtcTime> {
    let digits = text.strip_suffix('Z').filter(|digits| {
        digits.len() == 14 && digits.bytes().all(|digit| digit.is_ascii_digit())
    })?;
    let (date, time) = digits.split_at_checked(8)?;
    let ((year, date), (hour, time)) = (date.split_at_checked(4)?, time.split_at_checked(2)?);
    let ((month, day), (minute, second)) = (date.split_at_checked(2)?, time.split_at_checked(2)?);
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse().ok()
}
