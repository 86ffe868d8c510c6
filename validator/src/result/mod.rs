//! Checks a tool result (upstream's tool-result schema): its form, no secret, no program, and no
//! instruction to its reader. A result that passes is untrusted data; passing must never mean more.

mod artifacts;
mod content;
mod front_matter;
mod impersonation;
mod instruction;
mod lexicon;
mod payload;
mod policy_claim;
mod script;
mod streams;
mod tokens;
mod window;

use model::{ResultSection, SourceSpan};

use crate::code::Code;
use crate::document::{RESULT_FRONT_MATTER_MAX, RequestDocument};
use crate::fields::FrontMatterFields;
use crate::prose;
use crate::report::Report;
use crate::secrets;
use crate::sections::{Section, Sections};
use crate::text;
use crate::violation::Violation;

/// The maximum size of a result's Markdown in bytes.
pub const RESULT_BYTES_MAX: usize = 4 * 1024 * 1024;

const SAFETY_NOTES: [&str; 3] =
    ["Untrusted Output Statement", "Unexpected behavior", "Network confirmation"];

/// Returns every violation of a result by position. Accepts both id forms and unknown keys.
#[must_use]
pub fn check_result(bytes: &[u8], file_name: &str) -> Vec<Violation> {
    let mut report = Report::default();
    if bytes.len() > RESULT_BYTES_MAX {
        let message = format!("file: {} bytes; the limit is {RESULT_BYTES_MAX} bytes", bytes.len());
        report.error(Code::TextTooLarge, SourceSpan::WHOLE_FILE, message);
        return report.into_rows();
    }
    let text = text::decode(bytes, &mut report);
    let document = RequestDocument::read(&text, RESULT_FRONT_MATTER_MAX, &mut report);
    prose::check_secrets(&text, &document, &mut report);
    for lines in [&document.front_matter_lines, &document.body_lines] {
        content::check_lines(lines, &mut report);
    }
    let mut stated = None;
    if let Some(node) = &document.front_matter {
        content::check_front_matter(node, &mut report);
        if let Some(fields) = FrontMatterFields::of(node, String::new(), &mut report) {
            front_matter::check(&fields, file_name, &mut report);
            stated = artifacts::read(&fields, &mut report);
        }
    }
    let sections = Sections::read(&document, ResultSection::TEXTS, &mut report);
    sections.check(ResultSection::TEXTS, &mut report);
    check_sections(&sections, stated.as_ref(), &mut report);
    report.into_rows()
}

/// Returns the code for which a line of stdout or stderr must not be in a result: a secret, or
/// forbidden content. A line that passes here passes [`check_result`] in any section.
#[must_use]
pub fn withholding_code(line: &str) -> Option<Code> {
    let secret = secrets::find(line).first().map(|found| Code::Secret(found.kind));
    secret.or_else(|| content::first_code(line))
}

/// Returns true if this line of `## Outputs` states a digest for a path below /out.
#[must_use]
pub fn states_digest(line: &str) -> bool {
    artifacts::has_row(line)
}

fn check_sections(
    sections: &Sections<'_>,
    stated: Option<&artifacts::Artifacts>,
    report: &mut Report,
) {
    for section in &sections.all {
        match ResultSection::named(section.title) {
            Some(ResultSection::Outputs) => {
                if let Some(artifacts) = stated {
                    artifacts.check_outputs(&section.lines, report);
                }
            }
            Some(ResultSection::Stdout | ResultSection::Stderr) => streams::check(section, report),
            Some(ResultSection::SafetyNotes) => check_safety_notes(section, report),
            Some(ResultSection::Summary | ResultSection::Provenance) | None => {}
        }
    }
}

fn check_safety_notes(section: &Section<'_>, report: &mut Report) {
    for note in SAFETY_NOTES {
        let found = section.lines.iter().position(|line| after_note(line.text, note).is_some());
        let Some(index) = found else {
            let message = format!("`## Safety Notes`: the line `{note}:` is missing");
            report.error(Code::SectionMissing, section.spot, message);
            continue;
        };
        // The value may be a separate paragraph or list.
        let mut lines = section.lines.iter().skip(index);
        let first = lines.next().and_then(|line| after_note(line.text, note));
        let next = lines.map(|line| line.text).find(|text| !text.trim().is_empty());
        let next = next.filter(|text| SAFETY_NOTES.iter().all(|it| after_note(text, it).is_none()));
        if first.is_none_or(|value| value.is_empty()) && next.is_none() {
            let message = format!("`## Safety Notes`: no text after `{note}:`");
            let spot = section.lines.get(index).map_or(section.spot, |line| line.span_at(0));
            report.error(Code::SectionMissing, spot, message);
        }
    }
}

/// Returns the text of a line after `note:`, without the marks around it.
fn after_note(line: &str, note: &str) -> Option<String> {
    let bare = line.replace(['*', '`', '_'], "");
    let value = bare.trim_start_matches([' ', '-', '+']).strip_prefix(note)?.strip_prefix(':')?;
    Some(value.trim().to_owned())
}
