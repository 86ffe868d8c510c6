//! The verification state of a record, which several sections show.

use records::{Fault, Verified};

/// The result of verifying a record.
pub(crate) enum VerificationState {
    Verified(Box<Verified>),
    Faulty(Vec<Fault>),
    /// No key to verify it with.
    Unjudged(String),
}
