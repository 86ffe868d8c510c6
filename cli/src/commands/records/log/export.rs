//! `toolexec log export`: copies the log. A copy of a different history is never overwritten.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use records::log::ExportError;
use serde_json::json;

use super::open::{LogCommandError, LogOptions, OpenedLog};
use crate::args::Format;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log export /media/stick/host1-log

Copies entries, tiles and the checkpoint, the checkpoint last. Existing data of the copy is not
written again.
Exit status: 0 copied; 1 the log does not begin with the entries of the copy, and nothing was
changed; 3 usage or internal error.")]
pub(crate) struct LogExportCommand {
    /// Write the copy to this directory, creating it if missing
    #[arg(value_name = "TARGET")]
    target: PathBuf,
    #[command(flatten)]
    place: LogOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}

pub(super) fn export(args: &LogExportCommand) -> Result<ExitCode, LogCommandError> {
    let opened = OpenedLog::at(&args.place)?;
    refuse_other(&args.target)?;
    let target = args.target.display();
    let exported = match opened.view.export(&args.target, &opened.keys) {
        Ok(exported) => exported,
        Err(ExportError::Log(error)) => return opened.checked(Err(error)),
        Err(error) => {
            return Err(LogCommandError::CheckFailed(format!(
                "{target}: nothing was copied: {error}"
            )));
        }
    };
    match args.format {
        Format::Human => output::line(format_args!(
            "{target}: {} entries, {} of them new: {} files, {} bytes written",
            exported.to,
            exported.to - exported.from,
            exported.files,
            exported.bytes
        ))?,
        Format::Json => output::line(json!({
            "ok": true,
            "target": output::path(&args.target),
            "from": exported.from,
            "to": exported.to,
            "files": exported.files,
            "bytes": exported.bytes,
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a directory with other files. An interrupted copy may have no checkpoint yet.
fn refuse_other(target: &Path) -> Result<(), Failure> {
    if !target.is_dir() {
        return Ok(());
    }
    let mut entries = std::fs::read_dir(target).map_err(Failure::io(target))?.peekable();
    let of_a_log = [".draft", "checkpoint", "tile"].iter().any(|it| target.join(it).exists());
    if entries.peek().is_none() || of_a_log {
        return Ok(());
    }
    let target = target.display();
    let help = "name a directory for the log alone";
    Err(Failure::Message(format!("{target}: has other files; help: {help}")))
}
