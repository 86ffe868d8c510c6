//! The rules for text that people read: everything except the command and the YAML form. They never
//! claim anything about the behavior of a script; only the text itself is checked.
//!
//! Front matter is part of the request. A host path or an installation is an error there, unless
//! the sentence forbids it (`No access to /etc`). In prose, an instruction is an error and a
//! mention is a warning (see [`crate::speech`] for the reason). In a list of files, a host path is
//! always an error.

use model::{Line, SourceSpan, has_deceptive, quote};

use crate::code::Code;
use crate::document::Document;
use crate::node::{Node, Value};
use crate::packages;
use crate::paths::{self, Kind};
use crate::privileges;
use crate::report::Report;
use crate::secrets;
use crate::shells;
use crate::speech::{self, Speech, Word};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Prose,
    Listing,
    FrontMatter,
}

/// Checks lines of prose. If `strict`, the lines list files, and a host path is an error.
pub(crate) fn check(lines: &[Line<'_>], strict: bool, report: &mut Report) {
    let words = speech::read(lines.iter().map(|line| line.text));
    let text = if strict { Text::Listing } else { Text::Prose };
    let place = |word: &Word<'_>, end: usize| {
        let Some(line) = lines.get(word.line) else { return SourceSpan::WHOLE_FILE };
        let meant = line.text.get(word.at..end).unwrap_or("");
        line.spot(word.at).wide(meant.chars().count())
    };
    check_words(&words, text, &place, report);
}

/// Checks the values of the front matter: a secret may hide behind YAML's escapes.
pub(crate) fn check_front_matter(front: &Node, lines: &[Line<'_>], report: &mut Report) {
    let escapes = lines.iter().any(|line| line.text.contains(['\\', '\'']));
    front.each_scalar(&mut |text, spot| {
        // The raw text is checked already; the value after YAML's unescaping may differ from it.
        if !escapes && spot.width > 0 {
            return;
        }
        for found in secrets::find(text) {
            secrets::report(&found, spot, report);
        }
    });
    let Value::Map(entries) = &front.value else { return };
    for entry in entries.iter().filter(|entry| entry.key.starts_with("x-")) {
        check_extension(&entry.node, report);
    }
    for entry in entries {
        // The paths of inputs and outputs have their own rules and codes.
        let own = ["inputs", "outputs_expected"].contains(&entry.key.as_str());
        check_values(&entry.node, own, report);
    }
}

/// Checks a foreign extension, which may contain anything except invisible characters.
fn check_extension(node: &Node, report: &mut Report) {
    node.each_scalar(&mut |text, spot| {
        if text.split('\n').any(has_deceptive) {
            let message = "an extension: control, direction or invisible characters";
            report.error(Code::FrontmatterValue, spot, message);
        }
    });
}

fn check_values(node: &Node, own: bool, report: &mut Report) {
    match &node.value {
        Value::Scalar { text, .. } if !is_plain_word(text) => {
            let words = speech::read(text.lines());
            check_words(&words, Text::FrontMatter, &|_, _| node.spot, report);
        }
        Value::Scalar { .. } => {}
        Value::List(items) => items.iter().for_each(|item| check_values(item, own, report)),
        Value::Map(entries) => {
            let read = |key: &str| !own || !["name", "path", "sha256"].contains(&key);
            let entries = entries.iter().filter(|entry| read(&entry.key));
            entries.for_each(|entry| check_values(&entry.node, own, report));
        }
    }
}

/// Returns true if a value is one word and not a path. Most values are, and an instruction has at
/// least two words.
fn is_plain_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte);
    text.bytes().all(plain) && !text.contains("..")
}

enum Found<'a> {
    Install(Speech),
    Shell,
    Privilege,
    Path(Kind, &'a str),
}

