//! The one command of a request: found in its section, split into words, and looked at word by
//! word. It is never run here, and it must never be given to a shell by anybody.

mod argv;
mod braces;
mod interpreter;
mod markup;
mod words;

use crate::code::Code;
use crate::report::{Report, Spot};
use crate::sections::Section;
use crate::text::{self, Line};
use crate::violation::Violation;

/// The longest command line, in bytes.
const LINE_BYTES_MAX: usize = 128 * 1024;
/// Linux accepts no longer argument (`MAX_ARG_STRLEN`, without its terminating NUL).
const WORD_BYTES_MAX: usize = 131_071;

pub(crate) struct Command {
    pub(crate) argv: Vec<String>,
    pub(crate) line: String,
}

/// Reads the command of the section. `inputs` are the declared names, None if nobody knows them.
pub(crate) fn read(
    section: &Section<'_>,
    hidden: bool,
    inputs: Option<&[&str]>,
    report: &mut Report,
) -> Option<Command> {
    if hidden {
        let message = "command: a Markdown reader does not see the heading above it";
        report.error(Code::CommandMarkup, section.spot, message);
    }
    let written: Vec<&Line<'_>> =
        section.lines.iter().filter(|line| !line.text.trim().is_empty()).collect();
    let (fences, commands): (Vec<&Line<'_>>, Vec<&Line<'_>>) =
        written.into_iter().partition(|line| is_fence(line.text));
    if let Some(fence) = fences.first() {
        let hint = "remove the fence; the command is one line of plain text";
        let spot = Spot::new(fence.number, 1);
        report.error_hint(Code::CommandCodeFence, spot, "command: it stands in a fence", hint);
    }
    let Some(first) = commands.first() else {
        let hint = "write it on one line under the heading";
        report.error_hint(Code::CommandEmpty, section.spot, "command: there is none", hint);
        return None;
    };
    if let Some(second) = commands.get(1) {
        let message = "command: more than one line";
        let hint = "exactly one line; no comments or prose in this section";
        let spot = Spot::new(second.number, 1);
        report.error_hint(Code::CommandMultipleLines, spot, message, hint);
    }
    let line = first.text.trim_matches([' ', '\t']).to_owned();
    read_line(first, inputs, report).map(|argv| Command { argv, line })
}

/// The words of one command line, checked alone: no front matter is known, so which files are
/// declared is not asked.
///
/// # Errors
/// Every violation, warnings included, if one of them is an error; the line is line 1.
pub fn command_words(text: &str) -> Result<Vec<String>, Vec<Violation>> {
    let mut report = Report::default();
    let lines = text::lines(text);
    text::check(&lines, &mut report);
    let section = Section { title: "Command", spot: Spot::new(1, 1), lines };
    let command = read(&section, false, None, &mut report);
    match command {
        Some(command) if !report.failed() => Ok(command.argv),
        _ => Err(report.into_rows()),
    }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    // Three backquotes in the middle of a line are no fence but a substitution.
    line.starts_with("~~~") || line.strip_prefix("```").is_some_and(|rest| !rest.contains('`'))
}

fn read_line(line: &Line<'_>, inputs: Option<&[&str]>, report: &mut Report) -> Option<Vec<String>> {
    if line.text.len() > LINE_BYTES_MAX {
        let message = format!("command: longer than {LINE_BYTES_MAX} bytes");
        report.error(Code::TextTooLarge, Spot::new(line.number, 1), message);
        return None;
    }
    let plain = markup::strip(line, report);
    let words = words::split(line, plain, report);
    argv::check(line.number, &words, inputs, report);
    let argv: Vec<String> = words.into_iter().map(|word| word.text).collect();
    (!argv.is_empty()).then_some(argv)
}
