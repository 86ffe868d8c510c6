//! `standing show`: prints a stored standing approval. Read-only. It must never show a signature as
//! verified.

use std::process::ExitCode;

use clap::Args;
use model::escape_line;
use validator::reveal_line;

use super::error::StandingCommandError;
use super::stored_row::{StoredRow, find, state_directory};
use crate::args::{Format, StateOption};
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec standing show SA-20260209-160501Z-means --state /var/lib/toolexec

Prints the reference by which requests name it, its state, its signature files and its text. The
signatures are not verified here.
Exit status: 0 shown; 2 no such standing approval is stored; 3 several match, or an error.
With --format json, stdout is one object: that of `toolexec standing list` with \"signature_files\",
\"unread_signatures\" and \"document\".")]
pub(crate) struct StandingShowCommand {
    /// Select the standing approval by its id, or a unique beginning of it
    #[arg(value_name = "SA-…")]
    standing: String,
    #[command(flatten)]
    state: StateOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn show(args: &StandingShowCommand) -> Result<ExitCode, StandingCommandError> {
    let state = state_directory(&args.state)?;
    let row = find(&state, &args.standing)?;
    match args.format {
        Format::Human => output::text(&human(&row))?,
        Format::Json => {
            let mut object = row.json();
            object["signature_files"] = signature_files(&row).into();
            object["unread_signatures"] = row.stored.unread.clone().into();
            object["document"] = text(&row).into();
            output::line(object)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn signature_files(row: &StoredRow) -> Vec<String> {
    row.stored.signatures.iter().map(|file| file.name.clone()).collect()
}

fn text(row: &StoredRow) -> String {
    String::from_utf8_lossy(row.stored.approval.bytes()).into_owned()
}

fn human(row: &StoredRow) -> String {
    let (terms, history) = (row.terms(), &row.history);
    let agents: Vec<String> = terms.agents.iter().map(|agent| reveal_line(agent)).collect();
    let mut lines = vec![
        format!("reference  {}", row.reference),
        format!("state      {}", row.phase().as_str()),
        format!("agents     {}", agents.join(", ")),
        format!("host       {}", reveal_line(&terms.audience)),
        format!("period     {} until {}", terms.not_before, terms.not_after),
        format!(
            "uses       {} of {}, at most {} an hour",
            history.uses.len(),
            terms.uses_max,
            terms.uses_per_hour_max
        ),
    ];
    if let Some(at) = &history.admitted {
        lines.push(format!("admitted   {}", escape_line(at)));
    }
    if let Some(revoked) = &history.revoked {
        let (at, by) = (escape_line(&revoked.at), reveal_line(&revoked.by));
        lines.push(format!("revoked    {at} by {by}"));
    }
    for name in signature_files(row) {
        lines.push(format!("signature  {} (not verified here)", escape_line(&name)));
    }
    lines.extend(row.stored.unread.iter().map(|why| format!("not read   {}", escape_line(why))));
    lines.push(String::new());
    lines.extend(text(row).lines().map(reveal_line));
    lines.push(String::new());
    lines.join("\n")
}
