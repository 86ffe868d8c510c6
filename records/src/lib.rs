//! Outcome to signed record: the Markdown result that upstream's schema asks for, its SSH
//! signature, the in-toto statement of it, the log that has them all, and the check of each years
//! later. This crate renders and judges; it must never
//! decide whether something may run, read a clock, publish a directory, or sign a document that its
//! own lint refuses.

#![forbid(unsafe_code)]

mod attestation;
mod base64;
mod body;
mod bundle;
mod dsse;
mod fault;
mod front;
mod in_toto;
mod json;
mod key_files;
mod keys;
pub mod log;
mod log_key_files;
mod network;
mod outside;
mod predicate;
mod record;
mod repeated;
mod request_files;
mod spki;
mod statement;
mod stream;
mod summary;
mod tree;
mod trust;
mod verify;
mod yaml;

pub use attestation::{BundleFault, VerifiedBundle, verify_bundle};
pub use dsse::Envelope;
pub use fault::{Fault, SignatureProblem};
pub use in_toto::{Attested, PREDICATE_TYPE, attest};
pub use key_files::KeyError;
pub use keys::{PublicResultKey, RESULT_NAMESPACE, RESULT_PRINCIPAL, ResultKey};
pub use network::{HostUse, NetworkReport, NetworkUse, Refusal, Unaccounted};
pub use policies::{RuleVerdict, Verdict};
pub use predicate::predicate_schema;
pub use record::{SignError, SignedRecord, sign};
pub use statement::{Ran, Statement, Subject};
pub use summary::{Summary, summary};
pub use trust::{Trust, TrustError};
pub use verify::{
    Across, ApprovalProblem, Clash, History, HistoryError, NotChecked, PlaceInLog, Verified,
    verify, verify_bundle_alone,
};
