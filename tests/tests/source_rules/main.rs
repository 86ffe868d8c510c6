//! The rules that the source keeps: which crate may import which, where `unsafe` may be used, how files
//! begin, which names are too vague, that every invariant of ARCHITECTURE.md names a test that exists, and
//! that the recipes of CONTRIBUTING.md are true.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod allowances;
mod closed_sets;
mod crates;
mod cycles;
mod documents;
mod heads;
mod modules;
mod names;
mod plain_english;
mod recipes;
mod rust_text;
mod sources;
mod tokens;
mod type_names;
mod unsafe_code;
