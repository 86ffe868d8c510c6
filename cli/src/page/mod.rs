//! `toolexec show --html`: one page of a record, for people. It must never load or run anything, let a
//! byte that others wrote be anything but text (`html`), or say more than the record does; what is
//! said of its verification is what was verified now.

mod authority;
mod cell;
mod facts;
mod files;
mod head;
mod html;
mod limits;
mod model;
mod network;
mod streams;

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::args::StateOption;
use crate::failure::Failure;
use crate::output;
use crate::verify;

use facts::Facts;
use html::{Html, literal};
use model::VerificationState;

/// Makes the page of a record and puts it where it was asked for.
pub(crate) fn write(
    dir: &Path,
    to: &Path,
    allowed_signers: Option<&Path>,
    state: &StateOption,
) -> Result<ExitCode, Failure> {
    let standing = match verify::look(dir, allowed_signers, state) {
        Ok(Ok(verified)) => VerificationState::Verified(Box::new(verified)),
        Ok(Err(faults)) => VerificationState::Faulty(faults),
        // Keys that were named must be there.
        Err(failure) if allowed_signers.is_some() => return Err(failure),
        Err(failure) => VerificationState::Unjudged(failure.to_string()),
    };
    let facts = match &standing {
        VerificationState::Verified(verified) => Some(Facts::of(verified.facts().clone())),
        _ => records::claims(dir).map(Facts::of),
    };
    let Some(facts) = facts else {
        let shown = dir.display();
        return Err(Failure::Said(format!("{shown}: its record cannot be read; there is no page")));
    };
    let page = render(dir, &standing, &facts).into_string();
    place(&page, to)?;
    Ok(ExitCode::from(u8::from(matches!(standing, VerificationState::Faulty(_)))))
}

/// What exists is somebody's: it is never replaced.
fn place(page: &str, to: &Path) -> Result<(), Failure> {
    if to == Path::new("-") {
        return output::text(page);
    }
    let made = OpenOptions::new().write(true).create_new(true).open(to);
    let mut file = made.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let to = to.display();
            Failure::Said(format!("--html {to}: exists already; remove it or name another file"))
        }
        _ => Failure::io(to)(error),
    })?;
    file.write_all(page.as_bytes()).map_err(Failure::io(to))
}

/// A page that is well-formed as XML too, so that anybody's parser can look for what should not be in it.
fn render(dir: &Path, standing: &VerificationState, facts: &Facts) -> Html {
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
    head::standing(&mut page, dir, standing);
    head::summary(&mut page, dir, facts);
    limits::section(&mut page, facts);
    files::section(&mut page, facts);
    authority::section(&mut page, facts);
    cell::section(&mut page, facts);
    network::section(&mut page, facts);
    streams::section(&mut page, dir, facts);
    head::request(&mut page, dir, facts);
    page.markup(literal(
        "</main>\n<footer><p>Made from the record by toolexec. This page proves nothing by itself; \
         whoever has the record can check it: <code>toolexec verify</code> ",
    ));
    page.code(facts.text("result_id"));
    page.markup(literal("</p></footer>\n</body>\n</html>\n"));
    page
}
