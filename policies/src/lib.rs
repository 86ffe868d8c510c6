//! Policy: the policy file and its only reader, approvals, and the decision about a request. This
//! crate is pure: it must never open a file, read a clock or the environment, or search for a
//! program.
//!
//! Start with [`Policy::parse`] or [`Policy::shipped`]. Only [`authorise`] makes an [`Approved`]:
//! the proof that accepted approvers approved exactly these bytes, and of the limits of the run.
//!
//! Types that several files of a module share are in its `model.rs`, which imports only
//! definitions. Every other file imports downwards, so that the modules form no cycle.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod aana;
pub mod ais;
mod approval;
mod backends;
mod check;
mod chosen_backend;
mod covered_requests;
mod decision;
mod environments;
mod evidence;
mod findings;
mod fleet_list;
mod grant;
mod hosts;
mod interpreter;
mod limits;
mod locate;
mod machine;
#[cfg(test)]
mod message_tests;
mod model;
mod number;
pub mod permissions;
mod policy;
mod preview;
mod problem;
mod program;
mod raw;
mod reasons;
mod relying_parties;
mod rules;
mod runtime;
pub mod standing;
mod translate;

pub use approval::{
    APPROVE_NAMESPACE, ActionDocument, ActionTarget, AdmissionEvidence, AllowedSigners,
    AllowedSignersError, BATCH_NAMESPACE, BATCH_REQUESTS_MAX, BatchError, BatchList, CountedAction,
    CountedDocument, EntitlementError, FLEET_NAMESPACE, KeyKind, ORDER_NAMESPACE, REJECT_NAMESPACE,
    REQUEST_NAMESPACE, REVOKED_BYTES_MAX, RevokedKeys, RevokedKeysError, SIGNATURE_BYTES_MAX,
    SIGNATURE_FILES_MAX, SIGNED_ACTION_BYTES_MAX, SIGNERS_BYTES_MAX, STANDING_NAMESPACE,
    SignatureError, SignatureFile, SignedAction, SignedActionError, SignedActionEvidence,
    SignedActionKind, SignedActionRefusal, SignedActionTerms, SignerKey, SignerKeyError,
    SshSignature, StandardTime, Touch, VerifiedSshSignature, WebauthnFacts, WebauthnProblem,
    admission_violations, counts_for_standing, rejected_by,
};
pub use backends::{
    BackendFile, BackendForm, BackendKind, BackendLocation, BackendRule, CODE_FILE, GrantedBackend,
    GrantedMachine, INPUTS_FILE, InstalledBackend, InstalledBackends, MACHINE_REPORT_FILE,
    MicrovmRoot, MicrovmRule, RESULT_FILE, VmAccelerator,
};
pub use decision::{Approved, Decision, authorise};
pub use evidence::{
    AisEvidence, AisFile, BuilderEvidence, DecisionEvidence, EnvironmentEvidence, FoundStanding,
    InstalledRuntime, InstalledRuntimes, LedgerEvidence, MissingRuntime, OpenedEnvironment,
    PermissionEvidence, StandingEvidence, SubmissionOrigin,
};
pub use fleet_list::{
    CountedFleetLostOrder, FLEET_LIST_BYTES_MAX, FLEET_LIST_SERIAL_BYTES_MAX, FleetList,
    FleetListError, FleetListHost, FleetListSerial, FleetListSerialError, FleetLostOrder,
    FleetLostOrderError, FleetSignatureError, SignedFleetList,
};
pub use grant::RunGrant;
pub use hosts::{GrantedHost, GrantedNetwork};
pub use interpreter::code_arguments;
pub use limits::{Ceilings, GrantedLimits};
pub use policy::{POLICY_BYTES_MAX, Policy};
pub use preview::{DecisionPreview, ExpectedVerdict, preview_decision};
pub use problem::{PolicyError, PolicyProblem};
pub use reasons::{
    AisFinding, GateFinding, GateMode, PermissionFinding, Rationale, RuleName, RuleVerdict, Verdict,
};
pub use rules::bound_violations;
pub use runtime::{
    BinaryRule, CacheRule, CacheSource, HeapRule, ProcRule, RuntimeRule, TmpRule, WithoutCache,
};
pub use translate::yaml_problem;
