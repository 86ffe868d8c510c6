//! The proxy: one conversation per run, one task per connection, one thread.
//!
//! A connection passes through these files, from the sandbox outwards: `conversation` (the run:
//! accept, limit, end) → `connection` (HTTP, kept alive or closed) → `judge` (is this request
//! allowed?) → `pin` (which addresses, and are they allowed?) → `dial` → `forward` (plain HTTP) or
//! `tunnel` (CONNECT, after `hello` has read the TLS server name; `relay` copies, after `retry` has
//! read that the host accepts the ClientHello) → `metered` (counts every byte to and from a host).
//! `model` has the state that they share. `rules`, `ceiling`, `address`, `hello`, `first_hello`,
//! `retry` and `headers` are pure. The contents of TLS are never parsed.

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

/// The exit code of a usage or internal error.
const USAGE_OR_INTERNAL: u8 = 3;

/// Runs the program, from its arguments to its end.
#[must_use]
pub(crate) fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(said) => {
            let asked_for = !said.use_stderr();
            let printed = said.print().is_ok();
            let fine = asked_for && printed;
            return if fine { ExitCode::SUCCESS } else { ExitCode::from(USAGE_OR_INTERNAL) };
        }
    };
    match service::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("toolexec-egress: {why}");
            ExitCode::from(USAGE_OR_INTERNAL)
        }
    }
}
