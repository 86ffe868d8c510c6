//! `toolexec review` and `toolexec explain`: shows what a request would run and the result of every
//! rule. `approve` shows the same review. It decides with the daemon's code and changes nothing. It
//! must never print a byte of the request or its inputs unescaped.

mod case;
mod cell;
mod human;
pub(in crate::commands) mod inputs;
mod json;
mod listing;
mod model;
mod page;
mod reading;
mod rules;

use std::io;
use std::process::ExitCode;

use clap::Args;

use crate::args::{CaseOptions, Format, ShowOptions};
use crate::failure::Failure;
use crate::output;
use crate::output::pager::page;
use crate::output::screen::Screen;

pub(crate) use case::{Case, is_rejection};
pub(super) use json::object;
pub(crate) use model::{Outcome, Texts};
pub(crate) use rules::{HostRules, host_policy};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec review TR-20260209-160501Z-python-stats.md \\
           --allowed-signers /etc/toolexec/allowed_signers

Shows the run as the daemon will see it: the command word by word, inputs, limits, hosts, the
sandbox, the result of every policy rule, and the text of every input. Deceptive characters are
shown as \\u{…}, secrets are masked, and installations are marked. A request that lacks signatures
is `pending`. Only the host's ledger knows whether a request was started before.
Exit status: 0 it would run once approved; 2 it would be refused; 3 usage or internal error.
With --format json, stdout is the object of `toolexec explain` with the lines of the inputs.")]
pub(crate) struct Review {
    #[command(flatten)]
    case: CaseOptions,
    /// Show input texts in full [default: the first 400 lines of each]
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    show: ShowOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// Shows a request.
pub(in crate::commands) fn review(asked: &Review) -> Result<ExitCode, Failure> {
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

/// Returns the complete review as text.
pub(super) fn text(case: &Case, texts: Texts) -> String {
    human::text(case, texts, Screen::of(&io::stdout()))
}

/// Returns the review without colours, for the full screen.
pub(crate) fn plain_text(case: &Case, texts: Texts) -> String {
    human::text(case, texts, Screen::plain())
}

/// Returns what the text omits or cuts of the inputs; `None` if it shows every byte.
pub(super) fn left_out(case: &Case, texts: Texts) -> Option<String> {
    listing::left_out(case, texts)
}

/// Reads a request with the named rules, without an approver.
pub(super) fn read(asked: &CaseOptions, texts: Texts) -> Result<Case, Failure> {
    Case::read(asked, HostRules::read(&asked.rules)?, None, texts)
}

/// Returns the exit status of a review: 2 if the request would be refused.
pub(super) fn exit_code(case: &Case) -> ExitCode {
    match case.outcome() {
        Outcome::Ready | Outcome::Pending => ExitCode::SUCCESS,
        Outcome::Refused => ExitCode::from(2),
    }
}
