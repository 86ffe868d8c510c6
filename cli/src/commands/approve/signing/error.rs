//! The reasons why no signature can be made.

use crate::failure::Failure;

pub(crate) enum SignerError {
    /// The key is not allowed to sign here.
    Refused(String),
    Failed(Failure),
}

impl From<Failure> for SignerError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}
