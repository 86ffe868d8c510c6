//! A record as one HTML page for people: `toolexec show --html`. The page must never load or run
//! anything, must never show untrusted bytes as anything but text (`html`), and must not state more
//! than the record does. The verification result is that of the current call.

mod authority;
mod confinement;
mod facts;
mod files;
mod head;
mod html;
mod limits;
mod model;
mod network;
mod streams;

use std::path::Path;

use facts::PageFacts;
use html::{Html, literal};

pub(crate) use model::VerificationState;

/// Renders the record in a directory, or returns `None` if the record cannot be read.
pub(crate) fn page_of(dir: &Path, verification_state: &VerificationState) -> Option<String> {
    let facts = match verification_state {
        VerificationState::Verified(verified) => verified.facts().clone(),
        _ => records::claims(dir)?,
    };
    Some(render(dir, verification_state, &PageFacts::of(facts)).into_string())
}

/// Renders a page that is well-formed XML too: any XML parser can check it for unwanted content.
fn render(dir: &Path, verification_state: &VerificationState, facts: &PageFacts) -> Html {
    let mut page = Html::default();
    page.markup(literal(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src \
         'none'; style-src '",
    ));
    page.markup(literal(html::STYLE_HASH));
    page.markup(literal(
        "'; base-uri 'none'; form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"referrer\" content=\"no-referrer\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>",
    ));
    page.text(facts.text("outcome")).markup(literal(" · ")).text(facts.text("request_id"));
    page.markup(literal("</title>\n<style>"));
    page.markup(literal(html::STYLE)).markup(literal("</style>\n</head>\n<body>\n<main>\n"));
    head::outcome(&mut page, facts);
    head::verification(&mut page, dir, verification_state);
    head::summary(&mut page, dir, facts);
    limits::section(&mut page, facts);
    files::section(&mut page, facts);
    authority::section(&mut page, facts);
    confinement::section(&mut page, facts);
    network::section(&mut page, facts);
    streams::section(&mut page, dir, facts);
    head::request(&mut page, dir, facts);
    page.markup(literal(
        "</main>\n<footer><p>Generated from the record by toolexec. This page proves nothing by \
         itself; check the record: <code>toolexec verify</code> ",
    ));
    page.code(facts.text("result_id"));
    page.markup(literal("</p></footer>\n</body>\n</html>\n"));
    page
}
