//! `toolexec log heartbeat`: the only subcommand of `toolexec log` that appends.

use std::process::ExitCode;

use clap::Args;
use daemon::LOG_WAIT;
use records::log::entry::{BootId, Heartbeat as Beat};
use records::log::{Log, LogKey, LogLocation};
use serde_json::json;

use super::open::{LogCommandError, LogOptions, OpenedLog};
use crate::args::{Format, StateOption};
use crate::clock;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log heartbeat --state ./state

For the embedded state, whose log receives no heartbeats otherwise; run it from a timer. A verifier
who knows the interval detects that the end of the log is missing.")]
pub(crate) struct LogHeartbeatCommand {
    #[command(flatten)]
    state: StateOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}

pub(super) fn heartbeat(args: &LogHeartbeatCommand) -> Result<ExitCode, LogCommandError> {
    let state = args.state.path()?;
    let place = LogOptions {
        log: None,
        spool: None,
        state: StateOption { dir: Some(state.clone()) },
        log_key: None,
    };
    // A heartbeat does not create a missing log.
    let opened = OpenedLog::at(&place)?;
    let key = LogKey::open(&state.join("keys"), opened.key.origin()).map_err(Failure::from)?;
    let mut log = opened.checked(Log::open_within(LOG_WAIT, LogLocation::of_state(&state), key))?;
    let beat = Beat::new(clock::now(), daemon::boot_id());
    let inclusion = opened.checked(log.append(&beat.entry()))?;
    match args.format {
        Format::Human => output::line(format_args!(
            "{}: heartbeat of {}, entry {}",
            opened.key.origin(),
            beat.time(),
            inclusion.index()
        ))?,
        Format::Json => output::line(json!({
            "ok": true,
            "index": inclusion.index(),
            "time": beat.time().to_string(),
            "boot_id": beat.boot_id().map(BootId::to_string),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}
