//! The choices of a review: the amount of input text to show, and the verdict.

/// The amount of input text to show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputTexts {
    None,
    Beginnings,
    Whole,
}

model::closed_set! {
    /// The outlook of the request.
    pub(crate) enum ReviewVerdict {
        Ready = "ready",
        Pending = "pending",
        Refused = "refused",
    }
}
