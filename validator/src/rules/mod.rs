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
mod model;
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

pub use self::model::{By, Member, Rule, Weight};
pub use all::all;
pub use base::{Base, MONTY, REQUEST, RESULT};
pub use case::{Case, Document, Example, Expected};
pub use names::near;
pub use render::markdown;

use self::model::{LATER, POLICY, SPOOL, TEXT};
use crate::code::Code;

impl Rule {
    /// The known members of a family; none of a single code, and none where a family is open.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        match self.code() {
            Code::Secret(_) => secret::members(),
            Code::Layer(_) => elsewhere::layers(),
            _ => Vec::new(),
        }
    }
}
