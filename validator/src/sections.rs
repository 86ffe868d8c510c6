//! The second-level sections of a document, by source lines. A heading counts only if a Markdown
//! reader sees the same heading: the approved text must never differ from the parsed one.

use model::{SourceSpan, TextLine, quote};

use crate::code::Code;
use crate::document::RequestDocument;
use crate::rendered::{self, RenderedPage};
use crate::report::Report;
use crate::text::has_byte;

/// The sections of pure code.
pub(crate) const CODE: &str = "Code";
pub(crate) const INPUTS: &str = "Inputs (JSON)";

pub(crate) struct Section<'a> {
    pub(crate) title: &'a str,
    pub(crate) spot: SourceSpan,
    /// The lines below the heading, up to the next one.
    pub(crate) lines: Vec<TextLine<'a>>,
}

impl Section<'_> {
    /// Returns the position of its first line that is not blank, else of its heading.
    pub(crate) fn spot_of_text(&self) -> SourceSpan {
        let written = self.lines.iter().find(|line| !line.text.trim().is_empty());
        written.map_or(self.spot, |line| line.span_at(0))
    }
}

pub(crate) struct Sections<'a> {
    /// The lines before the first section.
    pub(crate) prose: Vec<TextLine<'a>>,
    pub(crate) all: Vec<Section<'a>>,
    /// The lines of headings that a Markdown reader does not see as headings.
    hidden: Vec<usize>,
    /// The rendered page, if it may differ from the source.
    rendered: Option<RenderedPage>,
}

impl<'a> Sections<'a> {
    /// Reads the sections and reports headings on which source and Markdown disagree.
    pub(crate) fn read(
        document: &RequestDocument<'a>,
        wanted: &[&str],
        report: &mut Report,
    ) -> Self {
        let mut prose = Vec::new();
        let mut all: Vec<Section<'a>> = Vec::new();
        for line in &document.body_lines {
            if let Some(title) = heading(line.text) {
                let spot = SourceSpan::new(line.number, 1);
                all.push(Section { title, spot, lines: Vec::new() });
            } else if let Some(section) = all.last_mut() {
                section.lines.push(*line);
            } else {
                prose.push(*line);
            }
        }
        let differs = document.body_lines.iter().any(may_differ);
        let rendered = differs.then(|| RenderedPage::of(document));
        let hidden = rendered.as_ref().map_or_else(Vec::new, |rendered| {
            report_disagreements(document, &all, rendered, wanted, report)
        });
        Self { prose, all, hidden, rendered }
    }

    /// Refuses text that makes the page show another request than the source: HTML outside the
    /// sections with code, and headings with a section's title. Reports replaced text in code.
    pub(crate) fn check_page(
        &mut self,
        document: &RequestDocument<'_>,
        titles: &[&str],
        with_code: &[&str],
        report: &mut Report,
    ) {
        rendered::refuse_comment_titles(&document.front_matter_lines, titles, report);
        let is_code = |section: &&Section<'_>| with_code.contains(&section.title);
        let marked = |line: &TextLine<'_>| line.text.bytes().any(|byte| b"<&[".contains(&byte));
        let may_lie = |line: &TextLine<'_>| {
            let title = heading(line.text).is_none() && rendered::could_be_title(line.text, titles);
            title || rendered::may_underline(line.text)
        };
        let code_is_marked =
            || self.all.iter().filter(is_code).any(|section| section.lines.iter().any(marked));
        if self.rendered.is_none() && (document.body_lines.iter().any(may_lie) || code_is_marked())
        {
            self.rendered = Some(RenderedPage::of(document));
        }
        let Some(rendered) = &self.rendered else { return };
        let is_section =
            |line| self.all.binary_search_by_key(&line, |section| section.spot.line).is_ok();
        rendered.refuse_titles(titles, is_section, report);
        let shown = |line: &&TextLine<'_>| rendered.html.binary_search(&line.number).is_ok();
        if let Some(line) = self.prose.iter().find(shown) {
            refuse_html_line(line, "text above the sections", report);
        }
        for section in self.all.iter().filter(is_code) {
            rendered.check_command(&section.lines, document.body_offset, report);
        }
    }

    /// Refuses HTML in these sections: a reader of the page must see the parsed text.
    pub(crate) fn refuse_html(&self, titles: &[&str], report: &mut Report) {
        let Some(rendered) = &self.rendered else { return };
        for section in self.all.iter().filter(|section| titles.contains(&section.title)) {
            let shown = |line: &&TextLine<'_>| rendered.html.binary_search(&line.number).is_ok();
            if let Some(line) = section.lines.iter().find(shown) {
                refuse_html_line(line, &format!("`## {}`", section.title), report);
            }
        }
    }

    /// The first section of this title, visible to a Markdown reader or not.
    pub(crate) fn get(&self, title: &str) -> Option<&Section<'a>> {
        self.all.iter().find(|section| section.title == title)
    }

    pub(crate) fn is_hidden(&self, section: &Section<'_>) -> bool {
        self.hidden.binary_search(&section.spot.line).is_ok()
    }

    /// Reports sections that are missing, duplicate, out of order or unexpected.
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
                let message = format!("{name}: the section is out of order");
                let hint = format!("use the order {}", wanted.join(", "));
                report.error_hint(Code::SectionOrder, section.spot, message, hint);
            }
            latest = latest.max(rank);
            found.push(section.title);
        }
        for title in wanted.iter().filter(|title| !found.contains(*title)) {
            let message = format!("`## {title}`: the section is missing");
            let hint = format!("begin a line with exactly `## {title}`");
            report.error_hint(Code::SectionMissing, SourceSpan::WHOLE_FILE, message, hint);
        }
    }
}

