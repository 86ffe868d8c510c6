//! Who may run what: the policy file and its only reader, approvals, and the decision. This crate
//! is pure: it must never open a file, read a clock or the environment, or look for a program;
//! the text, the signatures, the present time and the binaries that were found are arguments.
//!
//! The way in is [`Policy::parse`] or [`Policy::shipped`]; the way out is [`authorise`], the only
//! maker of [`Approved`], the proof that somebody whom policy accepts approved exactly these bytes
//! and under which bounds they may run.
//!
//! Types that several files of a module share are in its `model.rs`, which imports definitions only and no
//! file that uses it. Every other file imports downwards, so that the modules have no cycle.

#![forbid(unsafe_code)]

pub mod aana;
pub mod ais;
mod approval;
mod check;
mod decision;
mod evidence;
mod findings;
mod form;
mod grant;
mod grounds;
mod hosts;
mod limits;
mod locate;
#[cfg(test)]
mod message_tests;
mod model;
mod number;
mod outlook;
pub mod permissions;
mod policy;
mod problem;
mod rules;
mod runtime;
mod translate;

pub use approval::{
    APPROVE_NAMESPACE, KeyError, KeyKind, NotEntitled, REJECT_NAMESPACE, REQUEST_NAMESPACE,
    REVOKED_BYTES_MAX, Revoked, RevokedError, SIGNATURE_BYTES_MAX, SIGNATURE_FILES_MAX,
    SIGNERS_BYTES_MAX, SignatureError, SignatureFile, SignerKey, Signers, SignersError,
    SshSignature, StandardTime, Touch, Verified,
};
pub use decision::{Approved, Decision, authorise};
pub use evidence::{
    AisEvidence, AisFile, Binaries, Evidence, Installed, Ledger, Permission, Submission,
};
pub use grant::Grant;
pub use grounds::{
    AisFinding, GateFinding, GateMode, Grounds, PermissionFinding, RuleName, RuleVerdict, Verdict,
};
pub use hosts::{GrantedHost, GrantedNetwork};
pub use limits::{Ceilings, GrantedLimits};
pub use outlook::{Outlook, Prospect, foresee};
pub use policy::{POLICY_BYTES_MAX, Policy};
pub use problem::{PolicyError, PolicyProblem};
pub use rules::beyond;
pub use runtime::{
    BinaryRule, CacheRule, CacheSource, HeapRule, ProcView, Runtime, TmpUse, WithoutCache,
};
