//! Long texts on a terminal, through the person's own pager. What goes to a pipe or a file is never
//! paged, and a pager that cannot be had, or fails, only means that the text scrolls by.

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::output;

/// Shows the text, and returns when the person has left the pager.
pub(crate) fn page(text: &str, at_once: bool) -> Result<(), Failure> {
    if at_once || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return output::text(text);
    }
    let chosen = env::var("PAGER").ok().filter(|chosen| !chosen.trim().is_empty());
    let chosen = chosen.unwrap_or_else(|| "less -R".to_owned());
    // As every program does that honours PAGER: it may have options of its own.
    let started = Command::new("/bin/sh").arg("-c").arg(&chosen).stdin(Stdio::piped()).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            output::note(format_args!("{chosen}: {error}"));
            return output::text(text);
        }
    };
    let mut written = Ok(());
    if let Some(mut stdin) = child.stdin.take() {
        written = stdin.write_all(text.as_bytes());
    }
    let ended = child.wait().map_err(|error| Failure::Said(format!("{chosen}: {error}")))?;
    match written {
        // Whoever has seen enough leaves.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Said(format!("{chosen}: {error}")))
        }
        _ if ended.success() => Ok(()),
        // Nobody knows how much of it was shown.
        _ => {
            output::note(format_args!("{chosen}: {ended}; printed instead"));
            output::text(text)
        }
    }
}
