//! `toolexec standing`: drafts standing approvals, shows those that a host has stored, and revokes
//! them. It must never approve. `list`, `show` and `uses` only read, without a lock.

mod draft;
mod error;
mod list;
mod phase;
mod published_uses;
mod revoke;
mod show;
mod stored_row;
mod uses;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use self::draft::StandingDraftCommand;
use self::error::StandingCommandError;
use self::list::StandingListCommand;
use self::revoke::StandingRevokeCommand;
use self::show::StandingShowCommand;
use self::uses::StandingUsesCommand;
use crate::failure::Failure;
use crate::output::report_refusal;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec standing list --state /var/lib/toolexec

A standing approval is a signed file that bounds a kind of run. `draft` makes one from a request. An
approver reads it with `toolexec review` and signs it with `toolexec approve`; `toolexec submit`
submits it. docs/standing-approvals.md describes the file.
A daemon stores what it admits in its state directory, which only the daemon's user can read.
Other users see the uses that it publishes: toolexec standing uses ID --spool DIR.")]
pub(crate) struct StandingCommand {
    #[command(subcommand)]
    subcommand: StandingSubcommand,
}

#[derive(Subcommand)]
pub(crate) enum StandingSubcommand {
    /// Create a standing approval from a request, for an approver to sign
    Draft(Box<StandingDraftCommand>),
    /// List the stored standing approvals
    List(StandingListCommand),
    /// Show a stored standing approval, its state and its text
    Show(StandingShowCommand),
    /// List the uses of a standing approval
    Uses(StandingUsesCommand),
    /// Sign and submit the revocation of a standing approval
    Revoke(Box<StandingRevokeCommand>),
}

pub(in crate::commands) fn standing(args: &StandingCommand) -> Result<ExitCode, Failure> {
    let done = match &args.subcommand {
        StandingSubcommand::Draft(args) => draft::draft(args),
        StandingSubcommand::List(args) => list::list(args),
        StandingSubcommand::Show(args) => show::show(args),
        StandingSubcommand::Uses(args) => uses::uses(args),
        StandingSubcommand::Revoke(args) => revoke::revoke(args),
    };
    match done {
        Ok(code) => Ok(code),
        Err(StandingCommandError::Refused(why)) => Ok(report_refusal(&why)),
        Err(StandingCommandError::Failed(failure)) => Err(failure),
    }
}
