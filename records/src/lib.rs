//! Signed records of tool runs: the Markdown result of upstream's schema, its SSH signature, its
//! in-toto statement, the transparency log of all records, and their verification.
//!
//! This crate renders and verifies. It must never decide whether something may run, read a clock,
//! publish a directory, or sign a document that its own lint refuses.
//!
//! Types that several files of a module share are in its `model.rs`, which imports definitions
//! only. Every other file imports downwards, so the modules have no cycle.

#![forbid(unsafe_code)]

mod agent;
mod attestation;
mod authority;
pub mod base64;
mod body;
mod bundle;
mod custody;
mod dsse;
mod fault;
mod field;
mod front;
mod in_toto;
mod json;
mod key_error;
mod key_files;
mod key_model;
mod key_source;
mod keys;
pub mod log;
mod log_key_files;
#[cfg(test)]
mod message_tests;
mod network;
mod opened;
mod outside;
mod predicate;
mod public_keys;
mod reason;
mod recalled;
mod record;
mod request_files;
mod result_key_files;
mod rotation;
mod spki;
mod statement;
mod stream;
mod summary;
mod tool_text;
mod tree;
mod trust;
mod verify;
mod yaml;

pub use agent::{Agent, Identity};
pub use attestation::{BundleFault, VerifiedBundle, verify_bundle};
pub use dsse::Envelope;
pub use fault::{Fault, SignatureProblem};
pub use in_toto::{Attested, PREDICATE_TYPE, attest};
pub use key_error::KeyError;
pub use key_model::{AgentError, Dated, KeyFingerprint, NotAFingerprint, SigningError};
pub use key_source::{KeySource, Keys};
pub use keys::{PublicResultKey, RESULT_NAMESPACE, RESULT_PRINCIPAL, ResultKey};
pub use network::{HostUse, NetworkReport, NetworkUse, ProxyConfinement, Refusal, Unaccounted};
pub use opened::{ClaimedArtifact, ClaimedViolation, Claims, Part, ResultDirectory};
pub use policies::{Grounds, RuleVerdict, Verdict};
pub use predicate::predicate_schema;
pub use public_keys::PublicKeys;
pub use reason::{reason_of, reason_with_help, split_reason};
pub use recalled::{LeftFile, Recalled};
pub use record::{SignError, SignedRecord, sign};
pub use rotation::{
    HostKey, KeysAtWork, Rotated, RotationError, Successor, Takeover, TakeoverError,
    finish_rotations, rotate, takeovers,
};
pub use statement::{Ran, ReplayOf, Statement, Subject};
pub use summary::{Summary, claims, read_claimed, summary};
pub use trust::{Trust, TrustError};
pub use verify::{
    Across, ApprovalProblem, Clash, History, HistoryError, NotChecked, PlaceInLog, Verified,
    verify, verify_bundle_alone, verify_gathered,
};
