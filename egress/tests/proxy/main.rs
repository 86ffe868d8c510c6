//! The proxy, black box: the built program, driven by its own client, between a tool and servers that the
//! tests play. Every server listens on loopback, so every rule here names what it reaches.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its servers must fail, and keeps no files"
)]

mod clients;
mod conversation;
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
mod stand;
mod tunnels;
