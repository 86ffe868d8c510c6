//! Commands that run requests, embedded or by a daemon.

pub(in crate::commands) mod embedded;
pub(crate) mod exec;
pub(crate) mod order;
#[allow(clippy::module_inception, reason = "a command has the name of its group")]
pub(in crate::commands) mod run;
pub(crate) mod submit;
