//! Types that the modules of this crate share: errors, and the state of a permission request.

use std::fmt;
use std::io;
use std::path::PathBuf;

use model::{ResultId, UtcTime};
use policies::{AllowedSignersError, PolicyError, RevokedKeysError};
use records::log::{LogError, ProofError};
use records::{
    HostKeyError, RecordBundleError, RotationError, SignError, VerifyError, reason_with_help,
    split_reason,
};
use spool::{LatestTime, PermissionStoreError, Shortage, SpoolError, io_text};

use crate::metrics::model::MetricsSocketError;

/// The state of the permission request for a held request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PermissionFiled {
    NotNeeded,
    /// It can be answered until this time.
    Until(UtcTime),
    /// Filing failed; the next decision retries.
    NotYet,
}

/// An error in the configuration or a file that it names; the text begins with the path.
#[derive(Debug)]
pub enum ConfigError {
    /// The file cannot be read, or is not a regular file.
    Read(PathBuf, io::Error),
    /// The file is larger than this limit, in bytes.
    TooLarge(PathBuf, usize),
    /// The file is not UTF-8 or cannot be parsed; the text has the reason.
    Syntax(PathBuf, String),
    /// A value is invalid, or other users can change the file; the text has the reason.
    Value(PathBuf, String),
    /// The policy has these problems; their text contains the path.
    Policy(PolicyError),
    /// A line of the `allowed_signers` file is invalid.
    Signers(PathBuf, AllowedSignersError),
    /// A part of the list of revoked keys is invalid.
    Revoked(PathBuf, RevokedKeysError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "{}: {}", path.display(), io_text(error)),
            Self::TooLarge(path, most) => {
                write!(f, "{}: larger than {most} bytes; help: use a smaller file", path.display())
            }
            Self::Syntax(path, what) => {
                write!(f, "{}: {}", path.display(), with_help(what, "correct the file"))
            }
            Self::Value(path, what) => {
                write!(f, "{}: {}", path.display(), with_help(what, "correct this value"))
            }
            Self::Policy(error) => error.fmt(f),
            Self::Signers(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Revoked(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// The help for an error that neither the operator nor the request has caused.
const REPORT: &str = "report this as a bug";
/// Further faults of one record add no information.
const FAULTS_SHOWN_MAX: usize = 3;

/// A fatal error: the daemon's own disk, key, log or kernel failed. Nothing is admitted afterwards.
#[derive(Debug)]
pub enum DaemonError {
    /// An operation on the spool, the ledger or the results failed.
    Spool(SpoolError),
    /// A key of this host cannot be used.
    Key(HostKeyError),
    /// A key change was started and not finished.
    KeyChange(RotationError),
    /// The record was not signed.
    Sign(SignError),
    /// The log of records cannot be opened, read or appended to.
    Log(LogError),
    /// The permission store failed or refused an operation.
    Permissions(PermissionStoreError),
    /// A file that the host itself uses cannot be read.
    EnvironmentFile(ConfigError),
    /// The request file of a record has changed since its verification; it must not be replayed.
    RequestChanged(PathBuf),
    /// The wall clock is earlier than the last recorded time.
    ClockBehind {
        /// The present time of the wall clock.
        now: UtcTime,
        /// The last recorded time, with the file that has it.
        last: LatestTime,
    },
    /// A request was held for an embedded run, which cannot wait.
    CannotHold,
    /// The metrics socket cannot be opened.
    Metrics(MetricsSocketError),
    /// A worker thread ended without reporting a result.
    WorkerDied,
    /// Another record of the same batch failed.
    BatchFailed,
    /// Another record of the same batch failed because of this shortage.
    BatchShortage(Shortage, String),
    /// The inclusion proof of the log is not valid for the record.
    Proof(ProofError),
    /// The signed record does not verify; it is not published.
    Unverified {
        /// The id of the result.
        record: ResultId,
        /// All faults of the record; the message has the first three.
        faults: Vec<VerifyError>,
    },
    /// The same for the bundle, which is the statement with its inclusion proof.
    InvalidBundle(RecordBundleError),
    /// A system call failed that needs no privilege.
    System(&'static str, io::Error),
}

impl DaemonError {
    /// Returns the shortage behind this error, if waiting can end it.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        match self {
            Self::Spool(error) => error.shortage(),
            Self::Log(error) | Self::KeyChange(RotationError::Log(error)) => {
                error.io_error().and_then(Shortage::of)
            }
            Self::Permissions(error) => error.shortage(),
            Self::Key(HostKeyError::Io { source, .. })
            | Self::KeyChange(RotationError::Key(HostKeyError::Io { source, .. })) => {
                Shortage::of(source)
            }
            Self::BatchShortage(want, _) => Some(*want),
            _ => None,
        }
    }
}

impl fmt::Display for DaemonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spool(error) => error.fmt(f),
            Self::Key(error) => {
                f.write_str(&with_help(&error.to_string(), "check the key (docs/keys.md)"))
            }
            Self::KeyChange(error) => {
                let what = "a key change was interrupted, and the next start finishes it";
                let help = "fix this error, then start the daemon";
                f.write_str(&with_help(&format!("{what}: {error}"), help))
            }
            Self::Sign(error) => {
                let help = match error.is_caused_by_statement() {
                    true => REPORT,
                    false => "check the key and its agent, then restart the daemon",
                };
                f.write_str(&with_help(&format!("the record cannot be signed: {error}"), help))
            }
            Self::RequestChanged(path) => {
                let shown = path.display();
                write!(f, "{shown}: changed after it was checked, so nothing ran; help: try again")
            }
            Self::EnvironmentFile(error) => error.fmt(f),
            Self::Permissions(error) => write!(f, "permissions: {error}"),
            Self::Log(error) => {
                let help = "check the log and its disk, then restart the daemon";
                f.write_str(&with_help(&format!("the record cannot be logged: {error}"), help))
            }
            Self::ClockBehind { now, last } => write!(
                f,
                "{}: its time, {}, is later than the clock's {now}; help: set the clock; if it was \
                 set back on purpose, start with --clock-was-set-back",
                last.path.display(),
                last.at
            ),
            Self::CannotHold => f.write_str(
                "the request was held, and an embedded run cannot wait for an answer; help: \
                 submit it to a daemon with `toolexec submit`",
            ),
            Self::Metrics(error) => error.fmt(f),
            Self::WorkerDied => f.write_str(
                "a worker thread ended without a result; help: restart the daemon, which records \
                 the request",
            ),
            Self::BatchShortage(want, why) => f.write_str(&with_help(why, want.remedy())),
            Self::BatchFailed => f.write_str(
                "another record of the same batch was not published; help: restart the daemon, \
                 which records the request",
            ),
            Self::Unverified { record, faults } => {
                write!(f, "{record}: the record does not verify and is not published")?;
                for fault in faults.iter().take(FAULTS_SHOWN_MAX) {
                    write!(f, "; {}", split_reason(&fault.to_string()).0)?;
                }
                write!(f, "; help: {REPORT}")
            }
            Self::InvalidBundle(fault) => {
                let what = "the bundle of the record does not verify";
                f.write_str(&with_help(&format!("{what}: {fault}"), REPORT))
            }
            Self::Proof(fault) => {
                let help = "check the log with `toolexec log fsck`";
                f.write_str(&with_help(&format!("the inclusion proof is not valid: {fault}"), help))
            }
            Self::System(what, error) => {
                let help = Shortage::of(error).map_or("restart the program", Shortage::remedy);
                write!(f, "{what}: {error}; help: {help}")
            }
        }
    }
}

impl std::error::Error for DaemonError {}

/// Adds help to a text that has none.
fn with_help(text: &str, help: &str) -> String {
    match split_reason(text) {
        (_, Some(_)) => text.to_owned(),
        (what, None) => reason_with_help(what, help),
    }
}

impl From<SpoolError> for DaemonError {
    fn from(error: SpoolError) -> Self {
        Self::Spool(error)
    }
}

impl From<HostKeyError> for DaemonError {
    fn from(error: HostKeyError) -> Self {
        Self::Key(error)
    }
}

impl From<RotationError> for DaemonError {
    fn from(error: RotationError) -> Self {
        Self::KeyChange(error)
    }
}

impl From<LogError> for DaemonError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<ConfigError> for DaemonError {
    fn from(error: ConfigError) -> Self {
        Self::EnvironmentFile(error)
    }
}

impl From<PermissionStoreError> for DaemonError {
    fn from(error: PermissionStoreError) -> Self {
        Self::Permissions(error)
    }
}

impl From<ProofError> for DaemonError {
    fn from(fault: ProofError) -> Self {
        Self::Proof(fault)
    }
}

impl From<SignError> for DaemonError {
    fn from(error: SignError) -> Self {
        Self::Sign(error)
    }
}
