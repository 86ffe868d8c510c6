//! The second-level sections of a document, by source lines. A heading counts only if a Markdown
//! reader sees the same heading: what a person approves must never differ from what is read here.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use crate::code::Code;
use crate::document::Document;
use crate::report::{Report, Spot};
use crate::text::{Line, quote};

pub(crate) struct Section<'a> {
    pub(crate) title: &'a str,
    pub(crate) spot: Spot,
    /// The lines below the heading, up to the next one.
    pub(crate) lines: Vec<Line<'a>>,
}

pub(crate) struct Sections<'a> {
    /// The lines before the first section.
    pub(crate) prose: Vec<Line<'a>>,
    pub(crate) all: Vec<Section<'a>>,
    /// The lines of headings that a Markdown reader does not see as headings.
    hidden: Vec<usize>,
    /// The lines that are HTML to a Markdown reader, wholly or in part; ascending.
    html: Vec<usize>,
}

/// What a Markdown reader makes of the lines.
#[derive(Default)]
struct Seen {
    /// Those that hold second-level headings, ascending.
    headings: Vec<usize>,
    /// Those that hold HTML, ascending.
    html: Vec<usize>,
}

impl<'a> Sections<'a> {
    /// Reads the sections and reports headings that source and Markdown disagree about.
    pub(crate) fn read(document: &Document<'a>, wanted: &[&str], report: &mut Report) -> Self {
        let mut prose = Vec::new();
        let mut all: Vec<Section<'a>> = Vec::new();
        for line in &document.body_lines {
            if let Some(title) = heading(line.text) {
                let spot = Spot::new(line.number, 1);
                all.push(Section { title, spot, lines: Vec::new() });
            } else if let Some(section) = all.last_mut() {
                section.lines.push(*line);
            } else {
                prose.push(*line);
            }
        }
        let (mut hidden, mut html) = (Vec::new(), Vec::new());
        if document.body_lines.iter().any(may_differ) {
            let seen = as_markdown(document);
            hidden = report_disagreements(document, &all, &seen.headings, wanted, report);
            html = seen.html;
        }
        Self { prose, all, hidden, html }
    }

    /// Refuses HTML in these sections: what is read here must be what a reader of the page sees.
    pub(crate) fn refuse_html(&self, titles: &[&str], report: &mut Report) {
        for section in self.all.iter().filter(|section| titles.contains(&section.title)) {
            let shown = |line: &&Line<'_>| self.html.binary_search(&line.number).is_ok();
            if let Some(line) = section.lines.iter().find(shown) {
                let message = format!("`## {}`: HTML, which hides what it holds", section.title);
                let hint = "write it as plain text, and a `<` that is meant as such in backquotes";
                let at = line.text.find('<').unwrap_or(0);
                report.error_hint(Code::SectionHidden, line.spot(at), message, hint);
            }
        }
    }

    /// The first section of this title, whether a Markdown reader sees it or not.
    pub(crate) fn get(&self, title: &str) -> Option<&Section<'a>> {
        self.all.iter().find(|section| section.title == title)
    }

    pub(crate) fn is_hidden(&self, section: &Section<'_>) -> bool {
        self.hidden.binary_search(&section.spot.line).is_ok()
    }

    /// Reports what is missing, doubled, out of order or unexpected.
    pub(crate) fn check(&self, wanted: &[&str], report: &mut Report) {
        let mut found: Vec<&str> = Vec::new();
        let mut latest = 0;
        for section in &self.all {
            let Some(rank) = wanted.iter().position(|title| *title == section.title) else {
                if !report.is_full() {
                    report_unexpected(section, wanted, report);
                }
                continue;
            };
            let name = format!("`## {}`", section.title);
            if found.contains(&section.title) {
                let message = format!("{name}: the section appears twice");
                report.error(Code::SectionDuplicate, section.spot, message);
                continue;
            }
            if rank < latest {
                let message = format!("{name}: the section stands too late");
                let hint = format!("the order is {}", wanted.join(", "));
                report.error_hint(Code::SectionOrder, section.spot, message, hint);
            }
            latest = latest.max(rank);
            found.push(section.title);
        }
        for title in wanted.iter().filter(|title| !found.contains(*title)) {
            let message = format!("`## {title}`: the section is missing");
            let hint = format!("begin a line with exactly `## {title}`");
            report.error_hint(Code::SectionMissing, Spot::WHOLE_FILE, message, hint);
        }
    }
}

fn report_unexpected(section: &Section<'_>, wanted: &[&str], report: &mut Report) {
    let message = format!("{}: not a section of this schema", quote(section.title));
    let plain = section.title.trim_end_matches('#').trim();
    let meant = wanted.iter().find(|title| title.eq_ignore_ascii_case(plain));
    let hint = match meant {
        Some(title) => format!("write exactly `## {title}`"),
        None if [crate::monty::CODE, crate::monty::INPUTS].contains(&section.title) => {
            "it belongs to the monty lane: write `backend: monty`, or `## Command`".to_owned()
        }
        None => "use `###` for headings inside a section".to_owned(),
    };
    report.error_hint(Code::SectionUnexpected, section.spot, message, hint);
}

