//! The state of a record's verification, which several sections show.

use records::{Fault, Verified};

/// What is known of the record's truth.
pub(crate) enum VerificationState {
    Verified(Box<Verified>),
    Faulty(Vec<Fault>),
    /// There is no key to judge it by.
    Unjudged(String),
}
