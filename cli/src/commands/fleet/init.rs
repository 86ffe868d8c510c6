//! `fleet init`: makes the tables and the group roles, and prints the SQL that makes login roles.

use std::process::ExitCode;

use clap::Args;
use fleet::commands::{FleetAct, FleetAnswer};
use fleet::model::HostName;
use serde_json::json;

use super::error::FleetCommandError;
use crate::args::{FleetDatabaseOption, Format};
use crate::failure::Failure;
use crate::output;

/// The group roles, which the tables give their rights to.
const HOST_GROUP: &str = "toolexec_host";
const SUBMITTER_GROUP: &str = "toolexec_submitter";

#[derive(Args)]
#[command(after_help = "\
Example: toolexec fleet init --database postgres://postgres@db.example/toolexec --name farm \\
           --host host-a --host host-b --submitter alice

Connect as the owner of the database, who may create roles. The group roles toolexec_host and
toolexec_submitter receive the rights; the printed SQL makes a login role for each host and
submitter. A host's role has the name of its log, which is also its name in fleet.yaml.
A repeated `init` updates tables of an older version, and changes nothing else.
With --format json, stdout is one object: {\"fleet\",\"fleet_id\",\"schema_version\",
\"former_version\",\"sql\"}; `former_version` is null if the tables are new.")]
pub(crate) struct FleetInitCommand {
    /// Name the fleet
    #[arg(long, value_name = "NAME", value_parser = HostName::parse)]
    name: HostName,
    /// Print the SQL for a host with this name; can be repeated [default: host-a]
    #[arg(long = "host", value_name = "NAME", value_parser = HostName::parse)]
    hosts: Vec<HostName>,
    /// Print the SQL for a submitter with this role; can be repeated [default: submitter]
    #[arg(long = "submitter", value_name = "ROLE", value_parser = HostName::parse)]
    submitters: Vec<HostName>,
    #[command(flatten)]
    database: FleetDatabaseOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(super) fn init(args: &FleetInitCommand) -> Result<ExitCode, FleetCommandError> {
    let client = args.database.client()?;
    let answer = client.one(FleetAct::Init { fleet: args.name.clone() })?;
    let FleetAnswer::Initialised { fleet_id, schema_version, former_version } = answer else {
        return Err(client.unexpected().into());
    };
    let sql = sql(args);
    match args.format {
        Format::Human => {
            print_human(args, (fleet_id.as_str(), schema_version, former_version), &sql)?
        }
        Format::Json => output::line(json!({
            "fleet": args.name.as_str(),
            "fleet_id": fleet_id,
            "schema_version": schema_version,
            "former_version": former_version,
            "sql": sql,
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print_human(
    args: &FleetInitCommand,
    (fleet_id, version, former): (&str, i32, Option<i32>),
    sql: &[String],
) -> Result<(), Failure> {
    let name = &args.name;
    let made = match former {
        None => "created".to_owned(),
        Some(former) if former == version => "unchanged".to_owned(),
        Some(former) => format!("updated from version {former}"),
    };
    output::line(format_args!("{name}: tables of version {version} {made}"))?;
    output::line("For fleet.yaml:")?;
    output::line(format_args!("  fleet: {name}"))?;
    output::line(format_args!("  fleet_id: {}", model::escape_line(fleet_id)))?;
    output::line("In psql, a role for each host and each submitter:")?;
    for line in sql {
        output::line(format_args!("  {line}"))?;
    }
    output::line("Over TCP a role also needs a password: \\password \"ROLE\" in psql sets it.")
}

/// Returns the SQL that makes the login roles. A host name needs no escape inside quotes.
fn sql(args: &FleetInitCommand) -> Vec<String> {
    let role = |name: &str, group: &str| format!("CREATE ROLE \"{name}\" LOGIN IN ROLE {group};");
    let roles = |names: &[HostName], otherwise: &str, group: &str| match names {
        [] => vec![role(otherwise, group)],
        names => names.iter().map(|name| role(name.as_str(), group)).collect(),
    };
    let hosts = roles(&args.hosts, "host-a", HOST_GROUP);
    [hosts, roles(&args.submitters, "submitter", SUBMITTER_GROUP)].concat()
}
