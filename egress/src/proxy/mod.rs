//! The proxy: one conversation per run, one task per connection, one thread.
//!
//! A connection walks this folder from the cell outwards: `conversation` (the run: accept, limit, end) →
//! `connection` (HTTP, kept or closed) → `judge` (may this be asked for?) → `pin` (which addresses, and
//! may they be reached?) → `dial` → `forward` (plain HTTP) or `tunnel` (CONNECT, after `hello` has read
//! whose TLS it is; `relay` carries, after `retry` has read that the host takes it) → `metered` (every
//! byte to and from a host is counted there). `model` has the state that they share. `rules`, `ceiling`,
//! `address`, `hello`, `first_hello`, `retry` and `headers` are pure. Nothing here parses what came out of
//! TLS.

mod address;
mod answer;
mod calls;
mod ceiling;
mod confine;
mod connection;
mod conversation;
mod descriptors;
mod dial;
mod first_hello;
mod forward;
mod headers;
mod hello;
mod judge;
mod ledger;
mod metered;
mod model;
mod options;
mod own;
mod pin;
mod pulse;
mod relay;
mod resolve;
mod retry;
mod rules;
mod service;
mod tunnel;

use std::process::ExitCode;

use clap::Parser;

use options::Options;

/// Exit code of a usage or internal error (DESIGN section 4).
const USAGE_OR_INTERNAL: u8 = 3;

/// What the program does, from its arguments to its end.
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
