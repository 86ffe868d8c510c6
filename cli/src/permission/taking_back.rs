//! `permission revoke` and `permission cleanup`: less is permitted afterwards than before, and never more.

use std::process::ExitCode;

use policies::permissions::{Change, PermissionManager, Terms};
use serde_json::json;
use validator::reveal_line;

use super::error::Undone;
use super::store::source_json;
use crate::args::Format;
use crate::failure::Failure;
use crate::options::{PermissionCleanup, PermissionRevoke};
use crate::output;

pub(super) fn revoke(asked: &PermissionRevoke) -> Result<ExitCode, Undone> {
    let moment = asked.store.moment()?;
    let mut store = asked.store.open(Terms::default())?;
    let change = match (&asked.tool, asked.grant) {
        (None, Some(id)) => store.revoke_grant(id, &moment)?,
        (Some(tool), id) => {
            let source = asked.source.named()?;
            match asked.denial {
                true => store.lift(&source, tool, &moment)?,
                false => store.revoke(&source, tool, id, &moment)?,
            }
        }
        (None, None) => return Err(Failure::Said("name a tool, or --grant".into()).into()),
    };
    let (source, tool, grants, lifted) = match change {
        Change::Revoked { source, tool, grants } => (source, tool, grants, false),
        Change::Lifted { source, tool } => (source, tool, Vec::new(), true),
        _ => return Err(Failure::Said("the store changed something else".into()).into()),
    };
    match asked.store.format {
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

pub(super) fn cleanup(asked: &PermissionCleanup) -> Result<ExitCode, Undone> {
    let source = asked.source.named()?;
    let moment = asked.store.moment()?;
    let cleaned = asked.store.open(Terms::default())?.cleanup(&source, &moment)?.is_some();
    match asked.store.format {
        Format::Human => {
            let what = if cleaned { "cleaned up" } else { "nothing was kept" };
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
