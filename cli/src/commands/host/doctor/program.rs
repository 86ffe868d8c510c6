//! Execution of the programs that build caches.

use std::process::{Command, Stdio};

use crate::failure::Failure;

/// Runs a program to its end. Its output goes to stderr, beside the answer.
pub(super) fn run(command: &mut Command, what: &str) -> Result<(), Failure> {
    command.stdin(Stdio::null()).stdout(std::io::stderr());
    let ended = command.status().map_err(|error| {
        Failure::Message(records::reason_with_io_help(&format!("{what}: {error}"), &error))
    })?;
    if ended.success() {
        return Ok(());
    }
    Err(Failure::Message(format!(
        "{what}: {ended}; nothing was created; help: correct what it reports, then repeat this"
    )))
}
