//! The text of an input as the approver reads it: numbered lines, deceptive characters shown by
//! number, secrets masked, suspicious places flagged. Omitted lines are counted, and so are the
//! flags in them: nothing may hide beyond the limit.

use std::collections::BTreeSet;
use std::path::Path;

use validator::{Code, Violation, decode_text, input_warnings, reveal_line};

use super::inputs::InputFile;
use super::model::InputTexts;
use crate::output::human::source::SourceText;

const LINES_MAX: usize = 400;
const LINE_CHARS_MAX: usize = 2000;
/// The part of a file that identifies its format.
const HEAD_BYTES: usize = 8 * 1024;

/// Extensions of files that an interpreter reads as text even if they contain binary bytes.
const PROGRAM_EXTENSIONS: [&str; 20] = [
    "cjs", "cts", "go", "js", "json", "jsx", "mjs", "mts", "pth", "py", "pyi", "pyw", "rake", "rb",
    "rbw", "sh", "toml", "ts", "tsx", "yaml",
];

/// The form in which an input is shown.
pub(super) enum InputReading {
    Text(ReadingText),
    /// Not shown. The text describes the format.
    Binary(&'static str),
}

pub(super) struct ReadingText {
    pub(super) lines: Vec<ReadingLine>,
    /// The number of omitted lines, and of flagged lines among them.
    pub(super) lines_more: usize,
    pub(super) marked_more: usize,
    /// The number of bytes that are not UTF-8. Each is shown as `\x..`.
    pub(super) not_utf8: usize,
    /// Bytes beyond the kept part of the file.
    pub(super) bytes_more: u64,
}

pub(super) struct ReadingLine {
    pub(super) number: usize,
    pub(super) text: String,
    pub(super) chars_more: usize,
    /// Code and message of each flag.
    pub(super) marks: Vec<(String, String)>,
}

impl InputReading {
    /// Classifies an input. `named` says that the command refers to it. A file that could be
    /// executed is shown as text even if it contains binary bytes.
    pub(super) fn of(name: &str, found: &InputFile, named: bool, texts: InputTexts) -> Self {
        let extension = Path::new(name).extension().and_then(|it| it.to_str()).unwrap_or("");
        let is_program = PROGRAM_EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str());
        let head = &found.head[..found.head.len().min(HEAD_BYTES)];
        let kind = kind_of(head);
        match kind {
            Some(kind) if !is_program && head.contains(&0) => Self::Binary(kind),
            _ if !is_program && !named && is_mostly_binary(&found.head) => {
                Self::Binary(kind.unwrap_or("binary data"))
            }
            _ => Self::Text(ReadingText::of(found, texts)),
        }
    }
}

impl ReadingText {
    fn of(found: &InputFile, texts: InputTexts) -> Self {
        let (text, not_utf8) = decode_text(&found.head);
        let warnings = input_warnings(&text);
        let source = SourceText::new(&text, &warnings);
        let lines_all = text.split_inclusive('\n').count();
        let lines_shown = match texts {
            InputTexts::Whole => lines_all,
            InputTexts::Beginnings => lines_all.min(LINES_MAX),
            InputTexts::None => 0,
        };
        let lines = (1..=lines_shown).filter_map(|number| {
            let readable = source.line(number)?;
            Some(ReadingLine::of(number, readable.readable(), &warnings, texts))
        });
        let lines = lines.collect();
        let marked: BTreeSet<usize> =
            warnings.iter().map(|row| row.line).filter(|line| *line > lines_shown).collect();
        let held = u64::try_from(found.head.len()).unwrap_or(u64::MAX);
        Self {
            lines,
            lines_more: lines_all - lines_shown,
            marked_more: marked.len(),
            not_utf8,
            bytes_more: found.bytes.saturating_sub(held),
        }
    }
}

impl ReadingLine {
    fn of(number: usize, readable: &str, warnings: &[Violation], texts: InputTexts) -> Self {
        let chars_max = if texts == InputTexts::Whole { usize::MAX } else { LINE_CHARS_MAX };
        let end = readable.char_indices().nth(chars_max).map_or(readable.len(), |(end, _)| end);
        let (shown, more) = readable.split_at(end);
        let first = warnings.partition_point(|row| row.line < number);
        let mine = warnings.iter().skip(first).take_while(|row| row.line == number);
        let mine = mine.map(|row| (row.code.as_str().into_owned(), row.message.clone()));
        let encoding = (number <= 2).then(|| other_encoding(readable)).flatten().map(|name| {
            let why = format!(
                "declares the encoding {name}, but is shown as UTF-8: the program may read it \
                 differently"
            );
            (Code::TextNotUtf8.as_str().into_owned(), why)
        });
        Self {
            number,
            text: reveal_line(shown),
            chars_more: more.chars().count(),
            marks: mine.chain(encoding).collect(),
        }
    }
}

/// Returns whether more than a quarter of the bytes are not text.
fn is_mostly_binary(bytes: &[u8]) -> bool {
    let control = |c: &char| c.is_control() && !c.is_whitespace();
    let wrong: usize = bytes
        .utf8_chunks()
        .map(|chunk| chunk.invalid().len() + chunk.valid().chars().filter(control).count())
        .sum();
    wrong > bytes.len() / 4
}

/// Returns a format that is identified by its first bytes; no program text begins with them.
fn kind_of(head: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 9] = [
        (b"\x7fELF", "an ELF program"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\x1f\x8b", "gzip data"),
        (b"\xfd7zXZ\0", "xz data"),
        (b"\x28\xb5\x2f\xfd", "zstd data"),
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\0asm", "a WebAssembly module"),
    ];
    KINDS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, kind)| *kind)
}

/// Returns the encoding that one of the first two lines declares, by Python's rules (PEP 263), if
/// the text is shown in another encoding.
fn other_encoding(line: &str) -> Option<&str> {
    let comment = line.trim_start_matches([' ', '\t', '\x0c']).strip_prefix('#')?;
    let after = comment
        .match_indices("coding")
        .find_map(|(at, word)| comment[at + word.len()..].strip_prefix([':', '=']))?;
    let after = after.trim_start_matches([' ', '\t']);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = &after[..after.find(|c| !is_of_name(c)).unwrap_or(after.len())];
    let plain = name.to_ascii_lowercase().replace('_', "-");
    let shown_so =
        ["", "utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"].contains(&plain.as_str());
    (!shown_so).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{is_mostly_binary, other_encoding};

    #[test]
    fn declared_encodings_are_found() {
        for line in ["# -*- coding: latin-1 -*-", " \t#vim:fileencoding=utf-7", "#coding:rot13"] {
            assert!(other_encoding(line).is_some(), "{line}");
        }
        for line in ["# coding: UTF-8", "coding: latin-1", "# coding", "# -*- coding: utf_8 -*-"] {
            assert_eq!(other_encoding(line), None, "{line}");
        }
    }

    #[test]
    fn few_invalid_bytes_do_not_make_a_text_binary() {
        assert!(!is_mostly_binary(b"require('child_process') // \0\0\xff\n"));
        assert!(is_mostly_binary(b"PAR1\0\0\0\x01\x02"));
    }
}
