//! More than one host: one PostgreSQL database decides the order of claims and starts, and bytes
//! move by their digest. The database never gives authority: each host checks everything again.
//!
//! The library has what other crates need and links no database: the names, the protocol of the
//! gate, and the protocol of the commands. The program `toolexec-fleet` is the feature `agent`.

#![forbid(unsafe_code)]

pub mod commands;
pub mod gate;
pub mod model;
