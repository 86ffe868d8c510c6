//! The script of a request: an input file that the command names.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use spool::SubmissionFiles;
use validator::{Code, Request, Violation};

use super::answer::ConstructProblem;

/// Monty reads no larger script.
const SCRIPT_BYTES_MAX: u64 = 1 << 20;

/// A script, and its name among the inputs.
pub(super) struct ScriptInput {
    name: String,
    pub(super) text: String,
}

impl ScriptInput {
    /// Returns the violation for a construct of the script, without a place in the request.
    pub(super) fn violation(&self, problem: &ConstructProblem) -> Violation {
        let ConstructProblem { line, column, message } = problem;
        let message = format!("{}:{line}:{column}: monty refuses it: {message}", self.name);
        Violation::error(Code::CodeUnsupported, message)
    }
}

/// Reads the script of a request, which is beside the file. `None` if the command names none.
///
/// # Errors
/// The reason why it cannot be read.
pub(super) fn read(file: &Path, request: &Request) -> Result<Option<ScriptInput>, String> {
    if !request.is_python_script() {
        return Ok(None);
    }
    let Some(word) = request.argv().get(1) else { return Ok(None) };
    let name = word.strip_prefix("/in/").unwrap_or(word).to_owned();
    let submission = SubmissionFiles::read(file, None).map_err(|why| why.problem())?;
    let path = submission.inputs().join(&name);
    let failed = |why: &dyn fmt::Display| format!("script {}: {why}", path.display());
    let opened = open(submission.inputs(), &name).map_err(|why| failed(&why))?;
    let mut bytes = Vec::new();
    opened
        .take(SCRIPT_BYTES_MAX.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|why| failed(&why))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > SCRIPT_BYTES_MAX {
        return Err(failed(&format_args!("larger than {SCRIPT_BYTES_MAX} bytes")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(ScriptInput { name, text })),
        Err(why) => Err(failed(&why.utf8_error())),
    }
}

/// Opens a regular file below the directory. Links are refused, because the request declares a
/// file of its own.
fn open(directory: &Path, name: &str) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(directory, flags | OFlags::DIRECTORY, Mode::empty())?;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    // A FIFO might never end.
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(openat2(&directory, name, flags, Mode::empty(), beneath)?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// Returns line and column of the command, which the section has as its first line.
pub(super) fn place_of_command(text: &str, command: &str) -> (usize, usize) {
    let section = text.lines().zip(1..).skip_while(|(line, _)| line.trim_end() != "## Command");
    let found = section.skip(1).find_map(|(line, number)| {
        let before = line.get(..line.find(command)?)?;
        Some((number, before.chars().count() + 1))
    });
    found.unwrap_or((1, 1))
}

#[cfg(test)]
mod tests {
    use super::place_of_command;

    #[test]
    fn a_command_is_found_in_its_section() {
        let text = "purpose: python a.py\n\n## Command\n\n  `python a.py`\n";
        assert_eq!(place_of_command(text, "python a.py"), (5, 4));
        assert_eq!(place_of_command(text, "python b.py"), (1, 1));
    }
}
