//! `toolexec wait --fleet`: waits until the database has the record of each request, or until an
//! operator has declared its host lost.

use std::collections::BTreeSet;
use std::process::ExitCode;

use fleet::commands::{FleetAct, FleetAnswer, FleetRequest};
use fleet::model::FleetState;
use model::escape_line;
use serde_json::json;

use super::fleet_rows::{json_of, word_of};
use super::results::exit_code_of;
use crate::args::Format;
use crate::failure::Failure;
use crate::fleet_client::FleetClient;
use crate::output;

pub(super) fn wait(
    ids: &[String],
    timeout_sec: Option<u64>,
    format: Format,
    client: &FleetClient,
) -> Result<ExitCode, Failure> {
    let mut waiting: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let requests = waiting.iter().map(|id| (*id).to_owned()).collect();
    let mut worst = 0;
    client.each(FleetAct::Wait { requests, timeout_sec }, |answer| match answer {
        FleetAnswer::Request(request) => {
            if !waiting.remove(request.request.as_str()) {
                return Err(client.unexpected());
            }
            worst = worst.max(print(format, &request)?);
            Ok(())
        }
        FleetAnswer::TimedOut => Ok(()),
        _ => Err(client.unexpected()),
    })?;
    for id in waiting {
        worst = worst.max(print_missing(format, id)?);
    }
    Ok(ExitCode::from(worst))
}

/// Prints a request that has ended, or whose time is over. Returns its exit status.
fn print(format: Format, request: &FleetRequest) -> Result<u8, Failure> {
    let (word, code) = match request.state {
        FleetState::Ended | FleetState::Indeterminate => {
            let word = word_of(request);
            (word, exit_code_of(word))
        }
        FleetState::Queued | FleetState::Claimed | FleetState::Started => ("has no record yet", 3),
    };
    match format {
        Format::Human => {
            let id = &request.request;
            let host =
                request.host.as_ref().map_or_else(String::new, |host| format!("  on {host}"));
            output::line(escape_line(&format!("{id}  {word}{host}")))?;
        }
        Format::Json => {
            let mut object = json_of(request);
            object["state"] = word.into();
            object["verified"] = false.into();
            output::line(object)?;
        }
    }
    Ok(code)
}

fn print_missing(format: Format, id: &str) -> Result<u8, Failure> {
    const MISSING: &str = "no such request";
    match format {
        Format::Human => {
            output::line(escape_line(&format!("{id}  {MISSING}")))?;
            let (id, help) =
                (escape_line(id), "list the requests with `toolexec list --fleet URL`");
            output::note(format_args!("{id}: {MISSING} in the fleet; help: {help}"));
        }
        Format::Json => output::line(json!({ "request_id": id, "state": MISSING }))?,
    }
    Ok(2)
}
