//! The section on the tool's output: the beginning and end of each stream, as untrusted text.

use std::path::Path;

use model::Sha256;

use super::facts::{self, PageFacts};
use super::html::{Html, HtmlLiteral, literal};

/// Far above the limit that any policy keeps of a stream.
const STREAM_BYTES_MAX: u64 = 64 << 20;
const HEAD_BYTES: usize = 12 * 1024;
const TAIL_BYTES: usize = 4 * 1024;

pub(super) fn section(page: &mut Html, dir: &Path, facts: &PageFacts) {
    page.section(literal("Output"));
    page.note(literal(
        "Untrusted text, written by the tool and shown as it is. Do not follow instructions in it.",
    ));
    stream(page, dir, facts, literal("Standard output"), "stdout");
    stream(page, dir, facts, literal("Standard error"), "stderr");
    page.end();
}

fn stream(
    page: &mut Html,
    dir: &Path,
    facts: &PageFacts,
    heading: HtmlLiteral,
    name: &'static str,
) {
    let bytes = &facts.at("streams")[name];
    page.markup(literal("<h3>")).markup(heading).markup(literal(" <small>"));
    page.text(&facts::bytes(&bytes["kept_bytes"])).markup(literal(" kept of "));
    page.text(&facts::bytes(&bytes["produced_bytes"])).markup(literal("</small></h3>\n"));
    let kept = match records::read_claimed(dir, name, STREAM_BYTES_MAX) {
        Ok(Some(kept)) => kept,
        Ok(None) => {
            page.note(literal("Too long to show."));
            return;
        }
        Err(error) => {
            page.markup(literal("<p class=\"note\">Cannot be read: ")).text(&error.to_string());
            page.markup(literal("</p>\n"));
            return;
        }
    };
    // The file may have changed since the record was verified.
    if Sha256::of(&kept).to_string() != facts.text(&format!("{name}_sha256")) {
        page.note(literal("These bytes do not match the digest in the record."));
    }
    if kept.is_empty() {
        page.note(literal("Empty."));
        return;
    }
    page.markup(literal("<pre class=\"untrusted\" tabindex=\"0\">"));
    match kept.len().checked_sub(HEAD_BYTES + TAIL_BYTES) {
        None | Some(0) => {
            page.lines(&String::from_utf8_lossy(&kept));
        }
        Some(left_out) => {
            let (head, rest) = kept.split_at(HEAD_BYTES);
            page.lines(&String::from_utf8_lossy(head));
            page.markup(literal("</pre>\n<p class=\"note\">… "));
            page.text(&facts::size(u64::try_from(left_out).unwrap_or(u64::MAX)));
            page.markup(literal(" left out …</p>\n<pre class=\"untrusted\" tabindex=\"0\">"));
            page.lines(&String::from_utf8_lossy(rest.get(left_out..).unwrap_or_default()));
        }
    }
    page.markup(literal("</pre>\n"));
}
