//! The rules about approvers. A name in the text must never count as an approval, and if policy
//! requires signatures nothing else may replace them.
//!
//! Start with `judge`, a pure function. `verified_signatures` verifies; `approvers` and
//! `request_rules` have one function for each rule; `standing` has the rule about standing
//! approvals; `batch` reads lists of requests; `sshsig`, `signers` and `revoked` read OpenSSH's
//! formats with the meaning that `ssh-keygen -Y verify` gives them; `webauthn` reads passkeys.

mod approvers;
mod armour;
mod batch;
mod document;
mod judge;
mod key;
mod krl;
mod line;
mod model;
mod pattern;
mod request_rules;
mod revoked;
mod risk;
mod signature_error;
mod signed_action;
mod signers;
mod sshsig;
mod standing;
mod submitter;
mod touch;
mod validity;
mod verified_signatures;
mod webauthn;
mod wire;

pub use self::model::{
    APPROVE_NAMESPACE, AllowedSignersError, FLEET_NAMESPACE, REJECT_NAMESPACE, REQUEST_NAMESPACE,
    RevokedKeys, RevokedKeysError, SIGNATURE_FILES_MAX, STANDING_NAMESPACE, SignatureFile,
};
pub use batch::{BATCH_NAMESPACE, BATCH_REQUESTS_MAX, BatchError, BatchList};
pub use key::{KeyKind, SignerKey, SignerKeyError};
pub use revoked::REVOKED_BYTES_MAX;
pub use signature_error::SignatureError;
pub use signed_action::{
    ActionDocument, ActionTarget, CountedAction, CountedDocument, ORDER_NAMESPACE,
    SIGNED_ACTION_BYTES_MAX, SignedAction, SignedActionError, SignedActionEvidence,
    SignedActionKind, SignedActionRefusal, SignedActionTerms,
};
pub use signers::{AllowedSigners, EntitlementError, SIGNERS_BYTES_MAX};
pub use sshsig::{SIGNATURE_BYTES_MAX, SshSignature, VerifiedSshSignature};
pub use standing::{AdmissionEvidence, admission_violations, counts_for_standing, rejected_by};
pub use touch::Touch;
pub use validity::StandardTime;
pub use webauthn::{WebauthnFacts, WebauthnProblem};

pub(crate) use self::model::Approval;
pub(crate) use judge::{judge, requirements};
pub(crate) use webauthn::is_rp_id;
