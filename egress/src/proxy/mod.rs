//! The proxy: one session per run, one task per connection, one thread.
//!
//! A connection passes through these files, from the sandbox outwards: `session` (the run: accept,
//! limit, end) → `connection` (HTTP, kept alive or closed) → `evaluate` (is this request allowed?)
//! → `pin` (its addresses, and are they allowed?) → `dial` → `forward` (plain HTTP) or `tunnel`
//! (CONNECT: `hello` reads the TLS server name; `relay` copies, after `retry` has read that the
//! host accepts the ClientHello) → `counted` (every byte to and from a host). `model` has the state
//! that they share. The contents of TLS are never parsed.

mod address;
mod confine;
mod connection;
mod counted;
mod counters;
mod descriptors;
mod dial;
mod evaluate;
mod first_hello;
mod forward;
mod headers;
mod hello;
mod idle_timer;
mod limit;
mod model;
mod options;
mod own_address;
mod pin;
mod relay;
mod resolve;
mod response;
mod retry;
mod rules;
mod service;
mod session;
mod syscalls;
mod tunnel;

use std::process::ExitCode;

use clap::Parser;

use options::Options;

const USAGE_OR_INTERNAL: u8 = 3;

#[must_use]
pub(crate) fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let requested = !error.use_stderr();
            let printed = error.print().is_ok();
            let fine = requested && printed;
            return if fine { ExitCode::SUCCESS } else { ExitCode::from(USAGE_OR_INTERNAL) };
        }
    };
    match service::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let help = "check the options and the unit of toolexec-egress";
            match why.contains("; help: ") {
                true => eprintln!("toolexec-egress: {why}"),
                false => eprintln!("toolexec-egress: {why}; help: {help}"),
            }
            ExitCode::from(USAGE_OR_INTERNAL)
        }
    }
}
