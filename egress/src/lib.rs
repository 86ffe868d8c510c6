//! The only way from a cell to a network: from the hosts that a run may name to a report of what was
//! reached, sent and refused.
//!
//! The library is the client's side ([`client`], [`frame`]): it starts or reaches the proxy, hands it
//! the socket that listens inside a cell, and asks for the report. The program `toolexec-egress` is the
//! other side and lives in [`proxy`]. Neither side knows what a request, a policy or a cell is, and
//! nothing here decides which hosts a run may have.

#![forbid(unsafe_code)]

pub mod client;
pub mod frame;
pub mod proxy;
mod wire;
