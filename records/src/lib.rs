//! Signed records of tool runs: the Markdown result of upstream's schema, its SSH signature, its
//! in-toto statement, the transparency log of all records, and their verification.
//!
//! This crate must never decide whether something may run, read a clock, publish a directory, or
//! sign a document that its own lint refuses. Every file imports downwards, without cycles; types
//! that several files of a module share are in its `model.rs`, which imports definitions only.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod agent;
mod attestation;
mod authority;
pub mod base64;
mod body;
mod build_record;
mod bundle;
mod dsse;
mod field;
mod front_matter;
mod guest_node;
mod guest_report;
mod hidden_results;
mod in_toto;
mod json;
mod key_error;
mod key_files;
mod key_model;
mod key_protection;
mod key_source;
pub mod log;
mod log_key_files;
#[cfg(test)]
mod message_tests;
mod network;
mod predicate;
mod public_keys;
mod reason;
mod record;
mod replayed_record;
mod request_files;
mod result_directory;
mod result_key;
mod result_key_files;
mod result_names;
mod rotation;
mod spki;
mod statement;
mod stream;
mod summary;
mod tool_text;
mod tree;
mod trust;
mod untrusted;
mod verify;
mod verify_error;
mod witness_key_files;
mod yaml;

pub use agent::{AgentIdentity, SshAgent};
pub use attestation::{RecordBundleError, VerifiedBundle, verify_bundle};
pub use build_record::{
    BUILD_PREDICATE_TYPE, BuildRecord, BuildRecordError, BuildStatement, BuildTotals, BuilderKey,
    StatedInstaller, StatedSource, sign_build, verify_build_record,
};
pub use dsse::DsseEnvelope;
pub use guest_report::{GUEST_REPORT_BYTES_MAX, GuestEnding, GuestReport};
pub use hidden_results::is_intact;
pub use in_toto::{AttestedRecord, PREDICATE_TYPE, attest};
pub use key_error::HostKeyError;
pub use key_model::{AgentError, DatedKey, KeyFingerprint, NotAFingerprint, SigningError};
pub use key_source::{HostKeys, KeySource};
pub use network::{
    NetworkReport, NetworkUse, ProxyConfinement, RecordedHostUse, RecordedRefusal, UnknownUseReason,
};
pub use policies::{Rationale, RuleVerdict, Verdict};
pub use predicate::predicate_schema;
pub use public_keys::PublicKeys;
pub use reason::{reason_of, reason_with_help, reason_with_io_help, split_reason};
pub use record::{SignError, SignedRecord, sign};
pub use replayed_record::{ReplayedRecord, RunOutputFile};
pub use result_directory::{
    ClaimedArtifact, ClaimedViolation, RecordClaims, ResultDirectory, ResultFilePart,
};
pub use result_key::{PublicResultKey, RESULT_NAMESPACE, RESULT_PRINCIPAL, ResultKey};
pub use result_names::{request_of, result_names};
pub use rotation::{
    ActiveKeys, CompletedRotation, HostKey, RotationError, Successor, Takeover, TakeoverError,
    finish_rotations, rotate, takeovers,
};
pub use statement::{RecordSubject, ReplayOf, StartedRun, StatedUse, Statement};
pub use summary::{Summary, claims, read_claimed, summary};
pub use trust::{FleetTrustError, RecordTrustError, Trust};
pub use verify::{
    ApprovalProblem, Conflict, CrossRecordCheck, History, HistoryError, LogPosition, SkippedCheck,
    VerifiedRecord, verify, verify_bundle_alone, verify_gathered,
};
pub use verify_error::{SignatureProblem, VerifyError};
