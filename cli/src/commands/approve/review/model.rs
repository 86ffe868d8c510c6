//! The choices of a review: the amount of input text to show, and the verdict.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputTexts {
    None,
    Beginnings,
    Whole,
}

model::closed_set! {
    /// The verdict on a request.
    pub(crate) enum ReviewVerdict {
        Ready = "ready",
        Pending = "pending",
        Refused = "refused",
    }
}
