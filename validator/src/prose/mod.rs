//! The rules for text that people read: everything except the command and the YAML form. They never
//! claim anything about the behavior of a script; only the text itself is checked. In front matter,
//! a host path or an installation is an error unless the sentence forbids it (`No access to /etc`).
//! In prose, an instruction is an error and a mention is a warning (see [`crate::prose_analysis`]
//! for the reason). In a list of files, a host path is always an error.

use model::{SourceSpan, TextLine, has_deceptive, quote};

use crate::code::Code;
use crate::document::RequestDocument;
use crate::outputs::PATCH_OF;
use crate::packages;
use crate::paths::{self, PathKind};
use crate::privileges;
use crate::prose_analysis::{self, MentionKind, ProseToken};
use crate::report::Report;
use crate::secrets;
use crate::shells;
use crate::text::has_byte;
use crate::yaml::{YamlNode, YamlValue};

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Prose,
    Listing,
    FrontMatter,
}

/// Checks lines of prose. If `strict`, the lines list files, and a host path is an error.
pub(crate) fn check(lines: &[TextLine<'_>], strict: bool, report: &mut Report) {
    let words = prose_analysis::read(lines.iter().map(|line| line.text));
    let text = if strict { TextKind::Listing } else { TextKind::Prose };
    let place = |word: &ProseToken<'_>, end: usize| {
        let Some(line) = lines.get(word.line) else { return SourceSpan::WHOLE_FILE };
        let meant = line.text.get(word.at..end).unwrap_or("");
        line.span_at(word.at).with_width(meant.chars().count())
    };
    check_words(&words, text, &place, report);
}

/// Checks the values of the front matter: a secret may hide behind YAML's escapes.
pub(crate) fn check_front_matter(front: &YamlNode, lines: &[TextLine<'_>], report: &mut Report) {
    let escapes =
        lines.iter().any(|line| has_byte(line.text, |byte| matches!(byte, b'\\' | b'\'')));
    front.each_scalar(&mut |text, spot| {
        // The raw text is checked already; the value after YAML's unescaping may differ from it.
        if !escapes && spot.width > 0 {
            return;
        }
        for found in secrets::find(text) {
            secrets::report(&found, spot, report);
        }
    });
    let YamlValue::Map(entries) = &front.value else { return };
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
fn check_extension(node: &YamlNode, report: &mut Report) {
    node.each_scalar(&mut |text, spot| {
        if text.split('\n').any(has_deceptive) {
            let message = "an extension: control, direction or invisible characters";
            report.error(Code::FrontmatterValue, spot, message);
        }
    });
}

fn check_values(node: &YamlNode, own: bool, report: &mut Report) {
    match &node.value {
        YamlValue::Scalar { text, .. } if !is_plain_word(text) => {
            let words = prose_analysis::read(text.lines());
            check_words(&words, TextKind::FrontMatter, &|_, _| node.spot, report);
        }
        YamlValue::Scalar { .. } => {}
        YamlValue::List(items) => items.iter().for_each(|item| check_values(item, own, report)),
        YamlValue::Map(entries) => {
            let read = |key: &str| !own || !["name", "path", "sha256", PATCH_OF].contains(&key);
            let entries = entries.iter().filter(|entry| read(&entry.key));
            entries.for_each(|entry| check_values(&entry.node, own, report));
        }
    }
}

/// Returns true for one word that is not a path. Most values are; an instruction has two words.
fn is_plain_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte);
    text.bytes().all(plain) && !text.contains("..")
}

enum ProseFinding<'a> {
    Install(MentionKind),
    Shell,
    Privilege,
    Path(PathKind, &'a str),
}

fn check_words(
    words: &[ProseToken<'_>],
    text: TextKind,
    place: &dyn Fn(&ProseToken<'_>, usize) -> SourceSpan,
    report: &mut Report,
) {
    let (mut line, mut reported, mut warned) = (0, 0, Vec::new());
    for (index, word) in words.iter().enumerate() {
        // The report is full, so further violations would be dropped.
        if report.is_full() {
            return;
        }
        if word.line != line {
            (line, reported, warned) = (word.line, 0, Vec::new());
        }
        // Limits the violations of a line, which is refused already.
        if reported >= paths::REPORTED_PER_LINE_MAX {
            continue;
        }
        for (found, wrong, count) in findings_at(words, index, text).into_iter().flatten() {
            let Some(code) = found.code() else { continue };
            if !wrong && warned.contains(&code) {
                continue;
            }
            let spot = place(word, end_on_first_line(words, index, count));
            if wrong {
                reported += 1;
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

/// Returns the findings that begin at this word, each with true for an error and its word count.
fn findings_at<'a>(
    words: &[ProseToken<'a>],
    index: usize,
    text: TextKind,
) -> [Option<(ProseFinding<'a>, bool, usize)>; 4] {
    let install = packages::find_mention(words, index)
        .map(|(count, speech)| (ProseFinding::Install(speech), is_error(speech, text), count));
    let shell =
        shells::find_instruction(words, index).map(|count| (ProseFinding::Shell, true, count));
    let privilege = privileges::find_instruction(words, index)
        .map(|count| (ProseFinding::Privilege, true, count));
    let listing = text == TextKind::Listing;
    let path = paths::find_mention(words, index, listing).map(|seen| {
        (ProseFinding::Path(seen.kind, seen.path), listing || is_error(seen.mention, text), 1)
    });
    [install, shell, privilege, path]
}

fn is_error(speech: MentionKind, text: TextKind) -> bool {
    match text {
        TextKind::Prose | TextKind::Listing => speech == MentionKind::Instruction,
        TextKind::FrontMatter => speech != MentionKind::Denial,
    }
}

impl ProseFinding<'_> {
    fn code(&self) -> Option<Code> {
        match self {
            Self::Install(_) => Some(Code::PackageInstall),
            Self::Shell => Some(Code::CommandShell),
            Self::Privilege => Some(Code::CommandPrivilege),
            Self::Path(kind, _) => kind.violation().map(|(code, _)| code),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Install(MentionKind::Instruction) => {
                "text: an instruction to install packages".to_owned()
            }
            Self::Install(_) => "text: mentions the installation of packages".to_owned(),
            Self::Shell => "text: an instruction to run a shell".to_owned(),
            Self::Privilege => "text: an instruction to run with more rights".to_owned(),
            Self::Path(kind, path) => {
                format!("text: {} {}", quote(path), kind.violation().map_or("", |(_, what)| what))
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
fn end_on_first_line(words: &[ProseToken<'_>], index: usize, count: usize) -> usize {
    let from = words.get(index..).unwrap_or_default();
    let line = from.first().map_or(0, |word| word.line);
    let same = from.iter().take(count).take_while(|word| word.line == line);
    same.last().map_or(0, |word| word.at + word.text.len())
}

/// Reports text that looks like a secret, anywhere in the document.
pub(crate) fn check_secrets(text: &str, document: &RequestDocument<'_>, report: &mut Report) {
    for found in secrets::find_in_text(text) {
        let characters = text.get(found.offset..found.offset + found.width).unwrap_or("");
        let width = characters.lines().next().unwrap_or("").chars().count();
        let spot = document.spot(found.offset).with_width(width);
        secrets::report(&found, spot, report);
    }
}
