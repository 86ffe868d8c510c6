//! The `toolexec` command: checks, approves and runs requests, submits them to a spool, and shows
//! and verifies results.
//!
//! SECURITY. The program has the rights of its caller and asks for no others. Requests and results
//! are untrusted: they are read with bounds, escaped before they are printed, and never executed.
//! `run` confines the tool with the launcher, as the daemon does, and never falls back to weaker
//! confinement. Only `log witness` and `notify` open connections, and only to the address that the
//! caller gives; for the database of a fleet it starts `toolexec-fleet`. `mcp --http` listens on the
//! loopback interface.
//!
//! Layout:
//!
//! - `commands/`: a folder per group of `toolexec --help`, with a file or folder per command.
//! - `args/`: arguments shared by several commands. `output/`: everything that prints. Neither
//!   imports a command.
//! - `tui/`: the screen of `watch`. `mcp/`: the server for agents.
//! - `model.rs` of a module: the types that its files share. It imports none of those files.

#![forbid(unsafe_code)]
#![allow(
    rustdoc::invalid_html_tags,
    reason = "the comments of arguments are help texts, shown as they are"
)]

mod args;
mod clock;
mod commands;
mod failure;
mod fleet_client;
mod mcp;
#[cfg(test)]
mod message_tests;
mod output;
mod private_directory;
mod random;
mod regular_file;
mod tls;
mod tui;

use std::process::ExitCode;

use commands::Options;

fn main() -> ExitCode {
    let options = match Options::from_arguments() {
        Ok(options) => options,
        Err(code) => return code,
    };
    // Warnings of the libraries, such as leftovers that could not be removed or a full disk.
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(output::screen::OutputScreen::of(&std::io::stderr()).colour)
        .with_target(false)
        .without_time()
        .init();
    match options.command.run() {
        Ok(code) => code,
        Err(failure) => {
            output::note(failure);
            ExitCode::from(3)
        }
    }
}
