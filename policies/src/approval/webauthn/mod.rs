//! Signatures of passkeys (WebAuthn level 3, section 7.2) in the form that OpenSSH gives them
//! (PROTOCOL.u2f). The challenge of the browser is the text that an SSH signature signs. A signature
//! that `ssh-keygen -Y verify` refuses must never be accepted; the differential test names each one
//! that only this reader refuses.
//!
//! `assertion` has the fields and the signature, `client_data` the statement of the browser, `rp_id`
//! the names of relying parties. The policy judges the statement (`relying_parties.rs`).

mod assertion;
mod client_data;
mod model;
mod rp_id;

pub use self::model::{WebauthnFacts, WebauthnProblem};

pub(crate) use assertion::{WEBAUTHN_TYPE, WebauthnAssertion};
pub(crate) use rp_id::is_rp_id;
