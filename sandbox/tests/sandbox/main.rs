//! Sandboxes on the real kernel, through the built launcher: system mode for root, else user mode.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod device;
mod groups;
mod launcher;
mod limits;
mod runtime;
#[path = "../../../tests/src/skip.rs"]
mod skip;
mod support;
mod tool;
mod work;
