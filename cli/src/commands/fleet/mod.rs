//! `toolexec fleet`: makes the tables of a fleet, and shows its hosts and their requests. It must
//! never need a key of records or approvals; `lost` signs with the key that its caller names.

mod error;
mod host_row;
mod hosts;
mod init;
mod listed;
mod lost;
mod lost_check;
mod status;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use self::error::FleetCommandError;
use self::hosts::FleetHostsCommand;
use self::init::FleetInitCommand;
use self::lost::FleetLostCommand;
use self::status::FleetStatusCommand;
use crate::failure::Failure;
use crate::output::report_refusal;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec fleet status --database postgres://alice@db/toolexec

Several hosts share the requests of one PostgreSQL database: one host claims and runs each. The
database decides the order and gives no authority. submit, list, show and wait take --fleet.
An operator signs the list of the hosts with a key of allowed_signers (docs/fleet.md):
  ssh-keygen -Y sign -f operator.key -n fleet.tool-exec@threegate fleet.yaml
Exit status: 0 success; 1 a check failed; 2 refused, or no such host; 3 usage or internal error.")]
pub(crate) struct FleetGroupCommand {
    #[command(subcommand)]
    subcommand: FleetSubcommand,
}

#[derive(Subcommand)]
pub(crate) enum FleetSubcommand {
    /// Make the tables of a fleet in a database
    Init(FleetInitCommand),
    /// Show the requests and hosts of a fleet
    Status(FleetStatusCommand),
    /// Compare the hosts of a database with the signed list of the fleet
    Hosts(FleetHostsCommand),
    /// Declare a host lost: no other host ever runs its started requests
    Lost(FleetLostCommand),
}

pub(in crate::commands) fn fleet(args: &FleetGroupCommand) -> Result<ExitCode, Failure> {
    let done = match &args.subcommand {
        FleetSubcommand::Init(args) => init::init(args),
        FleetSubcommand::Status(args) => status::status(args),
        FleetSubcommand::Hosts(args) => hosts::hosts(args),
        FleetSubcommand::Lost(args) => lost::lost(args),
    };
    match done {
        Ok(code) => Ok(code),
        Err(FleetCommandError::Refused(why)) => Ok(report_refusal(&why)),
        Err(FleetCommandError::Failed(failure)) => Err(failure),
    }
}
