//! Long texts on a terminal: through the user's pager, or page by page without one. Output to a
//! pipe or a file is never paged. Lines that were not shown must always be counted.

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use rustix::termios::tcgetwinsize;

use crate::failure::Failure;
use crate::output;
use crate::output::terminal::Terminal;

/// The size assumed for a terminal that does not report one.
const ROWS: usize = 24;
const COLUMNS: usize = 80;
/// The answer that leaves the pager.
const LEAVE: &str = "q";

/// Shows a text and returns the number of lines that were certainly not shown. A pager does not
/// report how far the user read.
pub(crate) fn page(text: &str, at_once: bool) -> Result<usize, Failure> {
    if at_once || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return output::text(text).map(|()| 0);
    }
    let chosen = env::var("PAGER").ok().filter(|chosen| !chosen.trim().is_empty());
    let Some(chosen) = chosen.or_else(|| has_less().then(|| "less -R".to_owned())) else {
        return by_pages(text);
    };
    // `PAGER` is run through a shell, as is usual: it may contain options.
    let started = Command::new("/bin/sh").arg("-c").arg(&chosen).stdin(Stdio::piped()).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            output::note(format_args!("{chosen}: {error}; help: correct PAGER"));
            return by_pages(text);
        }
    };
    let mut written = Ok(());
    if let Some(mut stdin) = child.stdin.take() {
        written = stdin.write_all(text.as_bytes());
    }
    let failed = |error: io::Error| {
        Failure::Message(format!("{chosen}: {error}; help: pass --no-pager, or correct PAGER"))
    };
    let ended = child.wait().map_err(failed)?;
    match written {
        // A closed pipe means that the user left the pager early.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(failed(error)),
        _ if ended.success() => Ok(0),
        // It is unknown how much was shown.
        _ => {
            output::note(format_args!("{chosen}: {ended}; showing the text page by page"));
            by_pages(text)
        }
    }
}

fn has_less() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| {
        let found = directory.join("less").metadata();
        found.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    })
}

/// Shows one screen of lines at a time, until the end of the text or until the user leaves.
fn by_pages(text: &str) -> Result<usize, Failure> {
    let mut terminal = Terminal::open()
        .map_err(|failure| Failure::Message(format!("{failure}; help: pass --no-pager")))?;
    let mut lines = text.lines().peekable();
    while lines.peek().is_some() {
        let (rows, columns) = size();
        let mut rows_left = rows.saturating_sub(1).max(1);
        let mut shown = String::new();
        while let Some(line) = lines.peek() {
            // A line wider than the terminal takes several rows.
            let taken = line.chars().count().div_ceil(columns).max(1);
            if taken > rows_left && !shown.is_empty() {
                break;
            }
            rows_left = rows_left.saturating_sub(taken);
            shown.push_str(line);
            shown.push('\n');
            lines.next();
        }
        output::text(&shown)?;
        let more = lines.clone().count();
        let question = format!("-- {more} more lines: Enter continues, {LEAVE} quits: ");
        if more > 0 && terminal.ask_fresh(&question)? == LEAVE {
            return Ok(more);
        }
    }
    Ok(0)
}

fn size() -> (usize, usize) {
    let size = tcgetwinsize(io::stdout()).ok();
    let or = |number: u16, usual: usize| if number == 0 { usual } else { usize::from(number) };
    size.map_or((ROWS, COLUMNS), |it| (or(it.ws_row, ROWS), or(it.ws_col, COLUMNS)))
}
