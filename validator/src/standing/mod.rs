//! Standing approvals: a person signs a bounded kind of run once. This module reads the document,
//! whose parsed form proves that it is complete and unambiguous. It must never admit a request: that
//! is decided from this form by `policies`. It must refuse every key that it does not know.
//!
//! Start with [`StandingApproval::read`]. [`bind`] compares the words of a command with those of the
//! document, after both were split: text is never matched.

mod binding;
mod compose_use;
mod examples;
mod inputs;
mod key;
mod model;
mod parameters;
mod read;
mod schema;
mod values;
mod words;

pub use self::model::{
    InputSlot, NamePattern, ParameterKind, StandingApproval, StandingInput, StandingParameter,
    StandingTerms, TemplateWord, TextAlphabet, WordValue,
};
pub use binding::{Binding, BindingError, bind};
pub use compose_use::compose_use;
pub(crate) use read::{REQUEST_TYPE, read};
pub use schema::standing_schema;
