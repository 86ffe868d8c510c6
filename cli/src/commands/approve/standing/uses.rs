//! `standing uses`: lists the uses of a standing approval, as the ledger has them. Read-only.

use std::process::ExitCode;

use clap::Args;
use model::escape_line;
use serde_json::json;
use spool::StandingUseEntry;

use super::error::StandingCommandError;
use super::stored_row::{find, state_directory};
use crate::args::{Format, StateOption};
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec standing uses SA-20260209-160501Z-means --state /var/lib/toolexec

Prints number, time, request and result of each use. A use also counts if no tool was started.
Exit status: 0 printed; 2 no such standing approval is stored; 3 several match, or an error.
With --format json, each line of stdout is one object: {\"use\",\"begun_utc\",\"request_id\",
\"result_id\"}.")]
pub(crate) struct StandingUsesCommand {
    /// Select the standing approval by its id, or a unique beginning of it
    #[arg(value_name = "SA-…")]
    standing: String,
    #[command(flatten)]
    state: StateOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn uses(args: &StandingUsesCommand) -> Result<ExitCode, StandingCommandError> {
    let state = state_directory(&args.state)?;
    let row = find(&state, &args.standing)?;
    for entry in &row.history.uses {
        match args.format {
            Format::Human => print_human(entry)?,
            Format::Json => output::line(json!({
                "use": entry.number,
                "begun_utc": entry.begun,
                "request_id": entry.request_id,
                "result_id": entry.result_id,
            }))?,
        }
    }
    if row.history.uses.is_empty() && args.format == Format::Human {
        output::line(format_args!("{}: no uses", row.terms().id))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_human(entry: &StandingUseEntry) -> Result<(), Failure> {
    output::line(format_args!(
        "{:>6}  {:<20}  {}  {}",
        entry.number,
        escape_line(entry.begun.as_deref().unwrap_or("-")),
        escape_line(&entry.request_id),
        escape_line(&entry.result_id),
    ))
}
