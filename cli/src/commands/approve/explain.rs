//! `toolexec explain`: the decision of `review`, without input texts.

use std::process::ExitCode;

use clap::Args;

use super::review::{self, InputTexts};
use crate::args::{CaseOptions, Format};
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec explain TR-20260209-160501Z-python-stats.md --format json

The output is that of `review` without input texts.
Exit status: 0 it would run once approved; 2 it would be refused; 3 usage or internal error.
With --format json, stdout is one object: {\"file\",\"request_id\",\"sha256\",\"words\",\"intent_sha256\",
\"verdict\",\"filled_on_approval\",\"rules\",\"violations\",\"pending\",\"policy\",\"risk\",\"approval\",
\"command\",\"backend\",\"environment\",\"inputs\",\"outputs\",\"limits\",\"network\",\"sandbox\"}.
`verdict` is ready, pending or refused, `words` are the first 66 bits of `sha256` in six words.")]
pub(crate) struct ExplainCommand {
    #[command(flatten)]
    case: CaseOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(in crate::commands) fn explain(args: &ExplainCommand) -> Result<ExitCode, Failure> {
    let case = review::read(&args.case, InputTexts::None)?;
    match args.format {
        Format::Human => output::text(&review::text(&case, InputTexts::None))?,
        Format::Json => output::line(review::object(&case, InputTexts::None))?,
    }
    Ok(review::exit_code(&case))
}
