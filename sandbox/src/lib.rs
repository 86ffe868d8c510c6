//! One command, one cell: from a [`plan::Plan`] to an [`outcome::Outcome`].
//!
//! The library is the daemon's side: it starts or reaches a launcher, sends one order, reads what the
//! tool wrote and collects what it left. The program `toolexec-launch` is the other side and lives in
//! [`launch`]. Neither side ever parses a request, and nothing here decides whether a command may run.
//! All `unsafe` of the workspace is in `sys.rs`.
//!
//! Types that several files of a module share are in its `model.rs`, which imports definitions only and no
//! file that uses it. Every other file imports downwards, so that the modules have no cycle.

pub mod client;
mod collect;
mod encode;
pub mod frame;
pub mod host;
pub mod launch;
#[cfg(test)]
mod message_tests;
mod messages;
pub mod outcome;
pub mod plan;
mod pour;
pub mod process;
pub mod report;
pub mod seccomp;
mod steps;
pub mod subordinate;
mod sys;
mod tap;
mod wire;
