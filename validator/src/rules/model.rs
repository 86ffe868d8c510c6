//! The documentation of one rule, as a value. It must never decide anything.

use std::fmt;

use super::case::{Case, Expected};
use crate::code::Code;

/// The documentation of one code, or of one family of codes.
#[derive(Debug)]
pub struct Rule {
    pub(super) code: Code,
    pub(super) severity: Weight,
    pub(super) decided: &'static [By],
    pub(super) source: &'static str,
    pub(super) why: &'static str,
    pub(super) remedy: &'static str,
    pub(super) cases: &'static [Case],
}

/// The weight of a violation of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
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

impl fmt::Display for Weight {
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
    pub enum By {
        /// The validator, from the text alone.
        Text = "the text alone",
        /// Policy, with the signatures and its data about people and hosts.
        Policy = "policy",
        /// The spool, with the files and the previous runs.
        Spool = "the spool",
        /// The host on which the tool would run.
        Host = "the host",
        /// No part of this version: the code is reserved for a future check.
        Later = "a later version",
    }
}

impl Rule {
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
    pub fn severity(&self) -> Weight {
        self.severity
    }

    /// Returns the parts of the program that decide the rule.
    #[must_use]
    pub fn decided(&self) -> &'static [By] {
        self.decided
    }

    /// Returns true if the validator decides the rule from the text alone.
    #[must_use]
    pub fn decided_here(&self) -> bool {
        self.decided.contains(&By::Text)
    }

    /// Returns the origin of the rule: a schema and its section, or our design.
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
    pub fn cases(&self) -> &'static [Case] {
        self.cases
    }

    /// Returns the examples that violate the rule, as an error or a warning.
    pub fn rejects(&self) -> impl Iterator<Item = &'static Case> {
        self.cases.iter().filter(|case| case.expected() != Expected::Nothing)
    }

    /// Returns the examples that satisfy the rule.
    pub fn accepts(&self) -> impl Iterator<Item = &'static Case> {
        self.cases.iter().filter(|case| case.expected() == Expected::Nothing)
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

pub(super) const TEXT: &[By] = &[By::Text];
pub(super) const POLICY: &[By] = &[By::Policy];
pub(super) const SPOOL: &[By] = &[By::Spool];
pub(super) const LATER: &[By] = &[By::Later];
