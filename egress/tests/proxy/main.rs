//! Black-box tests of the proxy: the built program, driven by its own client, between a tool and
//! servers played by the tests. All servers are on loopback, so every rule names its addresses.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its servers must fail, and keeps no files"
)]

mod clients;
mod framing;
mod idle;
mod kernel;
mod limits;
mod names;
mod own;
mod plain;
mod retry;
mod servers;
mod service;
mod session;
#[path = "../../../tests/src/skip.rs"]
mod skip;
mod support;
mod tunnels;
