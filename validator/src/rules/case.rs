//! An example of a rule as data: which document it starts from, what it changes there, and what is
//! to be said of the outcome. The text that people see and the bytes that are checked come from
//! the same words, so that an example can never be only decoration.

use super::base::Base;
use super::parts::Parts;

/// What a rule has to say of an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Its code as an error, and no other error.
    Error,
    /// Its code as a warning, and no error at all.
    Warning,
    /// Nothing; and nobody else has an error to report.
    Nothing,
}

/// How an example differs from its base. In its texts `«x × 3»` stands for x three times, `⏎` in
/// there for a line end, and `«byte ff»` for one byte that need not be UTF-8.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// The section `## Command` holds this.
    Command(&'static str),
    /// A front matter key and the lines that stand in its place; no lines leave the key out.
    Front(&'static str, &'static str),
    /// A section's title and what it holds.
    Section(&'static str, &'static str),
    /// The beginning of a line of the risk assessment and the line in its place, if any.
    Risk(&'static str, &'static str),
    /// This stands before the first section.
    Prose(&'static str),
    /// This stands above the front matter.
    Top(&'static str),
    /// These sections in this order; one that the base does not have says `See above.`
    Sections(&'static [&'static str]),
    /// The file has this name.
    FileName(&'static str),
    /// All of these changes.
    All(&'static [Example]),
    /// A situation that no document alone shows, described.
    Words(&'static str),
}

/// An example with its caption and what is expected of it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    expected: Expected,
    caption: &'static str,
    base: Base,
    example: Example,
}

/// A file as it would be checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    /// Its name, without directories.
    pub file_name: String,
    /// Its exact bytes.
    pub bytes: Vec<u8>,
}

pub(super) const fn bad(caption: &'static str, example: Example) -> Case {
    Case { expected: Expected::Error, caption, base: Base::Request, example }
}

pub(super) const fn warned(caption: &'static str, example: Example) -> Case {
    Case { expected: Expected::Warning, caption, base: Base::Request, example }
}

pub(super) const fn good(caption: &'static str, example: Example) -> Case {
    Case { expected: Expected::Nothing, caption, base: Base::Request, example }
}

impl Case {
    pub(super) const fn of(self, base: Base) -> Self {
        Self { base, ..self }
    }

    /// What the rule says of it.
    #[must_use]
    pub fn expected(&self) -> Expected {
        self.expected
    }

    /// What there is to see in it, in a few words.
    #[must_use]
    pub fn caption(&self) -> &'static str {
        self.caption
    }

    /// The document from which it starts.
    #[must_use]
    pub fn base(&self) -> Base {
        self.base
    }

    /// What it changes there.
    #[must_use]
    pub fn example(&self) -> Example {
        self.example
    }

    /// The file to check; None for a situation that is only described.
    #[must_use]
    pub fn document(&self) -> Option<Document> {
        let mut parts = Parts::of(self.base);
        change(&mut parts, &self.example)?;
        let file_name = parts.file_name.to_owned();
        Some(Document { file_name, bytes: expand(&parts.into_text()) })
    }
}

fn change(parts: &mut Parts, example: &Example) -> Option<()> {
    match *example {
        Example::Command(text) => parts.set_section("Command", text),
        Example::Front(key, lines) => parts.set_key(key, lines),
        Example::Section(title, text) => parts.set_section(title, text),
        Example::Risk(start, line) => parts.set_risk(start, line),
        Example::Prose(text) => parts.prose = text,
        Example::Top(text) => parts.top = text,
        Example::Sections(titles) => parts.choose_sections(titles),
        Example::FileName(name) => parts.file_name = name,
        Example::All(changes) => {
            return changes.iter().try_for_each(|example| change(parts, example));
        }
        Example::Words(_) => return None,
    }
    Some(())
}

/// The bytes that a text with `«…»` marks stands for.
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
