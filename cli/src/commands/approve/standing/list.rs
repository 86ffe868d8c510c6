//! `standing list`: lists the stored standing approvals. Read-only.

use std::process::ExitCode;

use clap::Args;
use validator::reveal_line;

use super::error::StandingCommandError;
use super::stored_row::{StoredRow, damage, read_all, state_directory};
use crate::args::{Format, StateOption};
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec standing list --state /var/lib/toolexec

Prints id, state, uses, end and agents. States: active; not yet (before not_before_utc); ended;
used up; revoked; not admitted (stored before a crash, and not usable). Signatures are not verified
here.
With --format json, each line of stdout is one object: {\"standing_id\",\"reference\",\"state\",
\"uses\",\"uses_max\",\"uses_per_hour_max\",\"agents\",\"subject\",\"audience\",\"not_before_utc\",
\"not_after_utc\",\"admitted_utc\",\"revoked_utc\",\"revoked_by\"}.")]
pub(crate) struct StandingListCommand {
    #[command(flatten)]
    state: StateOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn list(args: &StandingListCommand) -> Result<ExitCode, StandingCommandError> {
    let state = state_directory(&args.state)?;
    let stored = read_all(&state)?;
    for row in &stored.rows {
        match args.format {
            Format::Human => print_human(row)?,
            Format::Json => output::line(row.json())?,
        }
    }
    for reference in &stored.damaged {
        output::note(damage(reference));
    }
    if stored.rows.is_empty() && stored.damaged.is_empty() && args.format == Format::Human {
        output::line(format_args!("{}: no standing approvals", state.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_human(row: &StoredRow) -> Result<(), Failure> {
    let terms = row.terms();
    let agents: Vec<String> = terms.agents.iter().map(|agent| reveal_line(agent)).collect();
    output::line(format_args!(
        "{:<40}  {:<12}  {} of {} uses  until {}  {}",
        terms.id.as_str(),
        row.phase().as_str(),
        row.history.uses.len(),
        terms.uses_max,
        terms.not_after,
        agents.join(", "),
    ))
}
