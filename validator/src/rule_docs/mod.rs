//! The documentation of every rule, with tested examples. It must never decide: no check uses it.

mod all;
mod approval;
mod backend;
mod base;
mod command_form;
mod command_shell;
mod document_parts;
mod environment;
mod example;
mod external_codes;
mod frontmatter;
mod inputs;
mod language;
mod limits;
mod model;
mod monty;
mod names;
mod network;
mod outputs;
mod path;
mod render;
mod result;
mod risk;
mod schema;
mod secret;
mod section;
mod standing;
mod text;

pub use self::model::{DecidedBy, Member, RuleDoc, RuleSeverity};
pub use all::all;
pub use base::{Base, MONTY, REQUEST, RESULT, STANDING};
pub use example::{ExampleChange, ExampleFile, ExpectedFinding, RuleExample};
pub use names::similar_codes;
pub use render::markdown;

use self::model::{POLICY, SPOOL, TEXT};
use crate::code::Code;

impl RuleDoc {
    /// Returns the known members of a family; none for a single code and for an open family.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        match self.code() {
            Code::Secret(_) => secret::members(),
            Code::Layer(_) => external_codes::layers(),
            _ => Vec::new(),
        }
    }
}
