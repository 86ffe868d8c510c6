//! `toolexec-fleet command`: one act for `toolexec`, which has no database client. The command
//! comes from standard input, the answers go to standard output, messages to standard error.
//!
//! The process runs as the user who calls it, and adds no right: the rights of the user's role in
//! the database decide. Rows and blobs are untrusted, as for the agent.

mod acts;
mod error;
mod lines;
mod link;
mod submission;
mod wait;
mod waiting;

use std::process::ExitCode;

use fleet::commands::FleetCommand;

use self::error::CommandFailure;

const FAILED: u8 = 3;

/// Reads a command, does its act, and returns the exit status.
pub(crate) fn run() -> ExitCode {
    match lines::command().and_then(|command| serve(&command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // A caller that has gone reads no answer.
            lines::print(&failure.into_answer()).unwrap_or_default();
            ExitCode::from(FAILED)
        }
    }
}

fn serve(command: &FleetCommand) -> Result<(), CommandFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        CommandFailure(format!("runtime: {error}; help: free memory or descriptors"))
    })?;
    runtime.block_on(acts::act(command))
}
