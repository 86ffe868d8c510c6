//! `toolexec list`: lists requests and records without verification. Read-only.

use std::process::ExitCode;

use clap::{ArgGroup, Args};

use super::daemon::DaemonView;
use super::fleet_rows;
use super::place::PlaceOptions;
use super::reason;
use super::rows::{QueueRow, QueueState, queue, result_rows};
use crate::args::{FleetOption, Format};
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(
    group = ArgGroup::new("listed_place").args(["spool", "dir", "fleet"]),
    after_help = "\
Example: toolexec list --spool /var/spool/toolexec --waiting
         toolexec list --fleet postgres://alice@db/toolexec --waiting

States: waiting; held (for approval or permission); claimed, staging, running, publishing (reported
by the daemon); interrupted (in flight when the daemon died; its next start records the outcome);
recorded (a record exists, but the request has not left approved/ or was submitted again);
otherwise the outcome of the record. The statements of results are not verified here. Lists a
spool, or the embedded state if no spool is named and /var/spool/toolexec does not exist.
With --fleet: queued; claimed (by a host); started; indeterminate (its host or record is lost);
otherwise the outcome that its host reported."
)]
pub(crate) struct ListCommand {
    /// List only requests without a record
    #[arg(long)]
    waiting: bool,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    fleet: FleetOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(in crate::commands) fn list(args: &ListCommand) -> Result<ExitCode, Failure> {
    if let Some(client) = args.fleet.client()? {
        return fleet_rows::list(args.waiting, args.format, &client);
    }
    let place = args.place.path()?;
    let queue = queue(&place, &DaemonView::of(&place));
    let (mut rows, mut unseen) = (queue.rows, queue.unreadable);
    let mut seen_any = unseen.is_empty() || !rows.is_empty();
    if !args.waiting {
        match result_rows(&place) {
            Ok(found) => {
                seen_any = true;
                rows.extend(found);
            }
            // The error of the queue already reports this.
            Err(failure) if unseen.is_empty() => unseen.push(failure),
            Err(_) => {}
        }
    }
    // A caller may read only one of the directories. If neither is readable, that is an error.
    let last = if seen_any { None } else { unseen.pop() };
    for failure in &unseen {
        output::note(format_args!("not listed: {failure}"));
    }
    if let Some(failure) = last {
        return Err(failure);
    }
    for row in &rows {
        match args.format {
            Format::Human => print_human(row)?,
            Format::Json => output::line(json_of(row))?,
        }
    }
    if rows.is_empty() && args.format == Format::Human {
        let none = if args.waiting { "no request waits" } else { "no requests or results" };
        output::line(format_args!("{}: {none}", place.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_human(row: &QueueRow) -> Result<(), Failure> {
    let text = |text: &str| model::escape_line(text);
    output::line(format_args!(
        "{:<20}  {:<17}  {}  {}",
        text(row.created_utc.as_deref().unwrap_or("-")),
        text(row.state.as_str()),
        text(&row.request_id),
        text(row.result_id.as_deref().unwrap_or("-")),
    ))?;
    for line in held_lines(&row.state).into_iter().chain(reason_line(row)) {
        output::line(format_args!("    {line}"))?;
    }
    Ok(())
}

pub(super) fn reason_line(row: &QueueRow) -> Option<String> {
    row.reason.as_deref().map(reason::short)
}

/// Returns the conditions that a held request waits for, one per line.
pub(super) fn held_lines(state: &QueueState) -> Vec<String> {
    let QueueState::Held(held) = state else { return Vec::new() };
    let text = |text: &str| model::escape_line(text);
    let line = |waits: &spool::HoldReason| {
        let (code, message) = (text(&waits.code), text(&waits.message));
        format!("until {}: {code}: {message}", text(&held.until_utc))
    };
    held.waits_for.iter().map(line).collect()
}

pub(super) fn json_of(row: &QueueRow) -> serde_json::Value {
    let (held, running) = match &row.state {
        QueueState::Held(held) => (Some(held), None),
        QueueState::InFlight(running) | QueueState::Interrupted(running) => (None, Some(running)),
        QueueState::Waiting
        | QueueState::Recorded
        | QueueState::Done(_)
        | QueueState::Unreadable => (None, None),
    };
    serde_json::json!({
        "request_id": row.request_id,
        "state": row.state.as_str(),
        "result_id": row.result_id,
        "created_utc": row.created_utc,
        "reason": row.reason,
        "path": output::path(&row.path),
        "held": held,
        "running": running,
    })
}
