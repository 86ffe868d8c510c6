//! The errors of a query. None of them permits a start.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::gate::GATE_LINE_BYTES_MAX;

/// The reason why the gate gave no answer. The text begins with the path of the gate, except that
/// of a cancellation.
#[derive(Debug)]
pub enum GateError {
    /// No connection could be made.
    Unreachable(PathBuf, io::Error),
    /// The connection failed during this act.
    Lost(PathBuf, &'static str, io::Error),
    /// No answer came within this time.
    Silent(PathBuf, Duration),
    /// The answer is longer than [`GATE_LINE_BYTES_MAX`] bytes.
    TooLong(PathBuf),
    /// The answer is not one of the protocol; the text has the reason.
    Invalid(PathBuf, String),
    /// The caller ended the wait.
    Cancelled,
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions = "help: use toolexecd and toolexec-fleet of the same version";
        match self {
            Self::Unreachable(path, error) => write!(
                f,
                "{}: cannot reach the gate of the fleet: {error}; help: see systemctl status \
                 toolexec-fleet, and fleet.socket in toolexecd.yaml",
                path.display()
            ),
            Self::Lost(path, act, error) => write!(
                f,
                "{}: the gate of the fleet was lost while {act}: {error}; help: see the messages \
                 of toolexec-fleet: journalctl -u toolexec-fleet",
                path.display()
            ),
            Self::Silent(path, time) => write!(
                f,
                "{}: the gate of the fleet gave no answer within {} s; help: see the messages of \
                 toolexec-fleet: journalctl -u toolexec-fleet",
                path.display(),
                time.as_secs_f64().ceil()
            ),
            Self::TooLong(path) => write!(
                f,
                "{}: the gate of the fleet sent more than {GATE_LINE_BYTES_MAX} bytes without a \
                 line feed; {versions}",
                path.display()
            ),
            Self::Invalid(path, what) => write!(
                f,
                "{}: the gate of the fleet sent an invalid answer: {}; {versions}",
                path.display(),
                model::escape_line(what)
            ),
            Self::Cancelled => f.write_str(
                "the wait for the gate of the fleet was cancelled; help: submit the request again",
            ),
        }
    }
}

impl std::error::Error for GateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreachable(_, error) | Self::Lost(_, _, error) => Some(error),
            Self::Silent(..) | Self::TooLong(_) | Self::Invalid(..) | Self::Cancelled => None,
        }
    }
}
