//! The inputs that `--input` names: files, which are opened, and folders, which are planned. It must
//! never copy one.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::args::DraftCommand;
use super::folder::{DraftFolder, plain_name};
use crate::args::files::open_document;
use crate::failure::Failure;
use crate::output;

const INPUT_FORM: &str = "write --input FILE or --input NAME=FILE";

pub(crate) struct DraftInput {
    /// The name in the request; that of a folder ends in `/`.
    pub(crate) name: String,
    pub(crate) content: DraftContent,
}

pub(crate) enum DraftContent {
    File(File),
    Folder(DraftFolder),
}

impl DraftInput {
    /// Returns the size; that of a folder is the sum of its files.
    pub(crate) fn bytes(&self) -> io::Result<u64> {
        match &self.content {
            DraftContent::File(file) => file.metadata().map(|found| found.len()),
            DraftContent::Folder(folder) => Ok(folder.bytes()),
        }
    }
}

/// Opens all inputs, and reports all failures together. Prints what each folder leaves out.
pub(super) fn open_inputs(args: &DraftCommand) -> Result<Vec<DraftInput>, Failure> {
    let mut inputs = Vec::new();
    let mut wrong = Vec::new();
    for typed in &args.inputs {
        match open_input(typed) {
            Ok(input) => inputs.push(input),
            Err(failure) => wrong.push(format!("--input {failure}")),
        }
    }
    if !wrong.is_empty() {
        return Err(Failure::Message(wrong.join("\ntoolexec: ")));
    }
    for input in &inputs {
        if let DraftContent::Folder(folder) = &input.content {
            let name = model::escape_line(&input.name);
            output::stderr_line(format_args!("{name}: {}", folder.summary()));
        }
    }
    Ok(inputs)
}

fn open_input(typed: &OsStr) -> Result<DraftInput, Failure> {
    let (name, path) = name_and_path(typed);
    let shown = typed.to_string_lossy();
    if path.as_os_str().is_empty() {
        return Err(Failure::Message(format!("{shown}: no file; help: {INPUT_FORM}")));
    }
    if path.is_dir() {
        return open_folder(name, path, &shown);
    }
    let given = name.unwrap_or(path.file_name().unwrap_or(typed));
    let file = open_document(path).map_err(|failure| match failure {
        Failure::Io(..) if name.is_none() && typed.as_bytes().contains(&b':') => {
            Failure::with_other_help(&failure.to_string(), INPUT_FORM)
        }
        failure => failure,
    })?;
    Ok(DraftInput { name: text(given, &shown)?, content: DraftContent::File(file) })
}

/// Splits `NAME=FILE`. Without a name, the whole is the path.
pub(crate) fn name_and_path(typed: &OsStr) -> (Option<&OsStr>, &Path) {
    let bytes = typed.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => {
            let path = OsStr::from_bytes(&bytes[at + 1..]);
            (Some(OsStr::from_bytes(&bytes[..at])), Path::new(path))
        }
        None => (None, Path::new(typed)),
    }
}

fn open_folder(name: Option<&OsStr>, path: &Path, shown: &str) -> Result<DraftInput, Failure> {
    let name = match name {
        Some(name) => text(name, shown)?,
        None => plain_name(path)?,
    };
    let folder = DraftFolder::open(path)?;
    let name = format!("{}/", name.strip_suffix('/').unwrap_or(&name));
    Ok(DraftInput { name, content: DraftContent::Folder(folder) })
}

fn text(name: &OsStr, shown: &str) -> Result<String, Failure> {
    let name = name.to_str().ok_or_else(|| {
        Failure::Message(format!("{shown}: not a UTF-8 name; help: {INPUT_FORM}"))
    })?;
    Ok(name.to_owned())
}
