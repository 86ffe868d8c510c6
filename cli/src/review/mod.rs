//! `toolexec review` and `toolexec explain`: what a request would run, and what every rule says of it.
//! One implementation for both, and for what `approve` shows. It decides with the daemon's own code,
//! changes nothing, and never shows a byte of the request or its inputs as it is to a terminal.

mod case;
mod cell;
mod human;
mod json;
mod listing;
mod model;
mod page;
mod reading;
mod rules;

use std::io;
use std::process::ExitCode;

use crate::args::{CaseOptions, Format};
use crate::failure::Failure;
use crate::options::{Explain, Review};
use crate::output;
use crate::output::pager::page;
use crate::output::screen::Screen;

pub(crate) use case::{Case, is_rejection};
pub(crate) use model::{Outcome, Texts};
pub(crate) use rules::{HostRules, host_policy};

pub(crate) fn review(asked: &Review) -> Result<ExitCode, Failure> {
    let texts = if asked.full { Texts::Whole } else { Texts::Beginnings };
    let case = read(&asked.case, texts)?;
    match asked.format {
        Format::Human => {
            page(&text(&case, texts), asked.show.no_pager)?;
        }
        Format::Json => output::line(json::object(&case, texts))?,
    }
    Ok(exit_code(&case))
}

pub(crate) fn explain(asked: &Explain) -> Result<ExitCode, Failure> {
    let case = read(&asked.case, Texts::None)?;
    match asked.format {
        Format::Human => output::text(&text(&case, Texts::None))?,
        Format::Json => output::line(json::object(&case, Texts::None))?,
    }
    Ok(exit_code(&case))
}

/// The whole review as text.
pub(crate) fn text(case: &Case, texts: Texts) -> String {
    human::text(case, texts, Screen::of(&io::stdout()))
}

/// The same without colours, for who draws it.
pub(crate) fn plain_text(case: &Case, texts: Texts) -> String {
    human::text(case, texts, Screen::plain())
}

/// What of the inputs the text leaves out; none where it shows every byte of them.
pub(crate) fn left_out(case: &Case, texts: Texts) -> Option<String> {
    listing::left_out(case, texts)
}

fn read(asked: &CaseOptions, texts: Texts) -> Result<Case, Failure> {
    Case::read(asked, HostRules::read(&asked.rules)?, None, texts)
}

fn exit_code(case: &Case) -> ExitCode {
    match case.outcome() {
        Outcome::Ready | Outcome::Pending => ExitCode::SUCCESS,
        Outcome::Refused => ExitCode::from(2),
    }
}
