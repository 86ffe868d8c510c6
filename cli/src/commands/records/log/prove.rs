//! `toolexec log prove`: verifies and prints the proof of an entry against the newest checkpoint.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use records::log::{Inclusion, LogClaim, RECORD_BYTES_MAX};

use super::open::{LogCommandError, LogOptions, OpenedLog};
use crate::args::files::read_document;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log prove results/TS-20260209-161030Z-TR-20260209-160501Z-python-stats \\
           --out newest.tlog-proof

Prints a verified C2SP tlog-proof against the newest checkpoint.
Exit status: 0 printed; 1 the log has another entry at the record's index; 3 usage or internal
error.")]
pub(crate) struct LogProveCommand {
    /// Select the entry: its number from 0, a result directory, or a bundle
    #[arg(value_name = "INDEX|RESULT_DIR|BUNDLE")]
    what: PathBuf,
    #[command(flatten)]
    place: LogOptions,
    /// Write the proof to this file, replacing an older proof [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The first line of a proof (C2SP tlog-proof).
const KIND: &str = "c2sp.org/tlog-proof@v1\n";

pub(super) fn prove(args: &LogProveCommand) -> Result<ExitCode, LogCommandError> {
    let opened = OpenedLog::at(&args.place)?;
    let claim = match number(&args.what) {
        Some(index) => Err(index),
        None => Ok(claim(&args.what)?),
    };
    let index = claim.as_ref().map_or_else(|index| *index, LogClaim::index);
    let (entry, inclusion) = opened.checked(opened.view.entry(index))?;
    if claim.is_ok_and(|claim| claim.entry() != entry) {
        return Err(LogCommandError::CheckFailed(format!(
            "{}: entry {index} of the log is a different record; help: run `toolexec log fsck`",
            args.what.display()
        )));
    }
    let text = inclusion.tlog_proof();
    Inclusion::verify(&text, &entry, &opened.key).map_err(|fault| {
        let help = "run `toolexec log fsck`";
        LogCommandError::CheckFailed(format!("entry {index}: the proof {fault}; help: {help}"))
    })?;
    match &args.out {
        Some(out) => output::replace_own_file(out, KIND, text.as_bytes())?,
        None => output::text(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Parses digits as an entry number. A file with such a name needs a path, such as `./12`.
pub(super) fn number(typed: &Path) -> Option<u64> {
    let digits = typed.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok()
}

fn claim(path: &Path) -> Result<LogClaim, LogCommandError> {
    let file = if path.is_dir() { bundle_in(path)? } else { path.to_owned() };
    claim_of(&file)
}

/// Returns a bundle's claim about the log. A file that is not a bundle is a usage error.
pub(super) fn claim_of(file: &Path) -> Result<LogClaim, LogCommandError> {
    let bytes = read_document(file, RECORD_BYTES_MAX)?;
    LogClaim::of_bundle(&bytes).map_err(|fault| {
        let help = "name a result, or its bundle";
        LogCommandError::from(format!("{}: {fault}; help: {help}", file.display()))
    })
}

pub(super) fn bundle_in(directory: &Path) -> Result<PathBuf, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(Failure::io(directory))? {
        let path = entry.map_err(Failure::io(directory))?.path();
        if path.to_string_lossy().ends_with(".bundle.json") {
            found.push(path);
        }
    }
    match found.as_slice() {
        [_] => Ok(found.remove(0)),
        [] => Err(Failure::Message(format!(
            "{}: no bundle of a record; help: name a result, or its bundle",
            directory.display()
        ))),
        _ => Err(Failure::Message(format!(
            "{}: more than one bundle; help: name one of them",
            directory.display()
        ))),
    }
}
