//! toolexec: what people and CORE use: check a request, run it here and now, drop it into a spool,
//! look at results, verify them.
//!
//! SECURITY. This program has the rights of whoever types it and asks for no others. It reads requests
//! and results that others wrote: bounded, escaped before they are shown, never executed. `run` has
//! the tool confined by the launcher just as the daemon does; it never falls back to less. Of its
//! commands only `log witness` reaches a network, and only at the address that was typed.
//!
//! Placement: `commands/` has a folder for each group of `toolexec --help`, and a file or a folder for each
//! command, with its arguments. `args/` has the arguments that several commands share, and `output/` all that
//! prints; neither imports a command. `tui/` is the screen of `watch`, `mcp/` the server for agents. Types that several files of a
//! module share are in its `model.rs`, which imports none of those files.

#![forbid(unsafe_code)]

mod args;
mod clock;
mod commands;
mod failure;
mod mcp;
#[cfg(test)]
mod message_tests;
mod output;
mod tui;

use std::process::ExitCode;

use commands::Options;

fn main() -> ExitCode {
    let options = match Options::from_arguments() {
        Ok(options) => options,
        Err(code) => return code,
    };
    // What the libraries warn of: leftovers that could not be removed, room that was used up.
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .with_ansi(output::screen::Screen::of(&std::io::stderr()).colour)
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
