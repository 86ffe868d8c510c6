//! What every rule is for, in words that people read and examples that tests execute. It documents
//! and must never decide: no check may ask this module whether something is allowed.

mod all;
mod approval;
mod backend;
mod base;
mod case;
mod command_form;
mod command_shell;
mod elsewhere;
mod frontmatter;
mod inputs;
mod language;
mod limits;
mod monty;
mod names;
mod network;
mod outputs;
mod parts;
mod path;
mod render;
mod result;
mod risk;
mod schema;
mod secret;
mod section;
mod text;

pub use all::all;
pub use base::{Base, MONTY, REQUEST, RESULT};
pub use case::{Case, Document, Example, Expected};
pub use names::near;
pub use render::markdown;

use std::fmt;

use crate::code::Code;

/// The documentation of one code, or of one family of codes.
#[derive(Debug)]
pub struct Rule {
    code: Code,
    severity: Weight,
    decided: &'static [By],
    source: &'static str,
    why: &'static str,
    remedy: &'static str,
    cases: &'static [Case],
}

/// How much a violation of a rule weighs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// Always an error.
    Error,
    /// Always a warning.
    Warning,
    /// An error in one situation, a warning in another; each says where or when.
    Depends {
        /// Where or when it is an error.
        error: &'static str,
        /// Where or when it is a warning.
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
    /// Who can tell that a rule is broken.
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

    /// What the code means, in one sentence.
    #[must_use]
    pub fn meaning(&self) -> &'static str {
        self.code.meaning()
    }

    /// Whether it makes a document invalid.
    #[must_use]
    pub fn severity(&self) -> Weight {
        self.severity
    }

    /// Who decides it.
    #[must_use]
    pub fn decided(&self) -> &'static [By] {
        self.decided
    }

    /// Whether the validator can tell from the text alone.
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

    /// What to do about a violation.
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

    /// The known members of a family; none of a single code, and none where a family is open.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        match self.code {
            Code::Secret(_) => secret::members(),
            Code::Layer(_) => elsewhere::layers(),
            _ => Vec::new(),
        }
    }
}

/// One member of a family of codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// The last word of its code.
    pub name: &'static str,
    /// What it is, as a phrase.
    pub what: &'static str,
}

const TEXT: &[By] = &[By::Text];
const POLICY: &[By] = &[By::Policy];
const SPOOL: &[By] = &[By::Spool];
const LATER: &[By] = &[By::Later];
