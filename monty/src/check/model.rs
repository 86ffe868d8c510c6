//! The types of a check that several of its files share.

use std::collections::BTreeSet;

use monty_types::ExcType;
use serde::Serialize;

/// The first construct that monty refuses. Line and column count from 1, columns in characters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CodeProblem {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The exception and its text, as monty writes them.
    pub message: String,
}

/// A piece of code for the interpreter. It has no part that depends on the checked program, so
/// that an exception of it is one of the program as well.
#[derive(Debug)]
pub(super) struct ProbeQuestion {
    /// Imports before the code. If one of them fails, the question has no answer.
    pub(super) imports: BTreeSet<String>,
    /// The code: one statement.
    pub(super) code: String,
    /// The exceptions that show a missing construct. All others may be due to the answer of a host
    /// that has no files.
    pub(super) kinds: &'static [ExcType],
}

impl ProbeQuestion {
    /// A question about code that imports nothing.
    pub(super) fn of(code: impl Into<String>, kinds: &'static [ExcType]) -> Self {
        Self { imports: BTreeSet::new(), code: code.into(), kinds }
    }
}
