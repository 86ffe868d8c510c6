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
use cleanup::PermissionCleanup;
use get::PermissionGet;
use list::PermissionList;
use request::PermissionRequest;
use revoke::PermissionRevoke;
use set::PermissionSet;

use error::Undone;

use crate::failure::Failure;
use crate::output::refused;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec permission get --agent core --subject wf-1 toolexec.run.python

An agent requests permission (`request`), a person answers in a file, `set` records the answer, and
`get` then reports which tools may be called. docs/permissions.md describes the files.
Exit status: 0 success; 1 not permitted; 2 refused, or the object does not exist; 3 the store
cannot be read (nothing is permitted then), or a usage error.")]
pub(crate) struct Permission {
    #[command(subcommand)]
    act: PermissionAct,
}

#[derive(Subcommand)]
pub(crate) enum PermissionAct {
    /// Print whether each tool may be called: APPROVED, DENIED or REQUESTABLE
    Get(PermissionGet),
    /// File a request for tools that are not approved, to be answered by a person
    Request(PermissionRequest),
    /// Record a person's answer, from a file or from options
    Set(Box<PermissionSet>),
    /// List grants, denials and open requests
    List(PermissionList),
    /// Revoke grants, or lift a denial
    Revoke(PermissionRevoke),
    /// Remove all permissions of a workflow that has ended
    Cleanup(PermissionCleanup),
}

pub(in crate::commands) fn permission(asked: &Permission) -> Result<ExitCode, Failure> {
    let done = match &asked.act {
        PermissionAct::Get(asked) => get::get(asked),
        PermissionAct::Request(asked) => request::request(asked),
        PermissionAct::Set(asked) => set::set(asked),
        PermissionAct::List(asked) => list::list(asked),
        PermissionAct::Revoke(asked) => revoke::revoke(asked),
        PermissionAct::Cleanup(asked) => cleanup::cleanup(asked),
    };
    match done {
        Ok(code) => Ok(code),
        Err(Undone::Refused(why)) => Ok(refused(&why)),
        Err(Undone::Failed(failure)) => Err(failure),
    }
}
