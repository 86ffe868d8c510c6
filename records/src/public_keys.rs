//! The public halves of a key directory with their validity; no retired key without its end.

use std::path::Path;

use model::UtcTime;
use ssh_key::PublicKey;

use crate::key_error::HostKeyError;
use crate::key_files::{KeyDirectory, KeyFileOwner, PUBLIC_BYTES_MAX};
use crate::key_model::DatedKey;
use crate::log::{KEY_CHANGE_NAMESPACE, KeyRole, LogOrigin, PublicLogKey, trusted_root};
use crate::result_key::{PublicResultKey, RESULT_NAMESPACE, RESULT_PRINCIPAL};

/// The file of retired keys, newest first, as `allowed_signers` lines that `ssh-keygen` can read.
pub(crate) const RETIRED: &str = "retired";

/// The public keys of a key directory, for verifiers: the active keys first, then older ones.
#[derive(Clone, Debug)]
pub struct PublicKeys {
    results: Vec<DatedKey<PublicResultKey>>,
    logs: Vec<DatedKey<PublicLogKey>>,
}

impl PublicKeys {
    /// Reads `<dir>/result.pub`, `<dir>/log.pub` if it exists, and `<dir>/retired`.
    pub fn open(dir: &Path) -> Result<Self, HostKeyError> {
        let keys = KeyDirectory::open(dir, KeyFileOwner::ThisUser)?;
        let retired = RetiredKeys::open(&keys)?;
        let Self { results, logs } = retired.with_result(PublicResultKey::open_in(&keys)?);
        let retired = RetiredKeys { results: Vec::new(), logs };
        let Self { logs, .. } = match PublicLogKey::open_in(&keys)? {
            Some(key) => retired.with_log(key),
            None => Self { results: Vec::new(), logs: retired.logs },
        };
        Ok(Self { results, logs })
    }

    /// Returns the keys that sign records; never empty.
    #[must_use]
    pub fn results(&self) -> &[DatedKey<PublicResultKey>] {
        &self.results
    }

    /// Returns the keys of the log; empty if it never had one.
    #[must_use]
    pub fn logs(&self) -> &[DatedKey<PublicLogKey>] {
        &self.logs
    }

    /// Returns a line per result key for `ssh-keygen -Y verify`; retired ones need `-Overify-time`.
    #[must_use]
    pub fn allowed_signers(&self) -> String {
        self.results.iter().map(|key| format!("{}\n", result_line(key))).collect()
    }

    /// Returns a line per key of the log. In SSH's format these keys sign only key rotations.
    #[must_use]
    pub fn allowed_signers_of_log(&self) -> String {
        self.logs.iter().map(|key| format!("{}\n", log_line(key))).collect()
    }

    /// Returns one verifier line (C2SP signed-note) for each key of the log.
    #[must_use]
    pub fn verifier_lines(&self) -> String {
        self.logs.iter().map(|log| format!("{}\n", log.key.verifier_line())).collect()
    }

    /// Returns Sigstore's `trusted_root.json` with this log, under each of its keys, and no other.
    #[must_use]
    pub fn trusted_root(&self) -> String {
        trusted_root(&self.logs)
    }
}

pub(crate) enum PublicHostKey {
    Result(PublicResultKey),
    Log(PublicLogKey),
}

impl PublicHostKey {
    pub(crate) fn fingerprint(&self) -> String {
        match self {
            Self::Result(key) => key.fingerprint(),
            Self::Log(key) => key.fingerprint(),
        }
    }
}

/// The contents of `<dir>/retired`.
#[derive(Debug, Default)]
pub(crate) struct RetiredKeys {
    results: Vec<DatedKey<PublicResultKey>>,
    logs: Vec<DatedKey<PublicLogKey>>,
}

