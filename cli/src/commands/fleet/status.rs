//! `fleet status`: shows the fleet as its database states it. Read-only.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use fleet::commands::{FleetAct, FleetAnswer, FleetHostStatus, FleetStatus};
use model::escape_line;
use serde_json::{Value, json};

use super::error::FleetCommandError;
use super::host_row;
use super::listed::FleetSignerOptions;
use super::lost_check::LostHostCheck;
use crate::args::{FleetDatabaseOption, Format};
use crate::failure::Failure;
use crate::fleet_client::FleetClient;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec fleet status --database postgres://alice@db/toolexec

Prints the number of requests in each state, the hosts with their last beat, claims and log, and
each row that was changed by hand. Such a row is not used, and its request never runs. A host is
shown as lost only if a key of --approvers signed the order. While an order does not count, no host
claims requests.
Exit status: 0 shown; 1 a row was changed by hand, the log of a host is disputed, or an order about
a lost host does not count; 3 a file or the database cannot be used, or a usage error.
With --format json, stdout is one object: {\"fleet\",\"fleet_id\",\"requests\",\"hosts\",\"defects\"}.")]
pub(crate) struct FleetStatusCommand {
    #[command(flatten)]
    database: FleetDatabaseOption,
    #[command(flatten)]
    signers: FleetSignerOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn status(args: &FleetStatusCommand) -> Result<ExitCode, FleetCommandError> {
    let signers = args.signers.read()?;
    let status = read(&args.database.client()?)?;
    let check = LostHostCheck::new(&status.fleet_id, signers);
    match args.format {
        Format::Human => print_human(&status, &check)?,
        Format::Json => output::line(json_of(&status, &check))?,
    }
    let is_wrong = |host: &FleetHostStatus| !host.disputes.is_empty() || check.is_invalid(host);
    let is_wrong = status.hosts.iter().any(is_wrong) || !status.defects.is_empty();
    Ok(ExitCode::from(u8::from(is_wrong)))
}

/// Reads the state of the fleet from the database.
pub(super) fn read(client: &FleetClient) -> Result<FleetStatus, Failure> {
    match client.one(FleetAct::Status)? {
        FleetAnswer::Status(status) => Ok(status),
        _ => Err(client.unexpected()),
    }
}

fn print_human(status: &FleetStatus, check: &LostHostCheck) -> Result<(), Failure> {
    let FleetStatus { fleet, fleet_id, requests, hosts, defects } = status;
    output::line(format_args!("fleet     {fleet}, id {}", escape_line(fleet_id)))?;
    let counts: Vec<String> =
        requests.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    output::line(format_args!("requests  {counts}"))?;
    for host in hosts {
        output::line(format_args!("host      {}", host.host))?;
        for line in host_row::lines(host, check.verdict(host).as_ref()) {
            output::line(format_args!("          {line}"))?;
        }
    }
    for defect in defects {
        output::line(format_args!("defect    {}", escape_line(defect)))?;
    }
    Ok(())
}

fn json_of(status: &FleetStatus, check: &LostHostCheck) -> Value {
    let requests: BTreeMap<&str, u64> =
        status.requests.iter().map(|(state, count)| (state.as_str(), *count)).collect();
    let host = |host: &FleetHostStatus| host_row::json_of(host, check.verdict(host).as_ref());
    json!({
        "fleet": status.fleet.as_str(),
        "fleet_id": status.fleet_id,
        "requests": requests,
        "hosts": status.hosts.iter().map(host).collect::<Vec<_>>(),
        "defects": status.defects,
    })
}
