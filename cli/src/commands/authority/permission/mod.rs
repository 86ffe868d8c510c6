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

An agent asks (`request`), a person answers a file, `set` takes the answer in, and `get` says from
then on what may be called. docs/permissions.md tells of the files.
Exit codes: 0 fine; 1 not permitted; 2 refused, or no such thing; 3 usage, or a store that cannot
be read: nothing is permitted then.")]
pub(crate) struct Permission {
    #[command(subcommand)]
    act: PermissionAct,
}

#[derive(Subcommand)]
pub(crate) enum PermissionAct {
    /// Say of each tool whether it may be called: APPROVED, DENIED or REQUESTABLE
    Get(PermissionGet),
    /// Ask a person for tools that are not approved, in a file that they answer
    Request(PermissionRequest),
    /// Take a person's answer in; or write, sign and take in an answer that is typed here
    Set(Box<PermissionSet>),
    /// List what is granted and denied, and what waits for an answer
    List(PermissionList),
    /// Take grants back, or a denial
    Revoke(PermissionRevoke),
    /// Let go of everything of a workflow that has ended
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
