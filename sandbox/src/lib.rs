//! Runs one command in one sandbox: from a [`plan::Plan`] to an [`model::Outcome`].
//!
//! The library is the daemon's side: it reaches a launcher, sends one plan, reads the tool's output
//! and collects its files. The program `toolexec-launch` is the other side; its code is in
//! [`launch`]. Neither parses a request or decides whether a command may run. All `unsafe` of the
//! workspace is in `sys.rs`.
//!
//! Types that several files of a module share are in its `model.rs`, which imports only
//! definitions. Every other file imports downwards, so that the modules have no cycle.

#![warn(missing_docs)]

pub mod client;
mod collect;
mod copy;
mod encode;
pub mod frame;
pub mod host;
pub mod launch;
#[cfg(test)]
mod message_tests;
mod messages;
pub mod outcome;
pub mod plan;
pub mod process;
pub mod report;
pub mod seccomp;
mod steps;
mod stream_capture;
pub mod subordinate;
mod sys;
mod wire;
mod work;
