//! The rules about whose word counts. A name in the text must never count as anybody's word, and
//! where policy asks for signatures nothing else may stand in for them.
//!
//! The way in is `judge`, a pure function of the request, the signature files, the trust store, the
//! policy, the present time and the ledger's answer. `votes` verifies, `people` and `standing` hold
//! one rule in each function; `sshsig`, `signers` and `revoked` read OpenSSH's formats and mean by
//! them what `ssh-keygen -Y verify` means.

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
