//! Cells on the real kernel, through the built launcher. As whoever runs the tests: system mode for root,
//! user mode for everybody else.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod groups;
mod launcher;
mod limits;
mod stand;
mod tool;
