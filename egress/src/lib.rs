//! The egress proxy, a sandbox's only way to the network: takes the hosts of a run, and returns a
//! report of the hosts reached, the bytes sent and the requests refused.
//!
//! The library is the client's side ([`client`], [`frame`]). The other side, the program
//! `toolexec-egress` (`main.rs`, `proxy/`), uses this library and is never part of it, so that a
//! program that links the client links no HTTP, resolver or async runtime. Neither side knows
//! requests, policies or sandboxes, and nothing here decides which hosts a run may use.
//!
//! Types that several files of a module share are in its `model.rs`, which imports none of the
//! files that use it. Every other file imports downwards.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod client;
pub mod frame;
#[cfg(test)]
mod message_tests;
pub mod wire;