fn refuse_html_line(line: &TextLine<'_>, place: &str, report: &mut Report) {
    let message = format!("{place}: HTML can hide text");
    let hint = "write plain text; put a literal `<` in backquotes";
    let at = line.text.find('<').unwrap_or(0);
    report.error_hint(Code::SectionHidden, line.span_at(at), message, hint);
}

fn report_unexpected(section: &Section<'_>, wanted: &[&str], report: &mut Report) {
    let message = format!("{}: not a section of this schema", quote(section.title));
    let plain = section.title.trim_end_matches('#').trim();
    let meant = wanted.iter().find(|title| title.eq_ignore_ascii_case(plain));
    let hint = match meant {
        Some(title) => format!("write exactly `## {title}`"),
        None if [CODE, INPUTS].contains(&section.title) => {
            "write `backend: monty` for this section, or use `## Command`".to_owned()
        }
        None => "use `###` for headings inside a section".to_owned(),
    };
    report.error_hint(Code::SectionUnexpected, section.spot, message, hint);
}

/// Returns whether the source has a section of this title.
pub(crate) fn has_section(document: &RequestDocument<'_>, title: &str) -> bool {
    document.body_lines.iter().any(|line| heading(line.text) == Some(title))
}

/// Returns the title if the line is a second-level heading in the source.
fn heading(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("##")?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

/// Returns true if this line may make source and Markdown disagree about headings, or if uncertain.
/// A heading at the start of a line is one for both, unless a fence, HTML or a link definition
/// extends over it. Markdown's other headings are indented, contained or underlined.
fn may_differ(line: &TextLine<'_>) -> bool {
    let text = line.text;
    let hashes = text.starts_with("###") || heading(text).is_some();
    let trimmed = text.trim_end();
    let underlines = trimmed.ends_with('-') && !trimmed.bytes().any(|b| b.is_ascii_alphabetic());
    // Nearly every line has none of the marks below.
    let is_mark = |byte| matches!(byte, b'<' | b'\r' | b'#' | b'`' | b'~' | b']');
    let marks_differ = || {
        text.bytes().any(|byte| byte == b'<' || byte == b'\r')
            || text.as_bytes().windows(2).any(|pair| match pair {
                b"##" => !hashes,
                b"``" | b"~~" | b"]:" => true,
                _ => false,
            })
    };
    underlines || has_byte(text, is_mark) && marks_differ()
}

/// Returns the lines of the headings that are hidden from a Markdown reader.
fn report_disagreements(
    document: &RequestDocument<'_>,
    all: &[Section<'_>],
    rendered: &RenderedPage,
    wanted: &[&str],
    report: &mut Report,
) -> Vec<usize> {
    let mut hidden = Vec::new();
    for section in all.iter().filter(|section| !rendered.has_second_level(section.spot.line)) {
        hidden.push(section.spot.line);
        if wanted.contains(&section.title) {
            report.error_hint(
                Code::SectionMissing,
                section.spot,
                format!("`## {}`: a Markdown reader does not see this heading", section.title),
                "close the code fence, HTML comment or HTML block before it",
            );
        }
    }
    let second = rendered.headings.iter().filter(|heading| heading.second_level);
    let lines = second.map(|heading| heading.line);
    for number in
        lines.filter(|n| all.binary_search_by_key(n, |section| section.spot.line).is_err())
    {
        if report.is_full() {
            break;
        }
        let base = document.body_lines.first().map_or(0, |line| line.number);
        let text = document.body_lines.get(number - base).map_or("", |line| line.text);
        report.error_hint(
            Code::SectionUnexpected,
            SourceSpan::new(number, 1),
            format!("{}: a Markdown reader sees a second-level heading here", quote(text)),
            "write sections as `## Title` at the start of a line; no `---` line under text",
        );
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::REQUEST_FRONT_MATTER_MAX;
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
        fn documents_that_may_not_differ_do_not_differ(
            pieces in proptest::collection::vec(prop::sample::select(&PIECES[..]), 0..40),
            dropped in prop::sample::subsequence((10..44).collect::<Vec<usize>>(), 20..34),
        ) {
            // Most pieces alone make a document that may differ, so each case omits some of them.
            let kept = |it: &&&str| !dropped.iter().any(|at| PIECES.get(*at) == Some(*it));
            let text: String = pieces.iter().filter(kept).copied().collect();
            let document = RequestDocument::read(&text, REQUEST_FRONT_MATTER_MAX, &mut Report::default());
            if document.body_lines.iter().any(may_differ) {
                return Ok(());
            }
            let all = document.body_lines.iter().filter(|line| heading(line.text).is_some());
            let source: Vec<usize> = all.map(|line| line.number).collect();
            let rendered = RenderedPage::of(&document);
            let seen = rendered.headings.iter().filter(|heading| heading.second_level);
            let seen: Vec<usize> = seen.map(|heading| heading.line).collect();
            prop_assert_eq!(source, seen, "{:?}", text);
        }
    }
}
