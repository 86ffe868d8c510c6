//! Outcome to signed record: the Markdown result that upstream's schema asks for, its SSH
//! signature, and the check of both years later. This crate renders and judges; it must never
//! decide whether something may run, read a clock, publish a directory, or sign a document that its
//! own lint refuses.

#![forbid(unsafe_code)]

mod body;
mod fault;
mod front;
mod key_files;
mod keys;
mod network;
mod outside;
mod record;
mod request_files;
mod statement;
mod stream;
mod summary;
mod tree;
mod trust;
mod verify;
mod yaml;

pub use fault::{Fault, SignatureProblem};
pub use key_files::KeyError;
pub use keys::{PublicResultKey, RESULT_NAMESPACE, RESULT_PRINCIPAL, ResultKey};
pub use network::{HostUse, NetworkReport, NetworkUse, Refusal, Unaccounted};
pub use policies::{RuleVerdict, Verdict};
pub use record::{SignError, SignedRecord, sign};
pub use statement::{Ran, Statement, Subject};
pub use summary::{Summary, summary};
pub use trust::{Trust, TrustError};
pub use verify::{Verified, verify};
