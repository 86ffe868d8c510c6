//! The rendered page of a document. People may approve it: it must never show another request.

use std::ops::Range;

use model::{SourceSpan, TextLine, quote};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::code::Code;
use crate::document::RequestDocument;
use crate::report::Report;
use crate::table::WordTable;

/// The lines as a Markdown reader renders them.
#[derive(Default)]
pub(crate) struct RenderedPage {
    /// The headings, ascending by line.
    pub(crate) headings: Vec<Heading>,
    /// The lines that are HTML, wholly or in part; ascending.
    pub(crate) html: Vec<usize>,
    /// The spans that the page does not show as written.
    replaced: Vec<ReplacedSpan>,
}

pub(crate) struct Heading {
    pub(crate) line: usize,
    pub(crate) second_level: bool,
    /// The heading as the page shows it, without emphasis, links and entities.
    text: String,
}

struct ReplacedSpan {
    line: usize,
    /// The byte range in the body.
    range: Range<usize>,
    how: ReplacementKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplacementKind {
    /// An element that can hide or contain the text after it.
    Element,
    Tag,
    Comment,
    Entity,
    Link,
}

/// Inline elements that hide nothing and end with their paragraph.
const HARMLESS: WordTable = WordTable::new(&[
    "a", "abbr", "b", "br", "cite", "code", "data", "dfn", "em", "i", "kbd", "mark", "q", "s",
    "samp", "small", "span", "strong", "sub", "sup", "u", "var", "wbr",
]);

impl RenderedPage {
    /// Reads the body as a Markdown reader does.
    pub(crate) fn of(document: &RequestDocument<'_>) -> Self {
        let mut seen = Self::default();
        let base = document.body_lines.first().map_or(0, |line| line.number);
        let number = |byte: usize| {
            let at = byte + document.body_offset;
            base + document.body_lines.partition_point(|line| line.offset <= at).saturating_sub(1)
        };
        let mut heading: Option<Heading> = None;
        for (event, range) in Parser::new_ext(document.body, Options::empty()).into_offset_iter() {
            let source = document.body.get(range.clone()).unwrap_or("");
            let line = number(range.start);
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    let second_level = level == HeadingLevel::H2;
                    heading = Some(Heading { line, second_level, text: String::new() });
                }
                Event::End(TagEnd::Heading(_)) => seen.headings.extend(heading.take()),
                // A block arrives line by line; an inline comment may span several lines.
                Event::Html(_) | Event::InlineHtml(_) => {
                    let last = number(range.end.saturating_sub(1).max(range.start));
                    let from = seen.html.last().map_or(0, |line| line + 1);
                    seen.html.extend(from.max(line)..=last);
                    seen.replaced.push(ReplacedSpan {
                        line,
                        range,
                        how: ReplacementKind::of_html(source),
                    });
                }
                Event::Start(Tag::Link { .. } | Tag::Image { .. }) if !source.starts_with('<') => {
                    seen.replaced.push(ReplacedSpan { line, range, how: ReplacementKind::Link });
                }
                Event::Text(text) => {
                    if let Some(heading) = &mut heading {
                        heading.text.push_str(&text);
                    }
                    if source.starts_with('&') && source != &*text {
                        seen.replaced.push(ReplacedSpan {
                            line,
                            range,
                            how: ReplacementKind::Entity,
                        });
                    }
                }
                Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.text.push_str(&text);
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some(heading) = &mut heading {
                        heading.text.push(' ');
                    }
                }
                _ => {}
            }
        }
        seen.headings.sort_by_key(|heading| heading.line);
        seen
    }

    pub(crate) fn has_second_level(&self, line: usize) -> bool {
        let from = self.headings.partition_point(|heading| heading.line < line);
        let mut of_line =
            self.headings.iter().skip(from).take_while(|heading| heading.line == line);
        of_line.any(|heading| heading.second_level)
    }

    /// Refuses headings that the page shows as a section's title but that begin no section.
    pub(crate) fn refuse_titles(
        &self,
        titles: &[&str],
        is_section: impl Fn(usize) -> bool,
        report: &mut Report,
    ) {
        for heading in self.headings.iter().filter(|heading| !is_section(heading.line)) {
            if let Some(title) = titles.iter().find(|title| is_title(&heading.text, title)) {
                report_title(title, SourceSpan::new(heading.line, 1), report);
            }
        }
    }

    /// Reports parts of the command that the page does not show as written. Elements that can hide
    /// the rest are errors, all others are warnings.
    pub(crate) fn check_command(
        &self,
        lines: &[TextLine<'_>],
        body_offset: usize,
        report: &mut Report,
    ) {
        for it in &self.replaced {
            let Ok(index) = lines.binary_search_by_key(&it.line, |line| line.number) else {
                continue;
            };
            let Some(line) = lines.get(index) else { continue };
            let from = (it.range.start + body_offset).saturating_sub(line.offset);
            let to = (it.range.end + body_offset).saturating_sub(line.offset).min(line.text.len());
            let width = line.text.get(from..to).map_or(0, |text| text.chars().count());
            let spot = line.span_at(from).with_width(width);
            if it.how == ReplacementKind::Element {
                let message =
                    "command: an HTML element, which can hide the rest of a rendered page";
                let hint = "pass the text in an input file";
                report.error_hint(Code::CommandMarkup, spot, message, hint);
            } else {
                let what = it.how.what();
                let message =
                    format!("command: a rendered page does not show this {what} as written");
                report.warning(Code::CommandMarkup, spot, message);
            }
        }
    }
}

