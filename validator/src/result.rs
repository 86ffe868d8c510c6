//! The check of a tool result (upstream's tool-result schema): what CORE reads must have this form
//! and carry no secret. A result is untrusted data; passing here must never mean more than form.

use crate::code::Code;
use crate::digest::Sha256;
use crate::document::{Document, RESULT_FRONT};
use crate::fields::{Fields, Placed};
use crate::id::{RequestId, ResultId};
use crate::prose;
use crate::report::{Report, Spot};
use crate::schema;
use crate::secrets;
use crate::sections::{Section, Sections};
use crate::text::{self, quote};
use crate::violation::Violation;

/// The most bytes a result's Markdown may have.
pub const RESULT_BYTES_MAX: usize = 4 * 1024 * 1024;

const SECTIONS: [&str; 6] =
    ["Summary", "Provenance", "Outputs", "Stdout", "Stderr", "Safety Notes"];

const SAFETY_NOTES: [&str; 3] =
    ["Untrusted Output Statement", "Unexpected behavior", "Network confirmation"];

/// Checks a result and returns every violation by place. Both forms of result ids are read, and
/// keys that upstream does not know are allowed.
#[must_use]
pub fn check_result(bytes: &[u8], file_name: &str) -> Vec<Violation> {
    let mut report = Report::default();
    if bytes.len() > RESULT_BYTES_MAX {
        let message = format!("file: {} bytes; the limit is {RESULT_BYTES_MAX}", bytes.len());
        report.error(Code::TextTooLarge, Spot::WHOLE_FILE, message);
        return report.into_rows();
    }
    let text = text::decode(bytes, &mut report);
    let document = Document::read(&text, RESULT_FRONT, &mut report);
    prose::check_secrets(&text, &document, &mut report);
    if let Some(node) = &document.front
        && let Some(fields) = Fields::of(node, String::new(), &mut report)
    {
        check_front(&fields, file_name, &mut report);
    }
    let sections = Sections::read(&document, &SECTIONS, &mut report);
    sections.check(&SECTIONS, &mut report);
    if let Some(section) = sections.get("Safety Notes") {
        check_safety_notes(section, &mut report);
    }
    report.into_rows()
}

/// The code for which this line of stdout or stderr must not stand in a result.
#[must_use]
pub fn withheld(line: &str) -> Option<Code> {
    secrets::find(line).first().map(|(kind, _)| Code::Secret(kind))
}

fn check_front(fields: &Fields<'_>, file_name: &str, report: &mut Report) {
    schema::document_type(fields, "result_type", "tool_result", report);
    schema::version(fields, report);
    check_ids(fields, file_name, report);
    if let Some(created) = fields.text("created_utc", report) {
        schema::timestamp("created_utc", created, report);
    }
    for key in ["executor", "backend"] {
        fields.sentence(key, report);
    }
    check_numbers(fields, report);
    check_network(fields, report);
    check_artifacts(fields, report);
    for key in ["stdout_sha256", "stderr_sha256"] {
        if fields.peek(key).is_some() {
            check_digest(fields, key, report);
        }
    }
}

fn check_ids(fields: &Fields<'_>, file_name: &str, report: &mut Report) {
    let request = fields.text("request_id", report);
    let Some(text) = fields.text("result_id", report) else { return };
    let Ok(id) = text.value.parse::<ResultId>() else {
        let message = format!("`result_id`: {} is no result id", quote(text.value));
        report.error(Code::SchemaRequestId, text.spot, message);
        return;
    };
    if file_name.strip_suffix(".md") != Some(id.as_str()) {
        let message = format!("{}: the file is not named after its id", quote(file_name));
        let row = Violation::warning(Code::SchemaFileName, message);
        report.add(row.hint(format!("name it {id}.md")));
    }
    let Some(request) = request else { return };
    // A refusal under REFUSED- has no usable request id to repeat.
    if id.subject().starts_with("REFUSED-") {
        return;
    }
    if request.value.parse::<RequestId>().is_err() || request.value != id.subject() {
        let message = "`request_id`: not the one that `result_id` names";
        report.error(Code::SchemaRequestId, request.spot, message);
    }
}

fn check_numbers(fields: &Fields<'_>, report: &mut Report) {
    if let Some(code) = fields.number("exit_code", report)
        && code.value.parse::<i32>().is_err()
    {
        wrong(code, "`exit_code`: must be a whole number", report);
    }
    if let Some(seconds) = fields.number("runtime_sec", report)
        && !seconds.value.parse::<f64>().is_ok_and(|it| it.is_finite() && it >= 0.0)
    {
        wrong(seconds, "`runtime_sec`: must be a number of seconds, not negative", report);
    }
}

fn wrong(text: Placed<&str>, message: &str, report: &mut Report) {
    report.error(Code::FrontmatterValue, text.spot, message);
}

fn check_network(fields: &Fields<'_>, report: &mut Report) {
    let used = fields.text("network_used", report);
    if let Some(used) = used
        && !["none", "allowlist"].contains(&used.value)
    {
        let message = format!("`network_used`: {} is not a value", quote(used.value));
        report.error(Code::NetworkValue, used.spot, message);
    }
    if fields.peek("network_destinations").is_none() {
        return;
    }
    for item in fields.list("network_destinations", report).unwrap_or_default() {
        fields.text_of("network_destinations", item, report);
    }
}

fn check_artifacts(fields: &Fields<'_>, report: &mut Report) {
    if fields.peek("artifacts").is_none() {
        return;
    }
    let items = fields.list("artifacts", report).unwrap_or_default();
    for (index, node) in items.iter().enumerate() {
        if let Some(item) = Fields::of(node, format!("artifacts[{index}]."), report) {
            item.text("path", report);
            check_digest(&item, "sha256", report);
        }
    }
}

fn check_digest(fields: &Fields<'_>, key: &str, report: &mut Report) {
    let Some(node) = fields.node(key, report) else { return };
    if node.scalar().is_none_or(|(text, _)| text.parse::<Sha256>().is_err()) {
        let message = format!("{}: not 64 hexadecimal digits", fields.name(key));
        report.error(Code::InputsHashFormat, node.spot, message);
    }
}

fn check_safety_notes(section: &Section<'_>, report: &mut Report) {
    for note in SAFETY_NOTES {
        let start = format!("{note}:");
        let found = section.lines.iter().any(|line| {
            let bare = line.text.replace(['*', '`'], "");
            bare.trim_start_matches([' ', '-', '+', '_']).starts_with(&start)
        });
        if !found {
            let message = format!("`## Safety Notes`: the line `{note}:` is missing");
            report.error(Code::SectionMissing, section.spot, message);
        }
    }
}
