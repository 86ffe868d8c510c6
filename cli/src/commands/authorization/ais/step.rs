//! `toolexec ais step`: prints the plan's step that does what a request does.

use std::path::PathBuf;

use clap::Args;
use policies::ais::{step_args, tool_name};
use serde_json::json;

use super::document;
use super::error::AisCommandResult;
use super::print::print;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec ais step TR-20260209-160501Z-python-stats.md

Prints {\"tool\",\"args\"} as a step of the plan must have them to be bound to this request. A draft is
sufficient: approving it does not change them.")]
pub(crate) struct AisStepCommand {
    /// Read this request or draft
    #[arg(value_name = "REQUEST.md")]
    request: PathBuf,
}

pub(super) fn print_step(args: &AisStepCommand) -> AisCommandResult {
    let request = document::request_or_draft(&args.request)?;
    print(&json!({ "tool": tool_name(request.language()), "args": step_args(&request) }))
}
