//! An example of a rule as data: its base document, its changes, and the expected finding. The
//! displayed text and the checked bytes have one source, so an example can never be untested.

use super::base::Base;
use super::document_parts::DocumentParts;

/// The expected finding of a rule in an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpectedFinding {
    /// Its code as an error, and no other error.
    Error,
    /// Its code as a warning, and no error at all.
    Warning,
    /// No finding of this rule, and no error of any other.
    Nothing,
}

/// The difference between an example and its base. Marks in its texts: `«x × 3»` is x three times,
/// `⏎` within it is a line end. `«byte ff»` is one byte, which need not be UTF-8.
#[derive(Clone, Copy, Debug)]
pub enum ExampleChange {
    /// The content of the section `## Command`.
    Command(&'static str),
    /// A front matter key and the lines that replace it; no lines remove the key.
    Front(&'static str, &'static str),
    /// A section's title and its content.
    Section(&'static str, &'static str),
    /// The beginning of a line of the risk assessment, and its replacement, if any.
    Risk(&'static str, &'static str),
    /// Text before the first section.
    Prose(&'static str),
    /// Text above the front matter.
    Top(&'static str),
    /// These sections in this order; a section that the base lacks contains `See above.`
    Sections(&'static [&'static str]),
    /// The name of the file.
    FileName(&'static str),
    /// All of these changes.
    All(&'static [ExampleChange]),
    /// The description of a situation that a document alone cannot show.
    Situation(&'static str),
}

/// An example with its caption and its expected finding.
#[derive(Clone, Copy, Debug)]
pub struct RuleExample {
    expected: ExpectedFinding,
    caption: &'static str,
    base: Base,
    example: ExampleChange,
}

/// A file to check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExampleFile {
    /// Its name, without directories.
    pub file_name: String,
    /// Its exact bytes.
    pub bytes: Vec<u8>,
}

pub(super) const fn rejected(caption: &'static str, example: ExampleChange) -> RuleExample {
    RuleExample { expected: ExpectedFinding::Error, caption, base: Base::Request, example }
}

pub(super) const fn rejected_with_warning(
    caption: &'static str,
    example: ExampleChange,
) -> RuleExample {
    RuleExample { expected: ExpectedFinding::Warning, caption, base: Base::Request, example }
}

pub(super) const fn accepted(caption: &'static str, example: ExampleChange) -> RuleExample {
    RuleExample { expected: ExpectedFinding::Nothing, caption, base: Base::Request, example }
}

impl RuleExample {
    pub(super) const fn of(self, base: Base) -> Self {
        Self { base, ..self }
    }

    /// Returns the expected finding of the rule.
    #[must_use]
    pub fn expected(&self) -> ExpectedFinding {
        self.expected
    }

    /// Returns a short caption.
    #[must_use]
    pub fn caption(&self) -> &'static str {
        self.caption
    }

    /// Returns the base document.
    #[must_use]
    pub fn base(&self) -> Base {
        self.base
    }

    /// Returns the change to the base document.
    #[must_use]
    pub fn example(&self) -> ExampleChange {
        self.example
    }

    /// Returns the file to check; None for a situation that is only described.
    #[must_use]
    pub fn document(&self) -> Option<ExampleFile> {
        let mut parts = DocumentParts::of(self.base);
        change(&mut parts, &self.example)?;
        let file_name = parts.file_name.to_owned();
        Some(ExampleFile { file_name, bytes: expand(&parts.into_text()) })
    }
}

fn change(parts: &mut DocumentParts, example: &ExampleChange) -> Option<()> {
    match *example {
        ExampleChange::Command(text) => parts.set_section("Command", text),
        ExampleChange::Front(key, lines) => parts.set_key(key, lines),
        ExampleChange::Section(title, text) => parts.set_section(title, text),
        ExampleChange::Risk(start, line) => parts.set_risk(start, line),
        ExampleChange::Prose(text) => parts.prose = text,
        ExampleChange::Top(text) => parts.top = text,
        ExampleChange::Sections(titles) => parts.choose_sections(titles),
        ExampleChange::FileName(name) => parts.file_name = name,
        ExampleChange::All(changes) => {
            return changes.iter().try_for_each(|example| change(parts, example));
        }
        ExampleChange::Situation(_) => return None,
    }
    Some(())
}

/// Expands the `«…»` marks of a text to bytes.
fn expand(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('«') {
        let (mark, tail) = after.split_once('»').unwrap_or((after, ""));
        bytes.extend(before.as_bytes());
        if let Some((piece, times)) = mark.rsplit_once(" × ") {
            let piece = piece.replace('⏎', "\n");
            bytes.extend(piece.repeat(times.parse().unwrap_or(1)).as_bytes());
        } else if let Some(byte) = mark.strip_prefix("byte ") {
            bytes.extend(u8::from_str_radix(byte, 16));
        }
        rest = tail;
    }
    bytes.extend(rest.as_bytes());
    bytes
}
