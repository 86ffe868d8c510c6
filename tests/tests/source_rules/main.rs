//! The rules that the source keeps: which crate may import which, where `unsafe` may be used, how files
//! begin, which names are too vague, and that every invariant of ARCHITECTURE.md names a test that exists.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod crates;
mod documents;
mod heads;
mod names;
mod rust_text;
mod sources;
mod unsafe_code;
