//! `toolexec log export`, and the files that the other commands leave where a person said. A copy of
//! another history is never written over.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use records::log::ExportError;
use serde_json::json;

use crate::failure::Failure;
use crate::log::open::{Halt, Opened};
use crate::log::options::Export;
use crate::options::Format;
use crate::output;

pub(crate) fn export(asked: &Export) -> Result<ExitCode, Halt> {
    let opened = Opened::at(&asked.place)?;
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

/// Puts a file where it was asked for, whole, in the place of one that is there. A device or a pipe
/// is written to.
pub(crate) fn write_out(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error| Failure::Io(path.to_owned(), error);
    if path.metadata().is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        return File::create(path).and_then(|mut it| it.write_all(bytes)).map_err(failed);
    }
    let name = path.file_name().ok_or_else(|| Failure::Said("name a file to write".into()))?;
    let part = path.with_file_name(format!(".{}.part", name.to_string_lossy()));
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&part)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| Ok(rustix::fs::rename(&part, path)?));
    if written.is_err() {
        std::fs::remove_file(&part).unwrap_or_default();
    }
    written.map_err(failed)
}
