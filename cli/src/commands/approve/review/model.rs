//! The choices of a review: how much of the inputs it shows, and what becomes of the request.

/// The amount of the inputs' texts that is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    None,
    Beginnings,
    Whole,
}

model::closed_set! {
    /// The outlook of the request.
    pub(crate) enum Outcome {
        Ready = "ready",
        Pending = "pending",
        Refused = "refused",
    }
}
