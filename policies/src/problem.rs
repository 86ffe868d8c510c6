//! Problems of a policy file, described so that an operator can fix them: file, line, key and
//! advice. A problem must never be printed without the name of its file.

use std::fmt;

use crate::locate;

/// One problem of a policy file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyProblem {
    line: Option<usize>,
    key: String,
    what: String,
    advice: String,
}

impl PolicyProblem {
    pub(crate) fn new(line: Option<usize>, key: &str, what: String, advice: &str) -> Self {
        Self { line, key: key.to_owned(), what, advice: advice.to_owned() }
    }

    /// Returns the line, from 1, if it is known.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns the key as a path, such as `limits.pids_max`; empty for a problem of the whole file.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{}; help: {}", self.what, self.advice)
    }
}

/// The policy file cannot be used. It prints one line per problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyError {
    origin: String,
    problems: Vec<PolicyProblem>,
}

impl PolicyError {
    pub(crate) fn one(origin: &str, problem: PolicyProblem) -> Self {
        Self { origin: origin.to_owned(), problems: vec![problem] }
    }

    /// Returns every problem, in the order of the lines.
    #[must_use]
    pub fn problems(&self) -> &[PolicyProblem] {
        &self.problems
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&self.origin)?;
            if let Some(line) = problem.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PolicyError {}

/// Collects problems while a file is checked, so that an operator sees all of them at once.
pub(crate) struct Problems<'a> {
    text: &'a str,
    origin: &'a str,
    found: Vec<PolicyProblem>,
}

impl<'a> Problems<'a> {
    pub(crate) fn new(text: &'a str, origin: &'a str) -> Self {
        Self { text, origin, found: Vec::new() }
    }

    pub(crate) fn add(&mut self, key: &str, what: impl Into<String>, advice: &str) {
        let line = locate::line_of(self.text, key);
        self.found.push(PolicyProblem::new(line, key, what.into(), advice));
    }

    /// Returns the value if no problem was found, else the error.
    pub(crate) fn verdict<T>(mut self, value: T) -> Result<T, PolicyError> {
        if self.found.is_empty() {
            return Ok(value);
        }
        self.found.sort_by_key(PolicyProblem::line);
        Err(PolicyError { origin: self.origin.to_owned(), problems: self.found })
    }
}
