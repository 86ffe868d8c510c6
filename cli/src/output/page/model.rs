//! The verification state of a record, which several sections show.

use records::{VerifiedRecord, VerifyError};

/// The result of verifying a record.
pub(crate) enum VerificationState {
    Verified(Box<VerifiedRecord>),
    Faulty(Vec<VerifyError>),
    /// No key to verify it with.
    NotVerified(String),
}
