//! `toolexec log head`: shows the newest checkpoint.

use std::process::ExitCode;

use clap::Args;
use records::log::entry::BootId;
use serde_json::json;

use super::open::{LogCommandError, LogOptions, OpenedLog};
use crate::args::Format;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log head --spool /var/spool/toolexec --log-key host1.vkey")]
pub(crate) struct LogHeadCommand {
    #[command(flatten)]
    place: LogOptions,
    /// Print the signed checkpoint verbatim, for saving
    #[arg(long, conflicts_with = "format")]
    note: bool,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}

pub(super) fn head(args: &LogHeadCommand) -> Result<ExitCode, LogCommandError> {
    let opened = OpenedLog::at(&args.place)?;
    let (head, key) = (opened.view.head(), &opened.key);
    if args.note {
        output::text(head.note())?;
        return Ok(ExitCode::SUCCESS);
    }
    let beat = opened.checked(opened.view.latest_heartbeat())?;
    let (root, key_id) = (head.root().to_string(), key.id().to_string());
    match args.format {
        Format::Human => {
            output::line(format_args!("log        {}", key.origin()))?;
            output::line(format_args!("size       {}", head.size()))?;
            output::line(format_args!("root       {root}"))?;
            output::line(format_args!("key        {key_id}"))?;
            match &beat {
                Some((index, beat)) => output::line(format_args!(
                    "heartbeat  {}, entry {index}, {} entries since",
                    beat.time(),
                    head.size() - index - 1
                ))?,
                None => output::line("heartbeat  none")?,
            }
        }
        Format::Json => output::line(json!({
            "ok": true,
            "origin": key.origin().as_str(),
            "size": head.size(),
            "root": root,
            "key_id": key_id,
            "heartbeat": beat.as_ref().map(|(index, beat)| json!({
                "index": index,
                "time": beat.time().to_string(),
                "boot_id": beat.boot_id().map(BootId::to_string),
            })),
            "note": head.note(),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}
