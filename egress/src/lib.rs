//! The only way from a cell to a network: from the hosts that a run may name to a report of what was
//! reached, sent and refused.
//!
//! The library is the client's side ([`client`], [`frame`]): it starts or reaches the proxy, hands it
//! the socket that listens inside a cell, and asks for the report. The other side is the program
//! `toolexec-egress` (`main.rs`, `proxy/`), which uses this library and is never part of it: whoever links
//! the client links no HTTP, no resolver and no runtime. Neither side knows what a request, a policy or a
//! cell is, and nothing here decides which hosts a run may have.
//!
//! Types that several files of a module share are in its `model.rs`, which imports definitions only and no
//! file that uses it. Every other file imports downwards, so that the modules have no cycle.

#![forbid(unsafe_code)]

pub mod client;
pub mod frame;
#[cfg(test)]
mod message_tests;
pub mod wire;
