//! `fleet hosts`: compares the hosts of the database with the signed list. The database has the
//! statements of the hosts; an operator signed the list.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::Args;
use fleet::commands::{FleetHostStatus, FleetStatus};
use policies::{FleetList, FleetListHost};
use serde_json::{Value, json};

use super::error::FleetCommandError;
use super::host_row;
use super::listed::FleetListOptions;
use super::lost_check::{LostHostCheck, LostHostVerdict};
use super::status;
use crate::args::{FleetDatabaseOption, Format};
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec fleet hosts --database postgres://alice@db/toolexec --list fleet.yaml

Prints each host of the database and of the list. A host that is not in the list does not start its
requests, and its records do not verify with the list. A host is shown as lost only if a key of
--approvers signed the order.
Exit status: 0 every host is in both with the same labels, or no list is known; 1 they differ, or
an order about a lost host does not count; 2 the list is for another fleet; 3 a file or the
database cannot be used, or a usage error.
With --format json, each line of stdout is one object: {\"host\",\"listed\",\"listed_labels\",
\"database\",\"differences\"}.")]
pub(crate) struct FleetHostsCommand {
    #[command(flatten)]
    database: FleetDatabaseOption,
    #[command(flatten)]
    list: FleetListOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// A host in the database, in the list, or in both.
struct ComparedHost<'a> {
    name: &'a str,
    database: Option<&'a FleetHostStatus>,
    listed: Option<&'a FleetListHost>,
    lost: Option<LostHostVerdict>,
    differences: Vec<String>,
}

pub(super) fn hosts(args: &FleetHostsCommand) -> Result<ExitCode, FleetCommandError> {
    let list = args.list.read()?;
    let status = status::read(&args.database.client()?)?;
    if let Some(list) = &list {
        check_fleet(list, &status)?;
    }
    let check = LostHostCheck::new(&status.fleet_id, args.list.signers()?);
    let hosts = compare(&status, list.as_ref(), &check);
    for host in &hosts {
        match args.format {
            Format::Human => print_human(host)?,
            Format::Json => output::line(host.json())?,
        }
    }
    if hosts.is_empty() && args.format == Format::Human {
        output::line(format_args!("{}: no host has connected", status.fleet))?;
    }
    let is_wrong = hosts.iter().any(|host| {
        !host.differences.is_empty() || matches!(host.lost, Some(LostHostVerdict::Invalid(_)))
    });
    Ok(ExitCode::from(u8::from(is_wrong)))
}

/// Checks that a list is for the fleet of the database.
pub(super) fn check_fleet(list: &FleetList, status: &FleetStatus) -> Result<(), FleetCommandError> {
    if list.fleet_id() == status.fleet_id && list.fleet() == status.fleet.as_str() {
        return Ok(());
    }
    Err(FleetCommandError::Refused(format!(
        "fleet list: is for the fleet {} with id {}, but the database is of {} with id {}; help: \
         name the list of this fleet with --list",
        list.fleet(),
        list.fleet_id(),
        status.fleet,
        status.fleet_id
    )))
}

fn compare<'a>(
    status: &'a FleetStatus,
    list: Option<&'a FleetList>,
    check: &LostHostCheck,
) -> Vec<ComparedHost<'a>> {
    let connected = status.hosts.iter().map(|host| host.host.as_str());
    let listed = list.into_iter().flat_map(|list| list.hosts().iter().map(FleetListHost::name));
    let names: BTreeSet<&str> = connected.chain(listed).collect();
    let host = |name: &'a str| {
        let database = status.hosts.iter().find(|host| host.host.as_str() == name);
        let listed = list.and_then(|list| list.host(name));
        let differences = list.map_or_else(Vec::new, |_| differences(database, listed));
        let lost = database.and_then(|host| check.verdict(host));
        ComparedHost { name, database, listed, lost, differences }
    };
    names.into_iter().map(host).collect()
}

fn differences(database: Option<&FleetHostStatus>, listed: Option<&FleetListHost>) -> Vec<String> {
    match (database, listed) {
        (Some(_), None) => vec!["is not in the list".to_owned()],
        (None, Some(_)) => vec!["has never connected".to_owned()],
        (Some(database), Some(listed)) => {
            let stated: BTreeSet<&str> = database.labels.iter().map(|it| it.as_str()).collect();
            let signed: BTreeSet<&str> = listed.labels().iter().map(String::as_str).collect();
            if stated == signed {
                return Vec::new();
            }
            let shown = |labels: BTreeSet<&str>| match labels.is_empty() {
                true => "none".to_owned(),
                false => labels.into_iter().collect::<Vec<_>>().join(", "),
            };
            let (stated, signed) = (shown(stated), shown(signed));
            vec![format!("its labels are {stated}, and those of the list {signed}")]
        }
        (None, None) => Vec::new(),
    }
}

fn print_human(host: &ComparedHost<'_>) -> Result<(), FleetCommandError> {
    output::line(format_args!("host      {}", host.name))?;
    let lines = |found: &FleetHostStatus| host_row::lines(found, host.lost.as_ref());
    for line in host.database.map_or_else(Vec::new, lines) {
        output::line(format_args!("          {line}"))?;
    }
    for difference in &host.differences {
        output::line(format_args!("          {difference}"))?;
    }
    Ok(())
}

impl ComparedHost<'_> {
    fn json(&self) -> Value {
        json!({
            "host": self.name,
            "listed": self.listed.is_some(),
            "listed_labels": self.listed.map(FleetListHost::labels),
            "database": self.database.map(|host| host_row::json_of(host, self.lost.as_ref())),
            "differences": self.differences,
        })
    }
}
