//! Sets up the daemon's own log: fields to the journal if stderr is the journal, else lines to
//! stderr. Both get the same events, and no decision depends on them.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use rustix::fs::fstat;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

/// The destination of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogDestination {
    /// The journal's own socket: `journalctl REQUEST=TR-…` finds every line about a request.
    Journal,
    /// Lines on stderr.
    Stderr,
}

/// Returns the log level for the value of `TOOLEXEC_LOG`: `info` (the default) or `debug`.
///
/// # Errors
/// Any other value; the message is for the operator.
pub fn level(named: Option<&str>) -> Result<LevelFilter, String> {
    match named {
        None | Some("" | "info") => Ok(LevelFilter::INFO),
        Some("debug") => Ok(LevelFilter::DEBUG),
        Some(other) => {
            Err(format!("TOOLEXEC_LOG: {other:?} is not a level; help: set it to info or debug"))
        }
    }
}

/// Starts logging, for the rest of the process.
///
/// # Errors
/// A logger is already installed.
pub fn begin(level: LevelFilter) -> Result<LogDestination, TryInitError> {
    let named = std::env::var("JOURNAL_STREAM").unwrap_or_default();
    if is_stream(&named, io::stderr())
        && let Ok(journal) = tracing_journald::layer()
    {
        // The field names are those of the table of transitions, without the default prefix.
        let journal =
            journal.with_field_prefix(None).with_syslog_identifier("toolexecd".to_owned());
        tracing_subscriber::registry().with(level).with(journal).try_init()?;
        return Ok(LogDestination::Journal);
    }
    let colour = wants_colour();
    let lines = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(level)
        .with_ansi(colour)
        .with_target(false)
        .without_time()
        // If stderr is closed, an error message on stderr would panic and end a run.
        .log_internal_errors(false);
    lines.finish().try_init()?;
    Ok(LogDestination::Stderr)
}

/// Returns whether a stream is the one that `JOURNAL_STREAM` names as `device:inode`
/// (systemd.exec(5)). A service whose stderr was redirected still has the variable.
fn is_stream(named: &str, stream: impl AsFd) -> bool {
    let Ok(found) = fstat(stream) else { return false };
    named == format!("{}:{}", found.st_dev, found.st_ino)
}

/// The journal stores escape sequences literally, so that only a terminal gets colour.
fn wants_colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal() && !refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_stream_is_the_journal() {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        let found = fstat(&file).unwrap();
        assert!(is_stream(&format!("{}:{}", found.st_dev, found.st_ino), &file));
        assert!(!is_stream(&format!("{}:{}", found.st_dev, found.st_ino + 1), &file));
        assert!(!is_stream("", &file));
    }
}
