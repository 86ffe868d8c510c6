//! The documentation of one rule, as a value. It must never decide anything.

use std::fmt;

use super::example::{ExpectedFinding, RuleExample};
use crate::code::Code;

/// The documentation of one code, or of one family of codes.
#[derive(Debug)]
pub struct RuleDoc {
    pub(super) code: Code,
    pub(super) severity: RuleSeverity,
    pub(super) decided_by: &'static [DecidedBy],
    pub(super) source: &'static str,
    pub(super) why: &'static str,
    pub(super) remedy: &'static str,
    pub(super) examples: &'static [RuleExample],
}

/// The weight of a violation of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleSeverity {
    /// Always an error.
    Error,
    /// Always a warning.
    Warning,
    /// An error in one situation and a warning in another, both described.
    Depends {
        /// The situation in which it is an error.
        error: &'static str,
        /// The situation in which it is a warning.
        warning: &'static str,
    },
}

impl fmt::Display for RuleSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => f.write_str("error"),
            Self::Warning => f.write_str("warning"),
            Self::Depends { error, warning } => write!(f, "error {error}, warning {warning}"),
        }
    }
}

model::closed_set! {
    /// The part of the program that detects a violation of a rule.
    pub enum DecidedBy {
        /// The validator, from the text alone.
        Text = "the text alone",
        /// Policy, with the signatures and its data about people and hosts.
        Policy = "policy",
        /// The spool, with the files and the previous runs.
        Spool = "the spool",
        /// The host on which the tool would run.
        Host = "the host",
    }
}

impl RuleDoc {
    /// Returns the documented code; for a family, one whose last component is in angle brackets.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// The meaning of the code, in one sentence.
    #[must_use]
    pub fn meaning(&self) -> &'static str {
        self.code.meaning()
    }

    /// Returns the weight, which determines whether a violation makes a document invalid.
    #[must_use]
    pub fn severity(&self) -> RuleSeverity {
        self.severity
    }

    /// Returns the parts of the program that decide the rule.
    #[must_use]
    pub fn decided_by(&self) -> &'static [DecidedBy] {
        self.decided_by
    }

    /// Returns the origin of the rule: a schema and its section, or a page of the documentation.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// The reason for the rule.
    #[must_use]
    pub fn why(&self) -> &'static str {
        self.why
    }

    /// The remedy for a violation.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        self.remedy
    }

    /// All examples.
    #[must_use]
    pub fn examples(&self) -> &'static [RuleExample] {
        self.examples
    }

    /// Returns the examples that violate the rule, as an error or a warning.
    pub fn rejects(&self) -> impl Iterator<Item = &'static RuleExample> {
        self.examples.iter().filter(|case| case.expected() != ExpectedFinding::Nothing)
    }

    /// Returns the examples that satisfy the rule.
    pub fn accepts(&self) -> impl Iterator<Item = &'static RuleExample> {
        self.examples.iter().filter(|case| case.expected() == ExpectedFinding::Nothing)
    }
}

/// One member of a family of codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// The last component of its code.
    pub name: &'static str,
    /// A description, as a phrase.
    pub what: &'static str,
}

pub(super) const TEXT: &[DecidedBy] = &[DecidedBy::Text];
pub(super) const POLICY: &[DecidedBy] = &[DecidedBy::Policy];
pub(super) const SPOOL: &[DecidedBy] = &[DecidedBy::Spool];
