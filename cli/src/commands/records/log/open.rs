//! Opens the named log with its key, and explains errors. A log must never be verified with a key
//! that was delivered with it, except in the caller's own state.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use records::PublicKeys;
use records::log::{Checkpoint, CheckpointError, LogError, LogLocation, LogView, PublicLogKey};

use crate::args::StateOption;
use crate::args::files::read_file;
use crate::failure::Failure;

/// The log and its key.
#[derive(Args)]
pub(crate) struct LogOptions {
    /// Read the log in this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["spool", "dir"])]
    pub(super) log: Option<PathBuf>,
    /// Read the log of this spool's daemon
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    pub(super) spool: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateOption,
    /// Verify the log with this public key, `log.pub` of its host; required with --log and --spool
    /// [default: that of the state directory]
    #[arg(long, value_name = "FILE")]
    pub(super) log_key: Option<PathBuf>,
}

/// Sufficient for every key that a log ever had.
const KEYS_BYTES_MAX: usize = 64 * 1024;
/// Sufficient for the signatures of many witnesses.
const NOTE_BYTES_MAX: usize = 64 * 1024;
const NAME_KEY: &str = "help: name the key of this log with --log-key";

pub(crate) enum LogCommandError {
    /// A check failed: exit status 1. The message names its object.
    CheckFailed(String),
    Failure(Failure),
}

impl<F: Into<Failure>> From<F> for LogCommandError {
    fn from(failure: F) -> Self {
        Self::Failure(failure.into())
    }
}

/// A log at its newest checkpoint, which `key` signed.
pub(crate) struct OpenedLog {
    pub(crate) directory: PathBuf,
    pub(crate) view: LogView,
    pub(crate) key: PublicLogKey,
    /// All keys that the log may have had.
    pub(crate) keys: Vec<PublicLogKey>,
}

impl OpenedLog {
    pub(crate) fn at(place: &LogOptions) -> Result<Self, LogCommandError> {
        let (directory, keys) = (directory(place)?, keys(place)?);
        let own = own_log_place(place)?;
        if let Some(own) = &own {
            own.check_exists().map_err(|error| explain(error, &directory))?;
        }
        let none = || {
            let help = "name its key with --log-key";
            let directory = directory.display();
            LogCommandError::from(format!("{directory}: no key to verify it; help: {help}"))
        };
        let (in_force, retired) = keys.split_first().ok_or_else(none)?;
        match LogView::open(&directory, in_force) {
            Ok(view) => {
                let grew = own.as_ref().map_or(Ok(()), |own| own.check(&view));
                grew.map_err(|error| explain(error, &directory))?;
                let key = in_force.clone();
                Ok(Self { directory, view, key, keys })
            }
            // A retired key must not sign the present log.
            Err(LogError::Checkpoint { path, .. })
                if retired.iter().any(|key| LogView::open(&directory, key).is_ok()) =>
            {
                Err(LogCommandError::CheckFailed(format!(
                    "{}: signed by a key of this log that was retired{}; the active key is {}; \
                     help: use the present log, or restore it",
                    path.display(),
                    retired_on(place, &directory).unwrap_or_default(),
                    in_force.fingerprint()
                )))
            }
            Err(error) => Err(explain(error, &directory)),
        }
    }

    pub(crate) fn checked<T>(&self, what: Result<T, LogError>) -> Result<T, LogCommandError> {
        what.map_err(|error| explain(error, &self.directory))
    }

    pub(crate) fn saved(&self, path: &Path) -> Result<Checkpoint, LogCommandError> {
        let bytes = read_file(path, NOTE_BYTES_MAX)?;
        self.checkpoint(&String::from_utf8_lossy(&bytes)).map_err(|fault| {
            let problem = format!("{}: {fault}", path.display());
            match fault {
                CheckpointError::Form => {
                    let help = "name a file that `toolexec log head --note` wrote";
                    LogCommandError::from(format!("{problem}; help: {help}"))
                }
                CheckpointError::Origin => {
                    let help = "name a checkpoint of this log";
                    let origin = self.key.origin();
                    LogCommandError::from(format!("{problem}; this log is {origin}; help: {help}"))
                }
                _ => {
                    let help = "name another checkpoint, or the key of this log with --log-key";
                    LogCommandError::CheckFailed(format!("{problem}; help: {help}"))
                }
            }
        })
    }

