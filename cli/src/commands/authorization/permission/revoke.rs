//! `permission revoke`: revokes grants or lifts a denial. An old answer never becomes valid again.

use std::process::ExitCode;

use clap::Args;
use policies::permissions::{
    GrantId, PermissionChange, PermissionManager, PermissionTerms, ToolName,
};
use serde_json::json;
use validator::reveal_line;

use super::error::PermissionCommandError;
use super::store::{StoreOptions, source_json};
use crate::args::{Format, SourceOptions};
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission revoke --agent core --subject wf-1 toolexec.run.python
         toolexec permission revoke --grant G12.0

The tool becomes REQUESTABLE, and answers to earlier requests no longer count. A denial remains
unless --denial lifts it: the tool can then be requested again, and no older grant returns.
Exit status: 0 something was revoked or lifted; 2 it does not exist; 3 usage or internal error.
With --format json, stdout is one object: {\"source\",\"tool\",\"grants\",\"lifted\",\"traceparent\"}.")]
pub(crate) struct PermissionRevokeCommand {
    #[command(flatten)]
    source: SourceOptions,
    /// Revoke the grants of this tool
    #[arg(value_name = "TOOL", required_unless_present = "grant", requires = "agent")]
    tool: Option<ToolName>,
    /// Revoke only this grant
    #[arg(long, value_name = "G….…", conflicts_with = "denial")]
    grant: Option<GrantId>,
    /// Lift the denial of the tool
    #[arg(long, requires = "tool")]
    denial: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(super) fn revoke(args: &PermissionRevokeCommand) -> Result<ExitCode, PermissionCommandError> {
    let moment = args.store.moment()?;
    let mut store = args.store.open(PermissionTerms::default())?;
    let change = match (&args.tool, args.grant) {
        (None, Some(id)) => store.revoke_grant(id, &moment)?,
        (Some(tool), id) => {
            let source = args.source.required()?;
            match args.denial {
                true => store.remove_denial(&source, tool, &moment)?,
                false => store.revoke(&source, tool, id, &moment)?,
            }
        }
        (None, None) => {
            return Err(Failure::Message("no tool; help: name one, or --grant".into()).into());
        }
    };
    let (source, tool, grants, lifted) = match change {
        PermissionChange::Revoked { source, tool, grants } => (source, tool, grants, false),
        PermissionChange::Lifted { source, tool } => (source, tool, Vec::new(), true),
        _ => {
            let why = "store: unexpected change; help: report this as a bug";
            return Err(Failure::Message(why.into()).into());
        }
    };
    match args.store.format {
        Format::Human => {
            let what = if lifted { "no longer denied" } else { "revoked" };
            let (source, tool) = (source.to_string(), tool.to_string());
            output::line(format_args!("{}: {}: {what}", reveal_line(&source), reveal_line(&tool)))?;
        }
        Format::Json => output::line(json!({
            "source": source_json(&source),
            "tool": tool,
            "grants": grants,
            "lifted": lifted,
            "traceparent": moment.traceparent.to_string(),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}
