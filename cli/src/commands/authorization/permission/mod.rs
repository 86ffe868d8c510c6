//! `toolexec permission`: queries and requests permissions, records answers, and revokes grants. It
//! decides nothing itself. A store that cannot be read is an error, never a permission state.

mod cleanup;
mod error;
mod get;
mod list;
mod request;
mod revoke;
mod set;
mod store;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use cleanup::PermissionCleanupCommand;
use get::PermissionGetCommand;
use list::PermissionListCommand;
use request::PermissionRequestCommand;
use revoke::PermissionRevokeCommand;
use set::PermissionSetCommand;

use error::PermissionCommandError;

use crate::failure::Failure;
use crate::output::report_refusal;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission get --agent core --subject wf-1 toolexec.run.python

An agent requests permission (`request`), a person answers in a file, `set` records the answer, and
`get` then reports which tools may be called. docs/permissions.md describes the files.
Exit status: 0 success; 1 not permitted; 2 refused, or the object does not exist; 3 the store
cannot be read (nothing is permitted then), or a usage error.")]
pub(crate) struct PermissionCommand {
    #[command(subcommand)]
    subcommand: PermissionSubcommand,
}

#[derive(Subcommand)]
pub(crate) enum PermissionSubcommand {
    /// Print whether each tool may be called: APPROVED, DENIED or REQUESTABLE
    Get(PermissionGetCommand),
    /// File a request for tools that are not approved, to be answered by a person
    Request(PermissionRequestCommand),
    /// Record a person's answer, from a file or from options
    Set(Box<PermissionSetCommand>),
    /// List grants, denials and open requests
    List(PermissionListCommand),
    /// Revoke grants, or lift a denial
    Revoke(PermissionRevokeCommand),
    /// Remove all permissions of a workflow that has ended
    Cleanup(PermissionCleanupCommand),
}

pub(in crate::commands) fn permission(args: &PermissionCommand) -> Result<ExitCode, Failure> {
    let done = match &args.subcommand {
        PermissionSubcommand::Get(args) => get::get(args),
        PermissionSubcommand::Request(args) => request::request(args),
        PermissionSubcommand::Set(args) => set::set(args),
        PermissionSubcommand::List(args) => list::list(args),
        PermissionSubcommand::Revoke(args) => revoke::revoke(args),
        PermissionSubcommand::Cleanup(args) => cleanup::cleanup(args),
    };
    match done {
        Ok(code) => Ok(code),
        Err(PermissionCommandError::Refused(why)) => Ok(report_refusal(&why)),
        Err(PermissionCommandError::Failed(failure)) => Err(failure),
    }
}