    /// Verifies a checkpoint with the present key, else with a former key of the log.
    pub(crate) fn checkpoint(&self, note: &str) -> Result<Checkpoint, CheckpointError> {
        let newest = Checkpoint::verify(note, &self.key);
        if newest.is_ok() {
            return newest;
        }
        let mut others = self.keys.iter().filter_map(|key| Checkpoint::verify(note, key).ok());
        others.next().map_or(newest, Ok)
    }
}

fn directory(place: &LogOptions) -> Result<PathBuf, LogCommandError> {
    match (&place.log, &place.spool) {
        (Some(log), _) => Ok(log.clone()),
        (None, Some(spool)) => Ok(spool.join("log")),
        (None, None) => Ok(place.state.path()?.join("log")),
    }
}

/// Returns the time at which the signing key was retired, if the state knows it.
fn retired_on(place: &LogOptions, directory: &Path) -> Option<String> {
    own_log_place(place).ok()??;
    let keys = PublicKeys::open(&place.state.path().ok()?.join("keys")).ok()?;
    let signed = keys.logs().iter().find(|key| LogView::open(directory, key.key()).is_ok())?;
    signed.valid_before().map(|time| format!(" on {time}"))
}

/// Returns the log's place in the state, which also records the log's earlier size.
fn own_log_place(place: &LogOptions) -> Result<Option<LogLocation>, Failure> {
    match (&place.log, &place.spool) {
        (None, None) => Ok(Some(LogLocation::of_state(&place.state.path()?))),
        _ => Ok(None),
    }
}

/// Reads the log's keys. Only the caller's own state may supply its key along with the log.
fn keys(place: &LogOptions) -> Result<Vec<PublicLogKey>, LogCommandError> {
    match &place.log_key {
        Some(file) => keys_of(file, &read_file(file, KEYS_BYTES_MAX)?),
        None if place.log.is_some() || place.spool.is_some() => Err(LogCommandError::from(
            "--log-key: missing; help: name the log's public key (log.pub of its host, from a \
             source that you trust)"
                .to_owned(),
        )),
        None => own_keys(&place.state.path()?.join("keys/log.pub")),
    }
}

fn own_keys(file: &Path) -> Result<Vec<PublicLogKey>, LogCommandError> {
    match read_file(file, KEYS_BYTES_MAX) {
        Err(Failure::Io(path, error)) if error.kind() == ErrorKind::NotFound => {
            Err(LogCommandError::from(format!(
                "{}: no key of a log; help: make it with `toolexec keys init`, or name another \
                 state with --state",
                path.display()
            )))
        }
        read => keys_of(file, &read?),
    }
}

fn keys_of(file: &Path, bytes: &[u8]) -> Result<Vec<PublicLogKey>, LogCommandError> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let keys: Option<Vec<_>> = lines.map(PublicLogKey::from_verifier_line).collect();
    keys.filter(|keys| !keys.is_empty()).ok_or_else(|| {
        LogCommandError::from(format!(
            "{}: not the public key of a log; help: name a file with a verifier line, \
             NAME+ID+KEY, of an Ed25519 key",
            file.display()
        ))
    })
}

/// Damage and wrong signatures are failed checks. Wrong arguments and unreadable files are errors.
fn explain(error: LogError, directory: &Path) -> LogCommandError {
    let log = directory.display();
    match &error {
        LogError::Io { path, source, .. }
            if path == directory && source.kind() == ErrorKind::NotFound =>
        {
            LogCommandError::from(format!(
                "{log}: no such log; help: add a first record, or name the spool of a daemon with \
                 --spool"
            ))
        }
        LogError::Missing { path } if *path == directory.join("checkpoint") => {
            LogCommandError::from(format!(
                "{log}: not a log: it has no checkpoint; help: name a log with --log or --spool"
            ))
        }
        LogError::Checkpoint { path, fault: fault @ CheckpointError::Origin } => {
            LogCommandError::CheckFailed(format!("{}: {fault}; {NAME_KEY}", path.display()))
        }
        LogError::Checkpoint { path, fault: fault @ CheckpointError::Unsigned } => {
            LogCommandError::CheckFailed(format!(
                "{}: {fault}: the key or the checkpoint belongs to another log; {NAME_KEY}",
                path.display()
            ))
        }
        LogError::Checkpoint { .. }
        | LogError::Damaged { .. }
        | LogError::Lost { .. }
        | LogError::Missing { .. } => LogCommandError::CheckFailed(error.to_string()),
        _ => LogCommandError::from(error.to_string()),
    }
}
