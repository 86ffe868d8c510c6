//! `fleet status`: shows the fleet as its database states it. Read-only.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use fleet::commands::{FleetAct, FleetAnswer, FleetStatus};
use model::escape_line;
use serde_json::{Value, json};

use super::error::FleetCommandError;
use super::host_row;
use crate::args::{FleetDatabaseOption, Format};
use crate::failure::Failure;
use crate::fleet_client::FleetClient;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec fleet status --database postgres://alice@db/toolexec

Prints the number of requests in each state, the hosts with their last beat, claims and log, and
each row that was changed by hand. Such a row is not used, and its request never runs.
Exit status: 0 shown; 1 a row was changed by hand, or the log of a host is disputed; 3 the database
cannot be used, or a usage error.
With --format json, stdout is one object: {\"fleet\",\"fleet_id\",\"requests\",\"hosts\",\"defects\"}.")]
pub(crate) struct FleetStatusCommand {
    #[command(flatten)]
    database: FleetDatabaseOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn status(args: &FleetStatusCommand) -> Result<ExitCode, FleetCommandError> {
    let status = read(&args.database.client()?)?;
    match args.format {
        Format::Human => print_human(&status)?,
        Format::Json => output::line(json_of(&status))?,
    }
    let is_disputed = status.hosts.iter().any(|host| !host.disputes.is_empty());
    Ok(ExitCode::from(u8::from(is_disputed || !status.defects.is_empty())))
}

/// Reads the state of the fleet from the database.
pub(super) fn read(client: &FleetClient) -> Result<FleetStatus, Failure> {
    match client.one(FleetAct::Status)? {
        FleetAnswer::Status(status) => Ok(status),
        _ => Err(client.unexpected()),
    }
}

fn print_human(status: &FleetStatus) -> Result<(), Failure> {
    let FleetStatus { fleet, fleet_id, requests, hosts, defects } = status;
    output::line(format_args!("fleet     {fleet}, id {}", escape_line(fleet_id)))?;
    let counts: Vec<String> =
        requests.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    output::line(format_args!("requests  {counts}"))?;
    for host in hosts {
        output::line(format_args!("host      {}", host.host))?;
        for line in host_row::lines(host) {
            output::line(format_args!("          {line}"))?;
        }
    }
    for defect in defects {
        output::line(format_args!("defect    {}", escape_line(defect)))?;
    }
    Ok(())
}

fn json_of(status: &FleetStatus) -> Value {
    let requests: BTreeMap<&str, u64> =
        status.requests.iter().map(|(state, count)| (state.as_str(), *count)).collect();
    json!({
        "fleet": status.fleet.as_str(),
        "fleet_id": status.fleet_id,
        "requests": requests,
        "hosts": status.hosts.iter().map(host_row::json_of).collect::<Vec<_>>(),
        "defects": status.defects,
    })
}
