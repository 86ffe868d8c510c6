//! `toolexec log`: the transparency log for auditors: head, proofs, copies, witnesses. Everything
//! shown is verified up to a checkpoint signed by the log's key. Only `heartbeat` may append, and
//! only `witness` may use a network.

mod consistency;
mod export;
mod fsck;
mod head;
mod heartbeat;
mod open;
mod prove;
mod witness;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::args::Format;
use crate::failure::Failure;
use crate::output;

use consistency::LogConsistencyCommand;
use export::LogExportCommand;
use fsck::LogFsckCommand;
use head::LogHeadCommand;
use heartbeat::LogHeartbeatCommand;
use open::LogCommandError;
use prove::LogProveCommand;
use witness::LogWitnessCommand;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log head --note > last-seen

The log is C2SP tlog-tiles: a directory of plain files that anyone may read and copy. All output is
verified with the log's key. Save the checkpoints that you have seen, on another host: only they
reveal that the log was cut back or rewritten by a holder of its key.
Exit status: 0 success; 1 a check failed; 3 usage or internal error.")]
pub(crate) struct LogCommand {
    #[command(subcommand)]
    subcommand: LogSubcommand,
}

#[derive(Subcommand)]
pub(crate) enum LogSubcommand {
    /// Show the newest checkpoint
    Head(LogHeadCommand),
    /// Print the proof that an entry is in the log
    Prove(LogProveCommand),
    /// Check that one checkpoint's log is a prefix of another's
    Consistency(LogConsistencyCommand),
    /// Check every file of the log, and compare the log with records
    Fsck(LogFsckCommand),
    /// Update a copy of the log in another directory
    Export(LogExportCommand),
    /// Send the newest checkpoint to a witness and store its cosignature
    Witness(LogWitnessCommand),
    /// Append a heartbeat entry
    Heartbeat(LogHeartbeatCommand),
}

pub(in crate::commands) fn log(args: &LogCommand) -> Result<ExitCode, Failure> {
    let (result, format) = match &args.subcommand {
        LogSubcommand::Head(args) => (head::head(args), args.format),
        LogSubcommand::Prove(args) => (prove::prove(args), Format::Human),
        LogSubcommand::Consistency(args) => (consistency::consistency(args), args.format),
        LogSubcommand::Fsck(args) => (fsck::fsck(args), args.format),
        LogSubcommand::Export(args) => (export::export(args), args.format),
        LogSubcommand::Witness(args) => (witness::witness(args), args.format),
        LogSubcommand::Heartbeat(args) => (heartbeat::heartbeat(args), args.format),
    };
    match result {
        Ok(code) => Ok(code),
        Err(LogCommandError::Failure(failure)) => Err(failure),
        Err(LogCommandError::CheckFailed(why)) => {
            output::note(&why);
            if format == Format::Json {
                output::line(json!({ "ok": false, "fault": why }))?;
            }
            Ok(ExitCode::from(1))
        }
    }
}
