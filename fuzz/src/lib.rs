//! Shared code of the fuzz targets. The checks of each answer are those of the validator's own
//! tests, so that a finding here becomes a test there. It must never have checks of its own.

#[path = "../../validator/tests/support/answers.rs"]
pub mod answers;
pub mod compose;
pub mod passkey;
mod pieces;
#[path = "../../tests/soft_keys/mod.rs"]
mod soft;
