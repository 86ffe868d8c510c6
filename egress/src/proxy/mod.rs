//! The proxy: one conversation per run, one task per connection, one thread.
//!
//! A connection walks this folder from the cell outwards: `conversation` (the run: accept, limit, end) →
//! `connection` (HTTP, kept or closed) → `judge` (may this be asked for?) → `pin` (which addresses, and
//! may they be reached?) → `dial` → `forward` (plain HTTP) or `tunnel` (CONNECT, after `hello` has read
//! whose TLS it is; `relay` carries, after `retry` has read that the host takes it) → `metered` (every
//! byte to and from a host is counted there). `rules`, `ceiling`, `address`, `hello`, `retry` and `headers`
//! are pure. Nothing here parses what came out of TLS.

mod address;
mod calls;
mod ceiling;
mod confine;
mod connection;
mod conversation;
mod descriptors;
mod dial;
mod forward;
mod headers;
mod hello;
mod judge;
mod ledger;
mod metered;
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

/// What the program does, from its arguments to its end.
#[must_use]
pub(crate) fn main() -> ExitCode {
    match service::run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("toolexec-egress: {why}");
            ExitCode::from(2)
        }
    }
}
