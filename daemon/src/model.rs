//! Types that the modules of this crate share: configuration errors, the daemon's own fatal error,
//! and the state of a permission request.

use std::fmt;
use std::io;
use std::path::PathBuf;

use model::{ResultId, UtcTime};
use policies::{PolicyError, RevokedError, SignersError};
use records::log::{LogError, ProofFault};
use records::{
    BundleFault, Fault, KeyError, RotationError, SignError, reason_with_help, split_reason,
};
use spool::{LastKnown, SpoolError, StoreError, Want};

use crate::metrics::model::SocketError;

/// The state of a request's permission request: `Yes` if it is filed or not needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PermissionFiled {
    Yes,
    /// Filing failed; the next decision retries.
    NotYet,
}

/// An error in the configuration or a file that it names; the text begins with the path.
#[derive(Debug)]
pub enum ConfigError {
    Read(PathBuf, io::Error),
    TooLarge(PathBuf, usize),
    Syntax(PathBuf, String),
    Value(PathBuf, String),
    Policy(PolicyError),
    Signers(PathBuf, SignersError),
    Revoked(PathBuf, RevokedError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "{}: {error}", path.display()),
            Self::TooLarge(path, most) => {
                write!(f, "{}: larger than {most} bytes", path.display())
            }
            Self::Syntax(path, what) | Self::Value(path, what) => {
                write!(f, "{}: {what}", path.display())
            }
            Self::Policy(error) => error.fmt(f),
            Self::Signers(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Revoked(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Further faults of one record add no information.
const FAULTS_SHOWN_MAX: usize = 3;

/// A fatal error: the daemon's own disk, key, log or kernel failed. No request causes it. Nothing
/// is admitted afterwards.
#[derive(Debug)]
pub enum Halt {
    Spool(SpoolError),
    Key(KeyError),
    /// A key change was started and not finished.
    KeyChange(RotationError),
    Sign(SignError),
    Log(LogError),
    Permissions(StoreError),
    /// A file that the host itself uses cannot be read.
    Supply(ConfigError),
    /// The request file of a record has changed since the record was verified; it must not be
    /// replayed.
    OtherRequest(PathBuf),
    /// The wall clock is earlier than the last recorded time.
    ClockBehind {
        now: UtcTime,
        last: LastKnown,
    },
    /// A request was held for an embedded run, which cannot wait.
    NobodyHolds,
    /// The metrics socket cannot be opened.
    Metrics(SocketError),
    /// A worker thread ended without reporting a result.
    WorkerDied,
    /// Another record of the same batch failed.
    Together,
    /// Another record of the same batch failed because of this shortage.
    Wanting(Want, String),
    /// The inclusion proof of the log is not valid for the record.
    Proof(ProofFault),
    /// The signed record does not verify; it is not published.
    Unverified {
        record: ResultId,
        faults: Vec<Fault>,
    },
    /// The same for the bundle, which is the statement with its inclusion proof.
    Unproved(BundleFault),
    /// A system call failed that needs no privilege.
    Kernel(&'static str, io::Error),
}

impl Halt {
    /// Returns the shortage behind this error, if waiting can end it.
    #[must_use]
    pub fn want(&self) -> Option<Want> {
        match self {
            Self::Spool(error) => error.want(),
            Self::Log(error) | Self::KeyChange(RotationError::Log(error)) => {
                error.failed_call().and_then(Want::of)
            }
            Self::Permissions(error) => error.want(),
            Self::Key(KeyError::Io { source, .. })
            | Self::KeyChange(RotationError::Key(KeyError::Io { source, .. })) => Want::of(source),
            Self::Wanting(want, _) => Some(*want),
            _ => None,
        }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spool(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
            Self::KeyChange(error) => {
                let what = "a key change was interrupted, and the next start finishes it";
                let help = "fix this error, then start the daemon";
                f.write_str(&with_help(&format!("{what}: {error}"), help))
            }
            Self::Sign(error) => write!(f, "the record cannot be signed: {error}"),
            Self::OtherRequest(path) => {
                let shown = path.display();
                write!(f, "{shown}: changed after its record was verified; help: verify it again")
            }
            Self::Supply(error) => error.fmt(f),
            Self::Permissions(error) => write!(f, "permissions: {error}"),
            Self::Log(error) => write!(f, "the record cannot be logged: {error}"),
            Self::ClockBehind { now, last } => write!(
                f,
                "{}: its time, {}, is later than the clock's {now}; help: set the clock; if it was \
                 set back on purpose, start once with --clock-was-set-back",
                last.path.display(),
                last.at
            ),
            Self::NobodyHolds => {
                f.write_str("the request was held, and an embedded run cannot wait for an answer")
            }
            Self::Metrics(error) => error.fmt(f),
            Self::WorkerDied => f.write_str(
                "a worker thread ended without a result; help: restart the daemon, which records \
                 the request",
            ),
            Self::Wanting(_, why) => f.write_str(why),
            Self::Together => f.write_str("another record of the same batch was not published"),
            Self::Unverified { record, faults } => {
                write!(f, "{record}: the record does not verify and is not published")?;
                faults.iter().take(FAULTS_SHOWN_MAX).try_for_each(|fault| write!(f, "; {fault}"))
            }
            Self::Unproved(fault) => write!(f, "the bundle of the record does not verify: {fault}"),
            Self::Proof(fault) => write!(f, "the inclusion proof is not valid: {fault}"),
            Self::Kernel(what, error) => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for Halt {}

/// Adds a help to a text that has none.
fn with_help(text: &str, help: &str) -> String {
    match split_reason(text) {
        (_, Some(_)) => text.to_owned(),
        (what, None) => reason_with_help(what, help),
    }
}

impl From<SpoolError> for Halt {
    fn from(error: SpoolError) -> Self {
        Self::Spool(error)
    }
}

impl From<KeyError> for Halt {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<RotationError> for Halt {
    fn from(error: RotationError) -> Self {
        Self::KeyChange(error)
    }
}

impl From<LogError> for Halt {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<ConfigError> for Halt {
    fn from(error: ConfigError) -> Self {
        Self::Supply(error)
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Permissions(error)
    }
}

impl From<ProofFault> for Halt {
    fn from(fault: ProofFault) -> Self {
        Self::Proof(fault)
    }
}

impl From<SignError> for Halt {
    fn from(error: SignError) -> Self {
        Self::Sign(error)
    }
}
