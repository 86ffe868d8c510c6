//! Rules for the source: imports between crates, places of `unsafe`, first lines of files, vague
//! names, the tests of ARCHITECTURE.md's invariants, and the recipes of CONTRIBUTING.md.

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
mod glossary;
mod heads;
mod modules;
mod names;
mod plain_english;
mod recipes;
mod rust_text;
mod sources;
mod terms;
mod tokens;
mod type_names;
mod unsafe_code;
