//! Requests as the database of a fleet states them, and `toolexec list --fleet`. Nothing in them is
//! verified: the record of a host proves what ran.

use std::process::ExitCode;

use fleet::commands::{FleetAct, FleetRequest};
use fleet::model::FleetState;
use model::escape_line;
use serde_json::{Value, json};

use crate::args::Format;
use crate::failure::Failure;
use crate::fleet_client::FleetClient;
use crate::output;

/// Limit of listed requests per state or in all.
const LISTED_MAX: u32 = 100_000;

/// Lists the requests of a fleet, oldest first.
pub(super) fn list(
    is_waiting: bool,
    format: Format,
    client: &FleetClient,
) -> Result<ExitCode, Failure> {
    let states: Vec<Option<FleetState>> = match is_waiting {
        true => {
            FleetState::ALL.iter().filter(|it| has_no_record(**it)).copied().map(Some).collect()
        }
        false => vec![None],
    };
    let (mut rows, mut is_cut) = (Vec::new(), false);
    for state in states {
        let found = client.requests(FleetAct::List { state, count_max: LISTED_MAX })?;
        is_cut |= u32::try_from(found.len()).is_ok_and(|count| count >= LISTED_MAX);
        rows.extend(found);
    }
    rows.sort_by(|a, b| {
        a.submitted_utc.cmp(&b.submitted_utc).then_with(|| a.request.cmp(&b.request))
    });
    for row in &rows {
        match format {
            Format::Human => output::line(line_of(row))?,
            Format::Json => output::line(json_of(row))?,
        }
    }
    if is_cut {
        output::note(format_args!("older requests than the last {LISTED_MAX} are not listed"));
    }
    if rows.is_empty() && format == Format::Human {
        let none = if is_waiting { "no request waits" } else { "no requests" };
        output::line(format_args!("{none} in the fleet"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn has_no_record(state: FleetState) -> bool {
    state != FleetState::Ended
}

/// Returns the outcome of an ended request, else its state.
pub(super) fn word_of(request: &FleetRequest) -> &str {
    match (request.state, &request.outcome) {
        (FleetState::Ended, Some(outcome)) => outcome,
        (state, _) => state.as_str(),
    }
}

fn line_of(request: &FleetRequest) -> String {
    escape_line(&format!(
        "{:<20}  {:<17}  {}  {}  {}",
        request.submitted_utc,
        word_of(request),
        request.request,
        request.result.as_deref().unwrap_or("-"),
        request.host.as_ref().map_or("-", |host| host.as_str()),
    ))
}

/// Returns the request for other programs.
pub(super) fn json_of(request: &FleetRequest) -> Value {
    json!({
        "request_id": request.request,
        "state": word_of(request),
        "fleet_state": request.state.as_str(),
        "host": request.host.as_ref().map(|host| host.as_str()),
        "result_id": request.result,
        "outcome": request.outcome,
        "exit_code": request.exit_code,
        "audience": request.audience,
        "submitted_by": request.submitted_by,
        "submitted_utc": request.submitted_utc,
        "document_sha256": request.document_sha256,
    })
}
