//! Which log is meant, under which key, and what a person is told where either is not what was
//! typed. A log must never be opened under a key that came with it, unless it is one's own.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use records::PublicKeys;
use records::log::{Checkpoint, CheckpointFault, LogError, LogPlace, LogView, PublicLogKey};

use crate::args::StateOption;
use crate::args::files::read_file;
use crate::failure::Failure;

/// Which log, and what checks it.
#[derive(Args)]
pub(crate) struct LogOptions {
    /// The log's directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["spool", "dir"])]
    pub(super) log: Option<PathBuf>,
    /// The spool whose daemon keeps the log
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    pub(super) spool: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateOption,
    /// The log's public key, `log.pub` of its host [default: that of the state]
    #[arg(long, value_name = "FILE")]
    pub(super) log_key: Option<PathBuf>,
}

/// Room for every key that a log ever had.
const KEYS_BYTES_MAX: usize = 64 * 1024;
/// Room for the signatures of many witnesses.
const NOTE_BYTES_MAX: usize = 64 * 1024;

/// Why a command stops.
pub(crate) enum Halt {
    /// A check said no: exit code 1. The message names its object.
    No(String),
    Failure(Failure),
}

impl<F: Into<Failure>> From<F> for Halt {
    fn from(failure: F) -> Self {
        Self::Failure(failure.into())
    }
}

/// A log at its newest checkpoint, which this key signed.
pub(crate) struct Opened {
    pub(crate) directory: PathBuf,
    pub(crate) view: LogView,
    pub(crate) key: PublicLogKey,
    /// All that it may ever have had.
    pub(crate) keys: Vec<PublicLogKey>,
}

impl Opened {
    pub(crate) fn at(place: &LogOptions) -> Result<Self, Halt> {
        let (directory, keys) = (directory(place)?, keys(place)?);
        let own = own(place)?;
        if let Some(own) = &own {
            own.check_there().map_err(|error| explain(error, &directory))?;
        }
        let none = || Halt::from(format!("{}: no key to check it", directory.display()));
        let (in_force, retired) = keys.split_first().ok_or_else(none)?;
        match LogView::open(&directory, in_force) {
            Ok(view) => {
                let grew = own.as_ref().map_or(Ok(()), |own| own.check(&view));
                grew.map_err(|error| explain(error, &directory))?;
                let key = in_force.clone();
                Ok(Self { directory, view, key, keys })
            }
            // Whoever has an old key must not speak for the log of now.
            Err(LogError::Checkpoint { path, .. })
                if retired.iter().any(|key| LogView::open(&directory, key).is_ok()) =>
            {
                Err(Halt::No(format!(
                    "{}: signed by a key of this log that was retired{}; the key in force is {}",
                    path.display(),
                    retired_on(place, &directory).unwrap_or_default(),
                    in_force.fingerprint()
                )))
            }
            Err(error) => Err(explain(error, &directory)),
        }
    }

    /// What a check of this log came to.
    pub(crate) fn said<T>(&self, what: Result<T, LogError>) -> Result<T, Halt> {
        what.map_err(|error| explain(error, &self.directory))
    }

    /// A checkpoint of this log that somebody saved.
    pub(crate) fn saved(&self, path: &Path) -> Result<Checkpoint, Halt> {
        let bytes = read_file(path, NOTE_BYTES_MAX)?;
        self.checkpoint(&String::from_utf8_lossy(&bytes)).map_err(|fault| {
            let told = format!("{}: {fault}", path.display());
            match fault {
                CheckpointFault::Form => {
                    Halt::from(format!("{told}; name a file that `toolexec log head --note` wrote"))
                }
                CheckpointFault::Origin => {
                    Halt::from(format!("{told}; this one is {}", self.key.origin()))
                }
                _ => Halt::No(told),
            }
        })
    }

