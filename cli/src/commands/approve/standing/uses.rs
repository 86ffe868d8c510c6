//! `standing uses`: lists the uses of a standing approval, as the ledger has them, or as the daemon
//! published them. Read-only.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use model::{StandingId, StandingReference, escape_line};
use serde_json::json;

use super::error::StandingCommandError;
use super::published_uses::read_published;
use super::stored_row::{find, select, state_directory};
use crate::args::{Format, StateOption};
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec standing uses SA-20260209-160501Z-means --state /var/lib/toolexec
         toolexec standing uses SA-20260209-160501Z-means --spool /var/spool/toolexec

Prints number, time, request and result of each use. A use also counts if no tool was started.
Without access to the state, --spool prints what the daemon publishes for every reader of the
spool: number and time of the latest 100 uses. What has ended or was revoked is not published.
Exit status: 0 printed; 2 no such standing approval is stored; 3 several match, or an error.
With --format json, each line of stdout is one object: {\"use\",\"begun_utc\",\"request_id\",
\"result_id\"}; with --spool, the ids are null.")]
pub(crate) struct StandingUsesCommand {
    /// Select the standing approval by its id, or a unique beginning of it
    #[arg(value_name = "SA-…")]
    standing: String,
    /// Read the uses that the daemon of this spool published, instead of a state
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    spool: Option<PathBuf>,
    #[command(flatten)]
    state: StateOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// A use, as far as it is known.
struct StandingUseRow {
    number: u64,
    begun: Option<String>,
    request_id: Option<String>,
    result_id: Option<String>,
}

/// The uses of a standing approval, oldest first.
struct ListedUses {
    id: StandingId,
    rows: Vec<StandingUseRow>,
    /// The number of all uses.
    count: u64,
}

pub(super) fn uses(args: &StandingUsesCommand) -> Result<ExitCode, StandingCommandError> {
    let listed = match &args.spool {
        Some(spool) => published(spool, &args.standing)?,
        None => stored(&args.state, &args.standing)?,
    };
    for row in &listed.rows {
        match args.format {
            Format::Human => print_human(row)?,
            Format::Json => output::line(json!({
                "use": row.number,
                "begun_utc": row.begun,
                "request_id": row.request_id,
                "result_id": row.result_id,
            }))?,
        }
    }
    let ListedUses { id, rows, count } = listed;
    let shown = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    if count == 0 && args.format == Format::Human {
        output::line(format_args!("{id}: no uses"))?;
    } else if shown < count {
        let help = "the state directory has all (--state)";
        output::note(format_args!(
            "{id}: {count} uses, the latest {shown} are shown; help: {help}"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the uses from the ledger of a state.
fn stored(option: &StateOption, typed: &str) -> Result<ListedUses, StandingCommandError> {
    let row = find(&state_directory(option)?, typed)?;
    let rows = row.history.uses.iter().map(|entry| StandingUseRow {
        number: entry.number,
        begun: entry.begun.clone(),
        request_id: Some(entry.request_id.clone()),
        result_id: Some(entry.result_id.clone()),
    });
    let rows: Vec<StandingUseRow> = rows.collect();
    let count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    Ok(ListedUses { id: row.terms().id.clone(), rows, count })
}

/// Returns the latest uses, as the daemon of a spool published them.
fn published(spool: &Path, typed: &str) -> Result<ListedUses, StandingCommandError> {
    let all = read_published(spool)?;
    let references: Vec<StandingReference> = all.iter().map(|it| it.reference.clone()).collect();
    let place = spool.join("public/standing");
    let help = "list this directory; one that has ended or was revoked is in the state only";
    let chosen = select(&references, typed, &place, help)?.clone();
    let uses = all.into_iter().find(|it| it.reference == chosen).map(|it| it.uses);
    let (count, latest) = uses.map(|uses| (uses.uses, uses.latest_utc)).unwrap_or_default();
    let before = count.saturating_sub(u64::try_from(latest.len()).unwrap_or(u64::MAX));
    let rows = (1..).zip(latest).map(|(at, begun)| StandingUseRow {
        number: before.saturating_add(at),
        begun: Some(begun),
        request_id: None,
        result_id: None,
    });
    Ok(ListedUses { id: chosen.id, rows: rows.collect(), count })
}

fn print_human(row: &StandingUseRow) -> Result<(), Failure> {
    let shown = |value: &Option<String>| escape_line(value.as_deref().unwrap_or("-"));
    output::line(format_args!(
        "{:>6}  {:<20}  {}  {}",
        row.number,
        shown(&row.begun),
        shown(&row.request_id),
        shown(&row.result_id),
    ))
}
