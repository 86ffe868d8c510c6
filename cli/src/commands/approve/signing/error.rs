//! The reasons for which no signature can be made.

use crate::failure::Failure;

/// The reason for which a signer cannot sign.
pub(crate) enum SignerError {
    /// The key may not sign here.
    Refused(String),
    Failed(Failure),
}

impl From<Failure> for SignerError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}