fn check_words(
    words: &[Word<'_>],
    text: Text,
    place: &dyn Fn(&Word<'_>, usize) -> SourceSpan,
    report: &mut Report,
) {
    let (mut line, mut told, mut warned) = (0, 0, Vec::new());
    for (index, word) in words.iter().enumerate() {
        // The report is full, so further violations would be dropped.
        if report.is_full() {
            return;
        }
        if word.line != line {
            (line, told, warned) = (word.line, 0, Vec::new());
        }
        // Limits the violations of a line, which is refused already.
        if told >= paths::TOLD_PER_LINE {
            continue;
        }
        for (found, wrong, count) in judge(words, index, text).into_iter().flatten() {
            let Some(code) = found.code() else { continue };
            if !wrong && warned.contains(&code) {
                continue;
            }
            let spot = place(word, end(words, index, count));
            if wrong {
                told += 1;
                report.error_hint(code, spot, found.message(), found.hint());
            } else {
                warned.push(code);
                if !report.has_enough_warnings() {
                    report.warning(code, spot, found.message());
                }
            }
        }
    }
}

/// Returns the findings that begin at this word: the finding, true for an error, and the number of
/// words.
fn judge<'a>(
    words: &[Word<'a>],
    index: usize,
    text: Text,
) -> [Option<(Found<'a>, bool, usize)>; 4] {
    let install = packages::spoken(words, index)
        .map(|(count, speech)| (Found::Install(speech), is_wrong(speech, text), count));
    let shell = shells::spoken(words, index).map(|count| (Found::Shell, true, count));
    let privilege = privileges::spoken(words, index).map(|count| (Found::Privilege, true, count));
    let listing = text == Text::Listing;
    let path = paths::spoken(words, index, listing)
        .map(|seen| (Found::Path(seen.kind, seen.path), listing || is_wrong(seen.speech, text), 1));
    [install, shell, privilege, path]
}

fn is_wrong(speech: Speech, text: Text) -> bool {
    match text {
        Text::Prose | Text::Listing => speech == Speech::Instruction,
        Text::FrontMatter => speech != Speech::Denial,
    }
}

impl Found<'_> {
    fn code(&self) -> Option<Code> {
        match self {
            Self::Install(_) => Some(Code::PackageInstall),
            Self::Shell => Some(Code::CommandShell),
            Self::Privilege => Some(Code::CommandPrivilege),
            Self::Path(kind, _) => kind.wrong().map(|(code, _)| code),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Install(Speech::Instruction) => {
                "text: an instruction to install packages".to_owned()
            }
            Self::Install(_) => "text: mentions the installation of packages".to_owned(),
            Self::Shell => "text: an instruction to run a shell".to_owned(),
            Self::Privilege => "text: an instruction to run with more rights".to_owned(),
            Self::Path(kind, path) => {
                format!("text: {} {}", quote(path), kind.wrong().map_or("", |(_, what)| what))
            }
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Install(_) => packages::HINT,
            Self::Shell => "write the one command under `## Command`; no shell runs",
            Self::Privilege => "remove it; a tool has only the rights of its sandbox",
            Self::Path(kind, _) => kind.hint(),
        }
    }
}

/// Returns the end of the last of these words that is on the line of the first.
fn end(words: &[Word<'_>], index: usize, count: usize) -> usize {
    let from = words.get(index..).unwrap_or_default();
    let line = from.first().map_or(0, |word| word.line);
    let same = from.iter().take(count).take_while(|word| word.line == line);
    same.last().map_or(0, |word| word.at + word.text.len())
}

/// Reports text that looks like a secret, anywhere in the document.
pub(crate) fn check_secrets(text: &str, document: &Document<'_>, report: &mut Report) {
    for found in secrets::find_in_text(text) {
        let characters = text.get(found.offset..found.offset + found.width).unwrap_or("");
        let width = characters.lines().next().unwrap_or("").chars().count();
        let spot = document.spot(found.offset).wide(width);
        secrets::report(&found, spot, report);
    }
}
