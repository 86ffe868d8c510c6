//! `toolexec log export`. A copy of another history is never written over.

use std::path::Path;
use std::process::ExitCode;

use records::log::ExportError;
use serde_json::json;

use crate::args::Format;
use crate::failure::Failure;
use crate::log::open::{Halt, Opened};
use crate::log::options::Export;
use crate::output;

pub(crate) fn export(asked: &Export) -> Result<ExitCode, Halt> {
    let opened = Opened::at(&asked.place)?;
    refuse_other(&asked.target)?;
    let target = asked.target.display();
    let exported = match opened.view.export(&asked.target, &opened.keys) {
        Ok(exported) => exported,
        Err(ExportError::Log(error)) => return opened.said(Err(error)),
        Err(error) => return Err(Halt::No(format!("{target}: {error}; nothing was copied"))),
    };
    match asked.format {
        Format::Human => output::line(format_args!(
            "{target}: {} entries, {} of them new: {} files, {} bytes written",
            exported.to,
            exported.to - exported.from,
            exported.files,
            exported.bytes
        ))?,
        Format::Json => output::line(json!({
            "ok": true,
            "target": output::path(&asked.target),
            "from": exported.from,
            "to": exported.to,
            "files": exported.files,
            "bytes": exported.bytes,
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A copy is made in a directory of its own. One that was interrupted may have no checkpoint yet.
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
    Err(Failure::Said(format!("{target}: has other files; name a directory for the log alone")))
}
