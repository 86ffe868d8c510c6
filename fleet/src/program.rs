//! The start of the program, and its exit status.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

use crate::agent;
use crate::command_server;
use crate::confine::{confine, confine_agent};
use crate::logging;
use crate::options::{FleetAction, FleetOptions};

const PROBLEM_FOUND: u8 = 2;
const USAGE_OR_INTERNAL: u8 = 3;

/// Runs the program with the arguments of this process.
pub(crate) fn main() -> ExitCode {
    let options = match FleetOptions::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let requested = !error.use_stderr();
            let printed = error.print().is_ok();
            let fine = requested && printed;
            return if fine { ExitCode::SUCCESS } else { ExitCode::from(USAGE_OR_INTERNAL) };
        }
    };
    let confined = match options.action {
        FleetAction::Serve(_) | FleetAction::Check(_) => confine_agent(),
        FleetAction::Command => confine(),
    };
    if let Err(why) = confined.and_then(|()| install_tls()) {
        return fail(&why, USAGE_OR_INTERNAL);
    }
    match options.action {
        FleetAction::Serve(agent) => {
            let served = logging::begin().and_then(|()| agent::serve(&agent.config));
            served.map_or_else(|why| fail(&why, USAGE_OR_INTERNAL), |()| ExitCode::SUCCESS)
        }
        FleetAction::Check(agent) => {
            let checked = agent::check(&agent.config);
            checked.map_or_else(|why| fail(&why, PROBLEM_FOUND), |()| ExitCode::SUCCESS)
        }
        FleetAction::Command => command_server::run(),
    }
}

/// Installs the cryptography of TLS for the HTTP client of a store, which has none of its own.
fn install_tls() -> Result<(), String> {
    let installed = rustls::crypto::ring::default_provider().install_default();
    installed.map_err(|_| "TLS: installed before; help: report this as a bug".to_owned())
}

/// Prints a message with its help, and returns the exit status.
fn fail(why: &str, code: u8) -> ExitCode {
    let help = match why.contains("; help: ") {
        true => "",
        false => "; help: check the configuration and the unit of toolexec-fleet",
    };
    // If stderr is closed, the message cannot be reported elsewhere.
    writeln!(io::stderr().lock(), "toolexec-fleet: {why}{help}").unwrap_or_default();
    ExitCode::from(code)
}