impl RetiredKeys {
    pub(crate) fn open(keys: &KeyDirectory) -> Result<Self, HostKeyError> {
        let bytes = keys.read(RETIRED, PUBLIC_BYTES_MAX)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut retired = Self::default();
        for (index, line) in text.lines().enumerate() {
            let read = retired.read(line);
            let wrong = || HostKeyError::Retired { path: keys.path(RETIRED), line: index + 1 };
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
                (Some(parse_option_time(time)?), rest)
            }
            None => (None, rest),
        };
        let time = rest.strip_prefix(",valid-before=\"")?.strip_suffix('"')?;
        let valid_before = Some(parse_option_time(time)?);
        if namespace == RESULT_NAMESPACE && principal == RESULT_PRINCIPAL {
            let key = PublicResultKey::from_key(&key)?;
            self.results.push(DatedKey { key, valid_after, valid_before });
        } else if namespace == KEY_CHANGE_NAMESPACE {
            let origin: LogOrigin = principal.parse().ok()?;
            let key = PublicLogKey::from_key(origin, &key)?;
            self.logs.push(DatedKey { key, valid_after, valid_before });
        } else {
            return None;
        }
        Some(())
    }

    pub(crate) fn has(&self, key: &PublicHostKey) -> bool {
        match key {
            PublicHostKey::Result(key) => self.results.iter().any(|dated| dated.key == *key),
            PublicHostKey::Log(key) => self.logs.iter().any(|dated| dated.key == *key),
        }
    }

    /// Returns the end of the last retired key of this role.
    pub(crate) fn last_end(&self, role: KeyRole) -> Option<UtcTime> {
        match role {
            KeyRole::Result => self.results.first().and_then(|last| last.valid_before),
            KeyRole::Log => self.logs.first().and_then(|last| last.valid_before),
        }
    }

    /// Adds the active key, which is valid from the end of the last retired one.
    pub(crate) fn with_result(mut self, key: PublicResultKey) -> PublicKeys {
        let valid_after = self.last_end(KeyRole::Result);
        self.results.insert(0, DatedKey { key, valid_after, valid_before: None });
        PublicKeys { results: self.results, logs: self.logs }
    }

    /// Adds the active key of the log, likewise.
    pub(crate) fn with_log(mut self, key: PublicLogKey) -> PublicKeys {
        let valid_after = self.last_end(KeyRole::Log);
        self.logs.insert(0, DatedKey { key, valid_after, valid_before: None });
        PublicKeys { results: self.results, logs: self.logs }
    }
}

/// Returns the line of a result key, active or retired.
pub(crate) fn result_line(dated: &DatedKey<PublicResultKey>) -> String {
    let options = options(RESULT_NAMESPACE, dated);
    format!("{RESULT_PRINCIPAL} {options} {}", dated.key.openssh_line())
}

/// Returns the line of a log key, active or retired.
pub(crate) fn log_line(dated: &DatedKey<PublicLogKey>) -> String {
    let options = options(KEY_CHANGE_NAMESPACE, dated);
    format!("{} {options} {}", dated.key.origin(), dated.key.openssh_line())
}

fn options<K>(namespace: &str, dated: &DatedKey<K>) -> String {
    let mut options = format!("namespaces=\"{namespace}\"");
    for (name, time) in [("valid-after", dated.valid_after), ("valid-before", dated.valid_before)] {
        if let Some(time) = time {
            options.push_str(&format!(",{name}=\"{}\"", time.compact().replace('-', "")));
        }
    }
    options
}

/// Parses `YYYYMMDDHHMMSSZ`.
fn parse_option_time(text: &str) -> Option<UtcTime> {
    let digits = text.strip_suffix('Z').filter(|digits| {
        digits.len() == 14 && digits.bytes().all(|digit| digit.is_ascii_digit())
    })?;
    let (date, time) = digits.split_at_checked(8)?;
    let ((year, date), (hour, time)) = (date.split_at_checked(4)?, time.split_at_checked(2)?);
    let ((month, day), (minute, second)) = (date.split_at_checked(2)?, time.split_at_checked(2)?);
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse().ok()
}
