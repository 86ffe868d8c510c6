//! Policy: the policy file and its only reader, approvals, and the decision about a request. This
//! crate is pure. It must never open a file, read a clock or the environment, or search for a
//! program. Text, signatures, the present time and the binaries of the host are arguments.
//!
//! Start with [`Policy::parse`] or [`Policy::shipped`]. [`authorise`] is the only function that
//! makes an [`Approved`]: the proof that accepted approvers approved exactly these bytes, and of
//! the limits under which they may run.
//!
//! Types that several files of a module share are in its `model.rs`, which imports only definitions
//! and no file that uses it. Every other file imports downwards, so that the modules form no cycle.

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
