//! What the targets ask of every answer: the questions are those of the validator's own tests, so
//! that a finding here becomes a test there. It must never grow rules of its own.

#[path = "../../validator/tests/support/answers.rs"]
pub mod answers;
pub mod compose;
mod pieces;