    /// By the key that fits, of those that the log has had.
    pub(crate) fn checkpoint(&self, note: &str) -> Result<Checkpoint, CheckpointFault> {
        let newest = Checkpoint::verify(note, &self.key);
        if newest.is_ok() {
            return newest;
        }
        let mut others = self.keys.iter().filter_map(|key| Checkpoint::verify(note, key).ok());
        others.next().map_or(newest, Ok)
    }
}

fn directory(place: &LogOptions) -> Result<PathBuf, Halt> {
    match (&place.log, &place.spool) {
        (Some(log), _) => Ok(log.clone()),
        (None, Some(spool)) => Ok(spool.join("log")),
        (None, None) => Ok(place.state.path()?.join("log")),
    }
}

/// When the key that signed the newest checkpoint was retired, where the state says so.
fn retired_on(place: &LogOptions, directory: &Path) -> Option<String> {
    own(place).ok()??;
    let keys = PublicKeys::open(&place.state.path().ok()?.join("keys")).ok()?;
    let signed = keys.logs().iter().find(|key| LogView::open(directory, key.key()).is_ok())?;
    signed.valid_before().map(|time| format!(" on {time}"))
}

/// The state also keeps what its log was.
fn own(place: &LogOptions) -> Result<Option<LogPlace>, Failure> {
    match (&place.log, &place.spool) {
        (None, None) => Ok(Some(LogPlace::of_state(&place.state.path()?))),
        _ => Ok(None),
    }
}

/// Only the state has its key beside it: it is the person's own.
fn keys(place: &LogOptions) -> Result<Vec<PublicLogKey>, Halt> {
    match &place.log_key {
        Some(file) => keys_of(file),
        None if place.log.is_some() || place.spool.is_some() => Err(Halt::from(
            "--log-key: name the log's public key (log.pub of its host, had by a way that you \
             trust)"
                .to_owned(),
        )),
        None => keys_of(&place.state.path()?.join("keys/log.pub")),
    }
}

/// The keys in a file of verifier lines.
fn keys_of(file: &Path) -> Result<Vec<PublicLogKey>, Halt> {
    let bytes = match read_file(file, KEYS_BYTES_MAX) {
        Err(Failure::Io(path, error)) if error.kind() == ErrorKind::NotFound => {
            return Err(Halt::from(format!(
                "{}: no key of a log; name the state that has one with --state, or a log with \
                 --log and its key with --log-key",
                path.display()
            )));
        }
        read => read?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let keys: Option<Vec<_>> = lines.map(PublicLogKey::from_verifier_line).collect();
    keys.filter(|keys| !keys.is_empty()).ok_or_else(|| {
        Halt::from(format!(
            "{}: not the public key of a log: a verifier line, NAME+ID+KEY, of an Ed25519 key",
            file.display()
        ))
    })
}

/// What is wrong with the files or with who signed them is a check's no; what was typed wrongly, or
/// cannot be read, is not.
fn explain(error: LogError, directory: &Path) -> Halt {
    let log = directory.display();
    match &error {
        LogError::Io { path, source, .. }
            if path == directory && source.kind() == ErrorKind::NotFound =>
        {
            Halt::from(format!(
                "{log}: no such log; its first record makes it; that of a daemon is in its spool: \
                 name that with --spool"
            ))
        }
        LogError::Missing { path } if *path == directory.join("checkpoint") => {
            Halt::from(format!("{log}: no log: it has no checkpoint"))
        }
        LogError::Checkpoint { fault: CheckpointFault::Origin, .. } => {
            Halt::No(format!("{error}; --log-key names the key of another log"))
        }
        LogError::Checkpoint { fault: CheckpointFault::Unsigned, .. } => Halt::No(format!(
            "{error}: the key is of another log, or the checkpoint is not the log's"
        )),
        LogError::Checkpoint { .. }
        | LogError::Damaged { .. }
        | LogError::Lost { .. }
        | LogError::Missing { .. } => Halt::No(error.to_string()),
        _ => Halt::from(error.to_string()),
    }
}