impl ReplacementKind {
    fn of_html(source: &str) -> Self {
        if source.starts_with("<!--") {
            return Self::Comment;
        }
        let tag = source.trim_start_matches(['<', '/']).trim_end_matches(['>', '/']).trim_end();
        // An attribute may hide the content of the element.
        if HARMLESS.has(&tag.to_ascii_lowercase()) { Self::Tag } else { Self::Element }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Element | Self::Tag => "HTML tag",
            Self::Comment => "HTML comment",
            Self::Entity => "HTML entity",
            Self::Link => "link",
        }
    }
}

/// Refuses a front matter comment that a reader without front matter support shows as a title.
pub(crate) fn refuse_comment_titles(lines: &[TextLine<'_>], titles: &[&str], report: &mut Report) {
    for line in lines {
        let Some(text) = text_after_hashes(line.text) else { continue };
        if let Some(title) = titles.iter().find(|title| is_title(text, title)) {
            report_title(title, SourceSpan::new(line.number, 1), report);
        }
    }
}

/// Returns the text after the leading hashes of a line, if any.
fn text_after_hashes(line: &str) -> Option<&str> {
    let text = line.trim();
    text.starts_with('#').then(|| text.trim_matches('#'))
}

fn report_title(title: &str, spot: SourceSpan, report: &mut Report) {
    let message = format!("{}: a rendered page shows a second heading of this title", quote(title));
    let hint = "rename the heading, or remove it";
    report.error_hint(Code::SectionDuplicate, spot, message, hint);
}

/// Returns true if a reader takes a heading for this title, ignoring case, spaces and punctuation.
fn is_title(text: &str, title: &str) -> bool {
    let spelled = |text: &str| -> String { title_letters(text).collect() };
    title_letters(text).eq(title_letters(title))
        || crate::confusable::are_alike(&spelled(text), &spelled(title))
}

/// Returns the letters and digits of a heading in lower case, without a number before them.
fn title_letters(text: &str) -> impl Iterator<Item = char> {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.skip_while(char::is_ascii_digit).flat_map(char::to_lowercase)
}

/// Returns true if a page may show this line as a section's title, or if that is uncertain.
pub(crate) fn could_be_title(line: &str, titles: &[&str]) -> bool {
    let marks = |c: char| c.is_whitespace() || c.is_ascii_digit() || ">-+*.)".contains(c);
    let Some(text) = line.trim_start_matches(marks).strip_prefix('#') else { return false };
    let plain =
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" #.,:;()/'\"-".contains(&byte));
    !plain || titles.iter().any(|title| title_letters(text).eq(title_letters(title)))
}

/// Returns true if a line underlines the one above it, which a page then shows as a heading.
pub(crate) fn may_underline(line: &str) -> bool {
    let text = line.trim_end();
    text.ends_with(['-', '=']) && !text.bytes().any(|byte| byte.is_ascii_alphabetic())
}
