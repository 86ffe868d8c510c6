//! A request's command: found, split, checked, never run. No component may pass it to a shell.

mod argv;
mod bare;
mod braces;
mod expansions;
mod interpreter;
mod markup;
mod operators;
mod words;

use model::{SourceSpan, TextLine};

use crate::code::Code;
use crate::declarations::CommandInputs;
use crate::report::Report;
use crate::sections::Section;
use crate::text;
use crate::violation::Violation;
use words::ShellWord;

/// The maximum length of the command line in bytes.
const LINE_BYTES_MAX: usize = 128 * 1024;
/// The maximum number of words. A message to the launcher has four bytes more for each word, and the
/// variables of the run.
const WORDS_MAX: usize = 8000;

pub(crate) struct RequestCommand {
    pub(crate) argv: Vec<String>,
    pub(crate) line: String,
}

/// Reads the command of the section. `inputs` are the declared ones, or None if they are unknown.
pub(crate) fn read(
    section: &Section<'_>,
    hidden: bool,
    inputs: Option<CommandInputs<'_>>,
    report: &mut Report,
) -> Option<RequestCommand> {
    if hidden {
        let message = "command: a Markdown reader does not see the heading above it";
        report.error(Code::CommandMarkup, section.spot, message);
    }
    let found = find_command(section, report)?;
    let words = words(found, report)?;
    argv::check(found.number, &words, inputs, report);
    let argv = words.into_iter().map(|word| word.text).collect();
    let line = found.text.get(markup::without_blanks(found.text)).unwrap_or("").to_owned();
    Some(RequestCommand { argv, line })
}

/// Returns true if a word of the command is program text to the program that receives it.
pub(crate) fn has_inline_code(argv: &[String]) -> bool {
    let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
    let program = interpreter::program(&argv);
    interpreter::roles(&program, &argv).iter().any(|part| part.role == interpreter::RoleKind::Code)
}

/// Returns the line that is the command, and reports all other lines of the section.
fn find_command<'s, 'a>(section: &'s Section<'a>, report: &mut Report) -> Option<&'s TextLine<'a>> {
    let written = section.lines.iter().filter(|line| !line.text.trim().is_empty());
    let (fences, commands): (Vec<&TextLine<'_>>, Vec<&TextLine<'_>>) =
        written.partition(|line| is_fence(line.text));
    if let Some(fence) = fences.first() {
        let hint = "remove the fence; the command is one line of plain text";
        let message = "command: it is in a code fence";
        report.error_hint(Code::CommandCodeFence, trimmed_span(fence), message, hint);
    }
    let Some(first) = commands.first() else {
        let hint = "write it on one line under the heading";
        report.error_hint(Code::CommandEmpty, section.spot, "command: missing", hint);
        return None;
    };
    if let Some(second) = commands.get(1) {
        let message = "command: more than one line";
        let hint = "write exactly one line, without comments or prose";
        report.error_hint(Code::CommandMultipleLines, trimmed_span(second), message, hint);
    }
    Some(first)
}

/// Returns the words of one command line. Without a front matter, declared files do not count.
///
/// # Errors
/// Every violation, warnings included, if one of them is an error; the line is line 1.
pub fn command_words(text: &str) -> Result<Vec<String>, Vec<Violation>> {
    check_one_line(text, |section, report| {
        read(section, false, None, report).map(|command| command.argv)
    })
}

/// Returns the words that a shell would see in one line, by syntax alone: no check of the program.
///
/// # Errors
/// Every violation, warnings included, if one of them is an error; the line is line 1.
pub fn shell_words(text: &str) -> Result<Vec<String>, Vec<Violation>> {
    check_one_line(text, |section, report| {
        let line = find_command(section, report)?;
        words(line, report).map(|words| words.into_iter().map(|word| word.text).collect())
    })
}

/// Calls `read` with a section that consists of this one line.
fn check_one_line(
    text: &str,
    read: impl FnOnce(&Section<'_>, &mut Report) -> Option<Vec<String>>,
) -> Result<Vec<String>, Vec<Violation>> {
    let mut report = Report::default();
    let lines = model::lines(text);
    text::check(text, &lines, &mut report);
    let section = Section { title: "Command", spot: SourceSpan::new(1, 1), lines };
    match read(&section, &mut report) {
        Some(argv) if !report.failed() => Ok(argv),
        _ => Err(report.into_rows()),
    }
}

/// Returns the span of the line without the blanks around it.
fn trimmed_span(line: &TextLine<'_>) -> SourceSpan {
    let shown = markup::without_blanks(line.text);
    let width = line.text.get(shown.clone()).unwrap_or("").chars().count();
    line.span_at(shown.start).with_width(width)
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    // Three backquotes within a line are a substitution, not a fence.
    line.starts_with("~~~") || line.strip_prefix("```").is_some_and(|rest| !rest.contains('`'))
}

fn words(line: &TextLine<'_>, report: &mut Report) -> Option<Vec<ShellWord>> {
    if line.text.len() > LINE_BYTES_MAX {
        let message = format!("command: longer than {LINE_BYTES_MAX} bytes");
        report.error(Code::TextTooLarge, SourceSpan::new(line.number, 1), message);
        return None;
    }
    let plain = markup::strip(line, report);
    let words = words::split(line, plain, report);
    if words.len() > WORDS_MAX {
        let message = format!("command: more than {WORDS_MAX} words");
        let hint = "put the data in an input file";
        report.error_hint(Code::TextTooLarge, SourceSpan::new(line.number, 1), message, hint);
        return None;
    }
    (!words.is_empty()).then_some(words)
}
