//! Parses and checks tool requests and tool results, and explains violations. This crate is pure:
//! it must never open a file, read the clock or the environment, run a program or draw a random
//! number. It must never panic on any input.
//!
//! The entry point is [`Draft`], bytes of bounded size with a known owner. [`Draft::check`] is the
//! only constructor of [`Request`], the proof that the text is well-formed and complete under the
//! normative schema (seed 002). Other crates decide whether a request may run. Types that several
//! files of a module share are in its `model.rs`, which imports definitions only. Every other file
//! imports downwards, so the modules form no cycle.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod approval_fill;
mod check_context;
mod code;
mod command;
mod compose;
mod confusable;
mod consistency;
mod declarations;
mod document;
mod draft;
mod edit_distance;
mod extension;
mod fields;
mod json;
mod json_schema;
mod least_privilege;
mod limits;
mod lint;
#[cfg(test)]
mod message_tests;
mod monty;
mod network;
mod outputs;
mod packages;
mod paths;
mod privileges;
mod prose;
mod prose_analysis;
mod rendered;
mod report;
mod request;
mod request_check;
mod request_key;
mod result;
mod revealed_text;
mod risk;
/// The documentation of the rules.
pub mod rule_docs;
mod schema;
mod secrets;
mod sections;
mod shells;
mod standing;
mod table;
mod text;
mod violation;
mod warnings;
mod yaml;

pub use approval_fill::{FillError, FilledRequest, fill_approval, fill_placeholder_approval};
pub use code::Code;
pub use command::{command_words, shell_words};
pub use compose::{
    ComposedAgent, ComposedExample, ComposedInput, ComposedOutput, ComposedRisk, ComposedSlot,
    ComposedWork, Composition, NotOneLine, NotReprintable, OneLine, StandingComposition,
    quote_words,
};
pub use confusable::{are_alike, comparable_spellings, misleading_reason};
pub use declarations::{Input, is_plain_path};
pub use draft::{Draft, DraftCheck, DraftTooLarge, FileLocation, PastRequest, RefusedDraft};
pub use extension::RequestAgent;
pub use json::{JSON_INTEGER_MAX, JsonError, StrictJson, read_json};
pub use json_schema::front_matter_schema;
pub use limits::{CpuCores, LimitCeilings, ceiling_warnings};
pub use lint::{ApprovalRequirement, DocumentKind, lint};
pub use monty::PureCode;
pub use network::{HostPort, Network, NetworkAccess};
pub use outputs::{ExpectedOutput, PatchOutput};
pub use request::{Backend, Constraint, OwnerUid, Request, RequestedBy, Work};
pub use result::{RESULT_BYTES_MAX, check_result, states_digest, withholding_code};
pub use revealed_text::{decode_text, incomplete_len, reveal_text};
pub use risk::{Risk, RiskLevel, Sensitivity};
pub use rule_docs::RuleDoc;
pub use secrets::{SecretKind, secret_kinds};
pub use standing::{
    Binding, BindingError, InputSlot, NamePattern, ParameterKind, StandingApproval, StandingInput,
    StandingParameter, StandingTerms, TemplateWord, TextAlphabet, WordValue, bind, compose_use,
    standing_schema,
};
pub use violation::{Severity, Violation};
pub use warnings::{input_warnings, reveal_line};

/// The maximum size of a request in bytes.
pub const REQUEST_BYTES_MAX: usize = 256 * 1024;

/// The clock difference in seconds up to which two times do not contradict each other.
pub const CLOCK_SKEW_SEC: i64 = 120;
