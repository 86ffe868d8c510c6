//! `toolexec review` and `toolexec explain`: shows what a request would run and the result of every
//! rule, or what a standing approval would admit. `approve` shows the same review. It decides with
//! the daemon's code and changes nothing. It must never print a byte of the request or its inputs
//! unescaped.

mod backend;
mod data;
mod ending;
mod environment;
mod filled_document;
mod human;
mod input_folder;
pub(in crate::commands) mod inputs;
mod json;
mod listing;
mod model;
mod named_environment;
mod page;
mod reading;
mod rules;
mod standing;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use crate::args::{CaseOptions, Format, RulesOptions, ShowOptions};
use crate::failure::Failure;
use crate::output;
use crate::output::pager::page;
use crate::output::screen::OutputScreen;

pub(crate) use backend::further as further_backend;
pub(crate) use data::{ReviewData, is_rejection};
pub(crate) use human::word_text;
pub(crate) use inputs::{DeclaredInput, FoundInput};
pub(super) use json::object;
pub(crate) use model::{InputTexts, ReviewVerdict, ShownFile};
pub(crate) use rules::{HostRules, host_policy};
pub(super) use standing::text as standing_text;
pub(in crate::commands) use standing::{StandingReview, is_standing_file, refuse_inputs};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec review TR-20260209-160501Z-python-stats.md \\
           --approvers /etc/toolexec/allowed_signers

Shows the run as the daemon will see it: the command word by word, inputs, limits, hosts, the
sandbox, the backend with the digest of its program, the environment with its source, the result of
every policy rule, the text of every input file, and the first 20 paths of every input folder.
Deceptive characters are shown as \\u{…}, secrets are masked, and installations are marked. A
request that lacks signatures is `pending`. Only the host's ledger knows whether a request was
started before.
A standing approval, SA-….md, is shown as the bounds of its runs: the values that may vary, the
fixed parts, at most ten example commands, and the widest effect.
Exit status: 0 it would run once approved; 2 it would be refused; 3 usage or internal error.
With --format json, stdout is the object of `toolexec explain` with the lines of the inputs. For a
standing approval it is one object: {\"file\",\"standing_id\",\"sha256\",\"words\",\"verdict\",
\"violations\",\"pending\",\"filled_on_approval\",\"policy\",\"signature_files\",\"rejection_files\",
\"purpose\",\"created_utc\",\"approved_by\",\"approved_utc\",\"audience\",\"agents\",\"subject\",
\"not_before_utc\",\"not_after_utc\",\"uses\",\"may_vary\",\"fixed\",\"examples\",\"widest_effect\",
\"warnings\"}.")]
pub(crate) struct ReviewCommand {
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

pub(in crate::commands) fn review(args: &ReviewCommand) -> Result<ExitCode, Failure> {
    if is_standing_file(&args.case.request) {
        return standing::show(&args.case, args.show.no_pager, args.format);
    }
    let texts = if args.full { InputTexts::Whole } else { InputTexts::Beginnings };
    let case = read(&args.case, texts)?;
    match args.format {
        Format::Human => {
            page(&text(&case, texts), args.show.no_pager)?;
        }
        Format::Json => output::line(json::object(&case, texts))?,
    }
    Ok(exit_code(&case))
}

pub(super) fn text(case: &ReviewData, texts: InputTexts) -> String {
    human::text(case, texts, OutputScreen::of(&io::stdout()))
}

/// Returns the review of a file without colours, for the full screen.
pub(crate) fn plain_review(document: &Path, rules: &RulesOptions) -> Result<String, Failure> {
    let rules = HostRules::read(rules)?;
    if is_standing_file(document) {
        let case = StandingReview::read(document, rules, None)?;
        return Ok(standing::plain_text(&case));
    }
    let texts = InputTexts::Beginnings;
    let case = ReviewData::read(document, None, rules, None, texts)?;
    Ok(plain_text(&case, texts))
}

/// Returns the review of a request without colours.
pub(crate) fn plain_text(case: &ReviewData, texts: InputTexts) -> String {
    human::text(case, texts, OutputScreen::plain())
}

/// Returns what the text omits or cuts of the inputs; `None` if it shows every byte.
pub(super) fn omitted(case: &ReviewData, texts: InputTexts) -> Option<String> {
    listing::omitted(case, texts)
}

pub(super) fn read(args: &CaseOptions, texts: InputTexts) -> Result<ReviewData, Failure> {
    if is_standing_file(&args.request) {
        let name = output::human::name(&args.request);
        let why = "a standing approval; help: show it with `toolexec review`";
        return Err(Failure::Message(format!("{name}: {why}")));
    }
    let rules = HostRules::read(&args.rules)?;
    ReviewData::read(&args.request, args.inputs.as_deref(), rules, None, texts)
}

/// Returns the exit status of a review: 2 if the request would be refused.
pub(super) fn exit_code(case: &ReviewData) -> ExitCode {
    case.outcome().exit_code()
}
