//! `permission list`: prints grants, denials and open requests, or every change. Read-only.

use std::process::ExitCode;

use clap::Args;
use model::escape_line;
use policies::permissions::{
    OpenPermissionRequest, PermissionGrant, PermissionSource, PermissionTerms, ToolGrants,
};
use serde_json::json;
use validator::reveal_line;

use super::error::PermissionCommandError;
use super::store::{StoreOptions, source_json};
use crate::args::{Format, SourceOptions};
use crate::failure::Failure;
use crate::{clock, output};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission list --agent core --subject wf-1

With --format json, each line of stdout is one object: {\"source\",\"tool\",\"state\",\"denied\",\"grants\"}
or {\"waiting\",\"source\",\"tools\",\"expires_utc\"}; with --trail, a line of the trail: {\"begun\"} first,
then {\"entry\"}.")]
pub(crate) struct PermissionListCommand {
    #[command(flatten)]
    source: SourceOptions,
    /// Print every change instead of the current state: time, trace, author, change
    #[arg(long, conflicts_with = "agent")]
    trail: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(super) fn list(args: &PermissionListCommand) -> Result<ExitCode, PermissionCommandError> {
    let mut store = args.store.open(PermissionTerms::default())?;
    if args.trail {
        store.trail(|line| {
            output::line(escape_line(line)).map_err(|error| match error {
                Failure::Io(_, error) => error,
                other => std::io::Error::other(other.to_string()),
            })
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let only = args.source.source();
    let wanted = |source: &PermissionSource| only.as_ref().is_none_or(|only| only == source);
    let register = store.register()?;
    let mut rows: Vec<_> = register.tool_grants().filter(|(source, _)| wanted(source)).collect();
    rows.sort_by_key(|(source, tool_grants)| (*source, &tool_grants.tool));
    let mut waiting: Vec<_> = register.open().filter(|ask| wanted(&ask.source)).collect();
    waiting.sort_by_key(|ask| &ask.id);
    if rows.is_empty() && waiting.is_empty() && args.store.format == Format::Human {
        output::line("no grants, denials or open requests")?;
    }
    for (source, tool_grants) in rows {
        grants_line(source, tool_grants, args.store.format)?;
    }
    waiting.into_iter().try_for_each(|ask| waiting_line(ask, args.store.format))?;
    Ok(ExitCode::SUCCESS)
}

fn grants_line(
    source: &PermissionSource,
    tool_grants: &ToolGrants,
    format: Format,
) -> Result<(), Failure> {
    let state = tool_grants.state(clock::now());
    match format {
        Format::Json => output::line(json!({
            "source": source_json(source),
            "tool": tool_grants.tool,
            "state": state,
            "denied": tool_grants.denied,
            "grants": tool_grants.grants,
        })),
        Format::Human => {
            let grants: Vec<String> = tool_grants.grants.iter().map(grant_text).collect();
            let grants = grants.join(", ");
            let (source, tool) = (reveal_line(&source.to_string()), &tool_grants.tool);
            let tool = reveal_line(tool.as_str());
            output::line(format_args!("{source}: {tool}: {state} {grants}").to_string().trim_end())
        }
    }
}

fn grant_text(grant: &PermissionGrant) -> String {
    let mut text = grant.id.to_string();
    match grant.uses_left.map(|uses| uses.get()) {
        Some(1) => text += " for 1 more use",
        Some(uses) => text += &format!(" for {uses} more uses"),
        None => {}
    }
    if let Some(end) = grant.expires {
        text += &format!(" until {end}");
    }
    if let Some(inputs) = &grant.inputs {
        text += &format!(" for {} inputs", inputs.len());
    }
    text
}

fn waiting_line(ask: &OpenPermissionRequest, format: Format) -> Result<(), Failure> {
    let tools: Vec<&str> = ask.tools.iter().map(|it| it.tool.as_str()).collect();
    match format {
        Format::Json => output::line(json!({
            "waiting": ask.id,
            "source": source_json(&ask.source),
            "tools": tools,
            "expires_utc": ask.expires.to_string(),
        })),
        Format::Human => {
            let (source, tools) = (reveal_line(&ask.source.to_string()), tools.join(", "));
            let tools = reveal_line(&tools);
            output::line(format_args!("{source}: {tools}: waiting for an answer to {}", ask.id))
        }
    }
}
