//! Where words go: answers to stdout, everything else to stderr. Whoever reads may leave early
//! (`| head`): that ends the printing, never the command, and never changes its exit code.

pub(crate) mod human;
pub(crate) mod live;
pub(crate) mod page;
pub(crate) mod pager;
pub(crate) mod sarif;
pub(crate) mod screen;
pub(crate) mod terminal;

mod file;
mod json;

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use model::escape_line;

use crate::failure::Failure;

pub(crate) use file::{write_anew, write_out};
pub(crate) use json::{path, refusal, violation};

/// A line of the answer.
pub(crate) fn line(line: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    settle(writeln!(out, "{line}").and_then(|()| out.flush()))
}

/// A text of the answer that has its own line ends.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    settle(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What became of writing to stdout: an answer that nobody waits for is no failure.
pub(crate) fn settle(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Io("stdout".into(), error))
        }
        _ => Ok(()),
    }
}

/// A line for people beside the answer, in this program's name.
pub(crate) fn note(what: impl Display) {
    // A name in it may be somebody else's. Its own line ends are ours.
    let what = what.to_string();
    let lines: Vec<String> = what.split('\n').map(escape_line).collect();
    aside(format_args!("toolexec: {}", lines.join("\n")));
}

/// Says why a command did not do what was asked; exit code 2.
pub(crate) fn refused(why: &str) -> ExitCode {
    note(why);
    ExitCode::from(2)
}

/// A line for people beside the answer that names its own place.
pub(crate) fn aside(line: impl Display) {
    // There is nowhere left to say that stderr is closed.
    writeln!(io::stderr().lock(), "{line}").unwrap_or_default();
}
