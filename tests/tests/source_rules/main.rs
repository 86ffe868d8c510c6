//! Rules for the source: allowed imports between crates, places of `unsafe`, first lines of files,
//! vague names. Every invariant of ARCHITECTURE.md names an existing test, and the recipes of
//! CONTRIBUTING.md are correct.

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
