//! The stored cosigned checkpoints, one per witness, beside the log or in a named directory; and
//! the output of the command. The log's own checkpoint is never changed.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use model::escape_line;
use records::log::CosignedCheckpoint;
use serde_json::json;

use super::args::LogWitnessCommand;
use crate::args::Format;
use crate::commands::records::log::open::{LogCommandError, OpenedLog};
use crate::failure::Failure;
use crate::output::{self, replace_file};

pub(super) fn cosigned_directory(args: &LogWitnessCommand, opened: &OpenedLog) -> PathBuf {
    args.cosigned_dir.clone().unwrap_or_else(|| opened.directory.join("witness"))
}

/// A witness name may contain a URL's host and path. Unsuitable characters become `%xx`.
pub(super) fn file_name(name: &str) -> String {
    let mut file = String::new();
    for (at, byte) in name.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if plain && (at > 0 || byte != b'.') {
            file.push(char::from(byte));
        } else {
            file.push_str(&format!("%{byte:02x}"));
        }
    }
    file
}

pub(super) fn store(
    keep: &Path,
    name: &str,
    cosigned: &CosignedCheckpoint,
) -> Result<PathBuf, Failure> {
    let made = DirBuilder::new().recursive(true).mode(0o755).create(keep);
    let with_help = |error: std::io::Error| {
        Failure::Message(format!(
            "{}: {error}; help: name a directory for cosigned checkpoints with --cosigned-dir",
            keep.display()
        ))
    };
    made.map_err(with_help)?;
    let path = keep.join(file_name(name));
    match replace_file(&path, cosigned.note().as_bytes()) {
        Err(Failure::Io(_, error)) => Err(with_help(error)),
        written => written.map(|()| path),
    }
}

pub(super) fn print_request(
    args: &LogWitnessCommand,
    opened: &OpenedLog,
    old: u64,
) -> Result<ExitCode, LogCommandError> {
    let size = opened.view.head().size();
    match args.format {
        Format::Human => output::line(format_args!(
            "{}: written: from {old} to {size} entries; carry it to the witness",
            args.to
        ))?,
        Format::Json => output::line(json!({
            "ok": true, "request": args.to, "old": old, "size": size,
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn print_cosigned(
    args: &LogWitnessCommand,
    cosigned: &CosignedCheckpoint,
    size: u64,
    old: Option<u64>,
    kept: &Path,
) -> Result<ExitCode, LogCommandError> {
    let time = cosigned.time();
    match args.format {
        Format::Human => {
            let when = time.map_or_else(
                || "not verified (no --witness-key)".to_owned(),
                |time| format!("verified, of {time}"),
            );
            output::line(format_args!(
                "{}: cosigned {size} entries, {when}; kept in {}",
                escape_line(cosigned.name()),
                kept.display()
            ))?;
        }
        Format::Json => output::line(json!({
            "ok": true,
            "witness": cosigned.name(),
            "size": size,
            "old": old,
            "verified": time.is_some(),
            "time": time.map(|time| time.to_string()),
            "kept": output::path(kept),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}
