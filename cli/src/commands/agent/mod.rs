//! Commands for coding agents: their configuration, and the answers to their hooks.

pub(crate) mod hook;
pub(crate) mod setup;

mod model;
