//! `permission cleanup`: removes every permission of a workflow.

use std::process::ExitCode;

use clap::Args;
use policies::permissions::{PermissionManager, PermissionTerms};
use serde_json::json;
use validator::reveal_line;

use super::error::PermissionCommandError;
use super::store::{StoreOptions, source_json};
use crate::args::{Format, SourceOptions};
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission cleanup --agent core --subject wf-1

Removes all permissions of exactly this agent, workflow and scope. Repeating it is safe.
With --format json, stdout is one object: {\"source\",\"cleaned\",\"traceparent\"}.")]
pub(crate) struct PermissionCleanupCommand {
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    store: StoreOptions,
}

pub(super) fn cleanup(args: &PermissionCleanupCommand) -> Result<ExitCode, PermissionCommandError> {
    let source = args.source.required()?;
    let moment = args.store.moment()?;
    let cleaned = args.store.open(PermissionTerms::default())?.cleanup(&source, &moment)?.is_some();
    match args.store.format {
        Format::Human => {
            let what = if cleaned { "cleaned up" } else { "nothing to clean up" };
            output::line(format_args!("{}: {what}", reveal_line(&source.to_string())))?;
        }
        Format::Json => output::line(json!({
            "source": source_json(&source),
            "cleaned": cleaned,
            "traceparent": moment.traceparent.to_string(),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}
