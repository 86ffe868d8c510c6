//! The review of a standing approval: the bounds of its runs, example commands, and the reasons why
//! the daemon would refuse it. It decides with the daemon's code and changes nothing. It must never
//! print a byte of the document unescaped.

mod data;
mod examples;
mod file_kind;
mod human;
mod json;
mod terms_text;
mod warnings;

use std::io;
use std::process::ExitCode;

use crate::args::{CaseOptions, Format};
use crate::commands::approve::review::rules::HostRules;
use crate::failure::Failure;
use crate::output;
use crate::output::pager::page;
use crate::output::screen::OutputScreen;

pub(in crate::commands) use data::StandingReview;
pub(in crate::commands) use file_kind::{is_standing_file, refuse_inputs};

/// Shows a standing approval. Returns the exit status: 2 if it would be refused.
pub(super) fn show(
    args: &CaseOptions,
    no_pager: bool,
    format: Format,
) -> Result<ExitCode, Failure> {
    refuse_inputs(args.inputs.as_deref())?;
    let case = StandingReview::read(&args.request, HostRules::read(&args.rules)?, None)?;
    match format {
        Format::Human => {
            page(&text(&case), no_pager)?;
        }
        Format::Json => output::line(json::object(&case))?,
    }
    Ok(case.verdict().exit_code())
}

pub(in crate::commands::approve) fn text(case: &StandingReview) -> String {
    human::text(case, OutputScreen::of(&io::stdout()))
}

/// Returns the review without colours.
pub(super) fn plain_text(case: &StandingReview) -> String {
    human::text(case, OutputScreen::plain())
}
