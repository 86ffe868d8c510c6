//! Splits a document into front matter and body. Only a block on the first line is front matter.

use model::{SourceSpan, TextLine};

use crate::code::Code;
use crate::report::Report;
use crate::text;
use crate::yaml::{self, YamlNode, YamlValue};

/// The size limit of the front matter of a kind of document.
#[derive(Clone, Copy)]
pub(crate) struct FrontMatterMax {
    pub(crate) bytes: usize,
    pub(crate) values: usize,
}

/// The limit is small because an approver reads every line of a request.
pub(crate) const REQUEST_FRONT_MATTER_MAX: FrontMatterMax =
    FrontMatterMax { bytes: 64 * 1024, values: 10_000 };
/// A result lists up to 1,000 artifacts and as many rejected objects, besides the largest request.
pub(crate) const RESULT_FRONT_MATTER_MAX: FrontMatterMax =
    FrontMatterMax { bytes: 3 * 1024 * 1024, values: 150_000 };

pub(crate) struct RequestDocument<'a> {
    /// The map of the front matter, if it could be read.
    pub(crate) front_matter: Option<YamlNode>,
    pub(crate) front_matter_lines: Vec<TextLine<'a>>,
    pub(crate) body_lines: Vec<TextLine<'a>>,
    /// The body as one text, and its offset in the document in bytes.
    pub(crate) body: &'a str,
    pub(crate) body_offset: usize,
}

impl<'a> RequestDocument<'a> {
    /// Returns the position of the character that begins at this byte of the document. The `---`
    /// fences belong to neither part and are never looked up.
    pub(crate) fn spot(&self, byte: usize) -> SourceSpan {
        let lines =
            if byte < self.body_offset { &self.front_matter_lines } else { &self.body_lines };
        let after = lines.partition_point(|line| line.offset <= byte);
        match after.checked_sub(1).and_then(|index| lines.get(index)) {
            Some(line) => line.span_at(byte - line.offset),
            None => SourceSpan::WHOLE_FILE,
        }
    }

    /// Splits the text, reads its front matter, and checks the characters of the whole text.
    pub(crate) fn read(text: &'a str, most: FrontMatterMax, report: &mut Report) -> Self {
        let lines = model::lines(text);
        text::check(text, &lines, report);
        let Some(close) = closing_line(lines.iter().copied()) else {
            report_missing(&lines, report);
            return Self {
                front_matter: None,
                front_matter_lines: Vec::new(),
                body_lines: lines,
                body: text,
                body_offset: 0,
            };
        };
        let body_lines = lines.get(close.number..).unwrap_or_default().to_vec();
        let body_offset = body_lines.first().map_or(text.len(), |line| line.offset);
        let front_lines = lines.get(1..close.number - 1).unwrap_or_default().to_vec();
        let start = lines.get(1).map_or(0, |line| line.offset);
        let front = read_front_matter(text.get(start..close.offset).unwrap_or(""), most, report);
        for line in &front_lines {
            if model::has_invisible(line.text) {
                let spot = SourceSpan::new(line.number, 0);
                report.error(Code::TextConfusable, spot, "front matter: an invisible character");
            }
        }
        let body = text.get(body_offset..).unwrap_or("");
        Self { front_matter: front, front_matter_lines: front_lines, body_lines, body, body_offset }
    }
}

/// Returns the source of the front matter if the text has a closed block.
pub(crate) fn front_matter_source(text: &str) -> Option<&str> {
    let start = text.find('\n')? + 1;
    text.get(start..closing_line(model::each_line(text))?.offset)
}

fn closing_line<'a>(mut lines: impl Iterator<Item = TextLine<'a>>) -> Option<TextLine<'a>> {
    let first = lines.next()?;
    // A byte order mark is reported as such, not as a missing front matter.
    if first.text.strip_prefix('\u{feff}').unwrap_or(first.text) != "---" {
        return None;
    }
    lines.find(|line| line.text == "---")
}

/// Reads the map of the front matter and reports its violations.
pub(crate) fn read_front_matter(
    yaml: &str,
    most: FrontMatterMax,
    report: &mut Report,
) -> Option<YamlNode> {
    if yaml.len() > most.bytes {
        let spot = SourceSpan::new(1, 1);
        let message = format!("front matter: larger than {} KiB", most.bytes / 1024);
        report.error(Code::FrontmatterTooLarge, spot, message);
        return None;
    }
    let mut found = Report::default();
    let root = yaml::parse(yaml, 2, most.values, &mut found);
    let unread = root.is_none() && !found.failed();
    found.into_rows().into_iter().for_each(|row| report.add(row));
    match root {
        Some(YamlNode { value: YamlValue::Map(_), .. }) => root,
        Some(YamlNode { spot, .. }) => {
            report.error(Code::FrontmatterType, spot, "front matter: not a map of keys and values");
            None
        }
        None => {
            if unread {
                report.error(
                    Code::FrontmatterMissing,
                    SourceSpan::new(1, 1),
                    "front matter: empty",
                );
            }
            None
        }
    }
}

fn report_missing(lines: &[TextLine<'_>], report: &mut Report) {
    let first = lines.iter().find(|line| !line.text.trim().is_empty());
    let spot = SourceSpan::new(1, 1);
    let (message, hint) = match first.map(|line| line.text.trim()) {
        Some(mark) if mark.starts_with("```") || mark.starts_with("~~~") => (
            "front matter: it is in a code fence",
            "remove the fence; the first line of the file is `---`",
        ),
        Some("---") if first.is_some_and(|line| line.number == 1 && line.text == "---") => {
            ("front matter: the closing `---` line is missing", "end the block with `---`")
        }
        Some("---") => ("front matter: text before it", "make `---` the first line of the file"),
        _ => (
            "front matter: missing",
            "begin the file with a `---` line, the keys, and another `---` line",
        ),
    };
    report.error_hint(Code::FrontmatterMissing, spot, message, hint);
}