/// The title, if the line is a second-level heading by its source.
fn heading(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("##")?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

/// Whether a document with this line may have headings that source and Markdown disagree about.
/// A heading at the start of a line is one for both, unless a fence, HTML or a definition of a link
/// goes on over it; and Markdown has no others but indented, contained and underlined ones. What
/// is not certain may differ.
fn may_differ(line: &Line<'_>) -> bool {
    let text = line.text;
    let hashes = text.starts_with("###") || heading(text).is_some();
    let trimmed = text.trim_end();
    let underlines = trimmed.ends_with('-') && !trimmed.bytes().any(|b| b.is_ascii_alphabetic());
    underlines
        || text.bytes().any(|byte| byte == b'<' || byte == b'\r')
        || text.as_bytes().windows(2).any(|pair| match pair {
            b"##" => !hashes,
            b"``" | b"~~" | b"]:" => true,
            _ => false,
        })
}

fn as_markdown(document: &Document<'_>) -> Seen {
    let mut seen = Seen::default();
    let base = document.body_lines.first().map_or(0, |line| line.number);
    let number = |byte: usize| {
        let at = byte + document.body_offset;
        base + document.body_lines.partition_point(|line| line.offset <= at).saturating_sub(1)
    };
    for (event, range) in Parser::new_ext(document.body, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) => {
                seen.headings.push(number(range.start));
            }
            // A block comes line by line, an inline comment may go over several.
            Event::Html(_) | Event::InlineHtml(_) => {
                let last = number(range.end.saturating_sub(1).max(range.start));
                let from = seen.html.last().map_or(0, |line| line + 1);
                seen.html.extend(from.max(number(range.start))..=last);
            }
            _ => {}
        }
    }
    seen.headings.sort_unstable();
    seen
}

/// Returns the lines of the headings that are hidden from a Markdown reader.
fn report_disagreements(
    document: &Document<'_>,
    all: &[Section<'_>],
    seen: &[usize],
    wanted: &[&str],
    report: &mut Report,
) -> Vec<usize> {
    let mut hidden = Vec::new();
    for section in all.iter().filter(|section| seen.binary_search(&section.spot.line).is_err()) {
        hidden.push(section.spot.line);
        if wanted.contains(&section.title) {
            report.error_hint(
                Code::SectionMissing,
                section.spot,
                format!("`## {}`: a Markdown reader does not see this heading", section.title),
                "it stands in a code fence, an HTML comment or an HTML block; close that first",
            );
        }
    }
    for number in
        seen.iter().filter(|n| all.binary_search_by_key(*n, |section| section.spot.line).is_err())
    {
        if report.is_full() {
            break;
        }
        let base = document.body_lines.first().map_or(0, |line| line.number);
        let text = document.body_lines.get(number - base).map_or("", |line| line.text);
        report.error_hint(
            Code::SectionUnexpected,
            Spot::new(*number, 1),
            format!("{}: a Markdown reader sees a second-level heading here", quote(text)),
            "write sections as `## Title` at the start of a line; no `---` line under text",
        );
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::REQUEST_FRONT;
    use proptest::prelude::*;

    const PIECES: [&str; 44] = [
        "\n", "\n", "\n", "\n\n", "\n## ", "\n## a", "\n##", "\n##\t", "\n### a", "\n# a", "##",
        "#", " ", "    ", "\t", "a", "b c", "-", "---", "- ", "* ", "1. ", "> ", "===", "```",
        "~~~", "`", "[", "]", "]:", "(", ")", "'", "\"", "<", "<!--", "-->", "\\", "\r", "\r\n",
        "*", "_", "\u{feff}", "\u{c}",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..<_>::default() })]

        #[test]
        fn where_nothing_may_differ_nothing_does(
            pieces in proptest::collection::vec(prop::sample::select(&PIECES[..]), 0..40),
            dropped in prop::sample::subsequence((10..44).collect::<Vec<usize>>(), 20..34),
        ) {
            // Most pieces alone make a document that may differ: each time some are left out.
            let kept = |it: &&&str| !dropped.iter().any(|at| PIECES.get(*at) == Some(*it));
            let text: String = pieces.iter().filter(kept).copied().collect();
            let document = Document::read(&text, REQUEST_FRONT, &mut Report::default());
            if document.body_lines.iter().any(may_differ) {
                return Ok(());
            }
            let all = document.body_lines.iter().filter(|line| heading(line.text).is_some());
            let source: Vec<usize> = all.map(|line| line.number).collect();
            prop_assert_eq!(source, as_markdown(&document).headings, "{:?}", text);
        }
    }
}
