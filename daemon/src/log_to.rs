//! Where the daemon's own log goes: to the journal as fields where stderr is the journal, else to stderr as
//! lines. The same events go either way; nothing is decided by them.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use rustix::fs::fstat;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

/// Where the log went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogTo {
    /// The journal's own socket: `journalctl REQUEST=TR-…` finds every line about a request.
    Journal,
    Stderr,
}

/// How much is logged, by what `TOOLEXEC_LOG` in the environment says: `info`, which it is without it, or
/// `debug`.
///
/// # Errors
/// It says anything else; the text is for whoever set it.
pub fn level(named: Option<&str>) -> Result<LevelFilter, String> {
    match named {
        None | Some("" | "info") => Ok(LevelFilter::INFO),
        Some("debug") => Ok(LevelFilter::DEBUG),
        Some(other) => Err(format!("TOOLEXEC_LOG: {other:?} is no level; write info or debug")),
    }
}

/// Begins to log, for as long as the program lives.
///
/// # Errors
/// The program logs somewhere already.
pub fn begin(level: LevelFilter) -> Result<LogTo, TryInitError> {
    let named = std::env::var("JOURNAL_STREAM").unwrap_or_default();
    if is_stream(&named, io::stderr())
        && let Ok(journal) = tracing_journald::layer()
    {
        // Field names of our own, as they are in the table of transitions, without a prefix.
        let journal =
            journal.with_field_prefix(None).with_syslog_identifier("toolexecd".to_owned());
        tracing_subscriber::registry().with(level).with(journal).try_init()?;
        return Ok(LogTo::Journal);
    }
    let colour = wants_colour();
    let lines = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(level)
        .with_ansi(colour)
        .with_target(false)
        .without_time()
        // A log that is gone must not end a run: saying so on stderr would panic.
        .log_internal_errors(false);
    lines.finish().try_init()?;
    Ok(LogTo::Stderr)
}

/// Whether a stream is the one that `JOURNAL_STREAM` means, `device:inode` (systemd.exec(5)): a service whose
/// stderr was sent elsewhere has the variable all the same.
fn is_stream(named: &str, stream: impl AsFd) -> bool {
    let Ok(found) = fstat(stream) else { return false };
    named == format!("{}:{}", found.st_dev, found.st_ino)
}

/// A journal keeps escape sequences as they are; only a terminal understands them.
fn wants_colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal() && !refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_stream_that_is_named_is_the_journal() {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        let found = fstat(&file).unwrap();
        assert!(is_stream(&format!("{}:{}", found.st_dev, found.st_ino), &file));
        assert!(!is_stream(&format!("{}:{}", found.st_dev, found.st_ino + 1), &file));
        assert!(!is_stream("", &file));
    }
}
