//! The key of a signer, and the names of the files beside a request.

mod agent;
mod error;
mod sidecar;
mod signer;
mod ssh_keygen;

pub(crate) use error::SignerError;
pub(in crate::commands::approve) use sidecar::{SignatureTarget, principal, read_signatures};
pub(crate) use signer::SigningIdentity;
