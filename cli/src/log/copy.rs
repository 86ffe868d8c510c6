//! `toolexec log export`, and the files that the other commands leave where a person said. A copy of
//! another history is never written over.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
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

/// Puts a file where a person said; of what is there only a file of the same kind, which begins with
/// these words, makes place. A device or a pipe is written to.
pub(crate) fn write_anew(path: &Path, kind: &str, bytes: &[u8]) -> Result<(), Failure> {
    if path.metadata().is_ok_and(|it| it.is_file()) {
        let mut there = Vec::new();
        let room = u64::try_from(kind.len()).unwrap_or(u64::MAX);
        let read = File::open(path).and_then(|file| file.take(room).read_to_end(&mut there));
        read.map_err(Failure::io(path))?;
        if there != kind.as_bytes() {
            let path = path.display();
            return Err(Failure::Said(format!(
                "{path}: is there, and nothing that this command wrote; name another file"
            )));
        }
    }
    write_out(path, bytes)
}

/// Puts a file there, whole, in the place of one that is there. A device or a pipe is written to.
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
