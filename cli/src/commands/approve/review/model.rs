//! The choices of a review: the amount of input text to show, and the verdict.

/// The amount of input text to show.
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
