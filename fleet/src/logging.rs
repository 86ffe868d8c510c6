//! Sets up the log of the agent: lines on standard error, which a unit leads to the journal. No
//! decision depends on it.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Starts logging, for the rest of the process. `TOOLEXEC_LOG` is the level: `info` or `debug`.
///
/// # Errors
/// Another level, or a logger is already installed.
pub(crate) fn begin() -> Result<(), String> {
    let named = std::env::var_os("TOOLEXEC_LOG");
    let level = level(named.as_deref().map(|it| it.to_str().unwrap_or("?")))?;
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let lines = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(level)
        .with_ansi(io::stderr().is_terminal() && !refused)
        .with_target(false)
        .without_time()
        // If stderr is closed, an error message on stderr would panic and end the program.
        .log_internal_errors(false);
    let begun = lines.finish().try_init();
    begun.map_err(|error| format!("log: {error}; help: report this as a bug"))
}

fn level(named: Option<&str>) -> Result<LevelFilter, String> {
    match named {
        None | Some("" | "info") => Ok(LevelFilter::INFO),
        Some("debug") => Ok(LevelFilter::DEBUG),
        Some(other) => {
            Err(format!("TOOLEXEC_LOG: {other:?} is not a level; help: set it to info or debug"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_levels_have_names() {
        assert_eq!(level(None), Ok(LevelFilter::INFO));
        assert_eq!(level(Some("")), Ok(LevelFilter::INFO));
        assert_eq!(level(Some("debug")), Ok(LevelFilter::DEBUG));
        assert!(level(Some("trace")).is_err());
    }
}
