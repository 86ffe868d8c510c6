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

use consistency::Consistency;
use export::Export;
use fsck::Fsck;
use head::Head;
use heartbeat::Heartbeat;
use open::Halt;
use prove::Prove;
use witness::Witness;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log head --note > last-seen

The log is C2SP tlog-tiles: a directory of plain files that anyone may read and copy. All output is
verified with the log's key. Save the checkpoints that you have seen, on another host: only they
reveal that the log was cut back or rewritten by a holder of its key.
Exit status: 0 success; 1 a check failed; 3 usage or internal error.")]
pub(crate) struct Log {
    #[command(subcommand)]
    act: LogAct,
}

#[derive(Subcommand)]
pub(crate) enum LogAct {
    /// Show the newest checkpoint
    Head(Head),
    /// Print the proof that an entry is in the log
    Prove(Prove),
    /// Check that one checkpoint's log is a prefix of another's
    Consistency(Consistency),
    /// Check every file of the log, and compare the log with records
    Fsck(Fsck),
    /// Update a copy of the log in another directory
    Export(Export),
    /// Send the newest checkpoint to a witness and store its cosignature
    Witness(Witness),
    /// Append a heartbeat entry
    Heartbeat(Heartbeat),
}

pub(in crate::commands) fn log(asked: &Log) -> Result<ExitCode, Failure> {
    let (said, format) = match &asked.act {
        LogAct::Head(asked) => (head::head(asked), asked.format),
        LogAct::Prove(asked) => (prove::prove(asked), Format::Human),
        LogAct::Consistency(asked) => (consistency::consistency(asked), asked.format),
        LogAct::Fsck(asked) => (fsck::fsck(asked), asked.format),
        LogAct::Export(asked) => (export::export(asked), asked.format),
        LogAct::Witness(asked) => (witness::witness(asked), asked.format),
        LogAct::Heartbeat(asked) => (heartbeat::heartbeat(asked), asked.format),
    };
    match said {
        Ok(code) => Ok(code),
        Err(Halt::Failure(failure)) => Err(failure),
        Err(Halt::No(why)) => {
            output::note(&why);
            if format == Format::Json {
                output::line(json!({ "ok": false, "fault": why }))?;
            }
            Ok(ExitCode::from(1))
        }
    }
}
