//! Output: answers to stdout, everything else to stderr. If the reader closes stdout early (`|
//! head`), printing stops, but the command continues and its exit status is unchanged.

pub(crate) mod figures;
pub(crate) mod human;
pub(crate) mod page;
pub(crate) mod pager;
pub(crate) mod progress;
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

pub(crate) use file::{replace_file, replace_own_file, replace_with};
pub(crate) use json::{path, refusal, violation};

/// Prints a line of the answer.
pub(crate) fn line(line: impl Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    ignore_broken_pipe(writeln!(out, "{line}").and_then(|()| out.flush()))
}

/// Prints a text of the answer that contains its own line ends.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    bytes(text.as_bytes())
}

/// Prints exact bytes of the answer.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    ignore_broken_pipe(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Ignores a closed pipe: a reader that leaves early is not an error.
pub(crate) fn ignore_broken_pipe(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Io("stdout".into(), error))
        }
        _ => Ok(()),
    }
}

/// Prints a message to stderr, prefixed with the name of the program.
pub(crate) fn note(what: impl Display) {
    // The message may contain an untrusted name. Its line ends are the program's.
    let what = what.to_string();
    let lines: Vec<String> = what.split('\n').flat_map(with_help).collect();
    stderr_line(format_args!("toolexec: {}", lines.join("\n")));
}

/// Returns the escaped line, and its help as a line of its own.
fn with_help(line: &str) -> impl Iterator<Item = String> {
    let (problem, help) = records::split_reason(line);
    let help = help.map(|help| format!("help: {}", escape_line(help)));
    [escape_line(problem)].into_iter().chain(help)
}

/// Prints the reason of a refusal and returns exit status 2.
pub(crate) fn report_refusal(why: &str) -> ExitCode {
    note(why);
    ExitCode::from(2)
}

/// Prints a line to stderr without a prefix; the line names its own location.
pub(crate) fn stderr_line(line: impl Display) {
    // A closed stderr cannot be reported anywhere.
    writeln!(io::stderr().lock(), "{line}").unwrap_or_default();
}
