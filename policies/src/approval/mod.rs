//! The rules about approvers. A name in the text must never count as an approval, and if policy
//! requires signatures nothing else may replace them.
//!
//! Start with `judge`, a pure function of request, signature files, trust store, policy, present
//! time and the ledger's answer. `votes` verifies signatures; `people` and `standing` have one
//! function for each rule; `sshsig`, `signers` and `revoked` read OpenSSH's formats with the
//! meaning that `ssh-keygen -Y verify` gives them.

mod armour;
mod judge;
mod key;
mod krl;
mod line;
mod model;
mod pattern;
mod people;
mod revoked;
mod risk;
mod signers;
mod sshsig;
mod standing;
mod submitter;
mod validity;
mod votes;
mod wire;

pub use self::model::{
    APPROVE_NAMESPACE, REJECT_NAMESPACE, REQUEST_NAMESPACE, Revoked, RevokedError,
    SIGNATURE_FILES_MAX, SignatureFile, SignersError,
};
pub use key::{KeyError, KeyKind, SignerKey};
pub use revoked::REVOKED_BYTES_MAX;
pub use signers::{NotEntitled, SIGNERS_BYTES_MAX, Signers};
pub use sshsig::{SIGNATURE_BYTES_MAX, SignatureError, SshSignature, Touch, Verified};
pub use validity::StandardTime;

pub(crate) use self::model::Approval;
pub(crate) use judge::{asked, judge};
