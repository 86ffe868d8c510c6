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
    /// An error in one situation, a warning in another; each says where or when.
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
    /// The part of the program that finds that a rule is broken.
    pub enum By {
        /// The validator, from the text alone.
        Text = "the text alone",
        /// Policy, with the signatures and what it knows of people and hosts.
        Policy = "policy",
        /// The spool, with the files and what was run before.
        Spool = "the spool",
        /// The host on which the tool would run.
        Host = "the host",
        /// Nothing in this version: the code is kept for a check that is still to come.
        Later = "a later version",
    }
}

impl Rule {
    /// The code that is documented; of a family one whose last word is in angle brackets.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// The meaning of the code, in one sentence.
    #[must_use]
    pub fn meaning(&self) -> &'static str {
        self.code.meaning()
    }

    /// The weight, which decides whether it makes a document invalid.
    #[must_use]
    pub fn severity(&self) -> Weight {
        self.severity
    }

    /// The deciders.
    #[must_use]
    pub fn decided(&self) -> &'static [By] {
        self.decided
    }

    /// Returns whether the validator decides it from the text alone.
    #[must_use]
    pub fn decided_here(&self) -> bool {
        self.decided.contains(&By::Text)
    }

    /// The text that asks for the rule: a schema and its section, or our design.
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

    /// The examples that the rule reports, as an error or a warning.
    pub fn rejects(&self) -> impl Iterator<Item = &'static Case> {
        self.cases.iter().filter(|case| case.expected() != Expected::Nothing)
    }

    /// The examples that the rule has nothing against.
    pub fn accepts(&self) -> impl Iterator<Item = &'static Case> {
        self.cases.iter().filter(|case| case.expected() == Expected::Nothing)
    }
}

/// One member of a family of codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// The last word of its code.
    pub name: &'static str,
    /// A description, as a phrase.
    pub what: &'static str,
}

pub(super) const TEXT: &[By] = &[By::Text];
pub(super) const POLICY: &[By] = &[By::Policy];
pub(super) const SPOOL: &[By] = &[By::Spool];
pub(super) const LATER: &[By] = &[By::Later];
