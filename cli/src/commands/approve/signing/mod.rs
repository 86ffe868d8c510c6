//! The key of a signer, and the names of the files beside a request.

mod agent;
mod beside;
mod error;
mod signer;
mod ssh_keygen;

pub(in crate::commands::approve) use beside::{Signature, principal, read_signatures};
pub(crate) use error::SignerError;
pub(crate) use signer::Signer;
