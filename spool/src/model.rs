//! The orders that operators give for one request. Several files of the spool use them.

model::closed_set! {
    /// An order that an operator gives for one request.
    pub enum OperatorOrder {
        /// The request waits until it is released.
        Hold = "hold",
        /// Ends the hold. Other reasons to wait still apply.
        Release = "release",
        /// A waiting request is refused, and a running one is ended.
        Cancel = "cancel",
    }
}

/// An order that was found, with the owner of its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlacedOrder {
    /// The order.
    pub order: OperatorOrder,
    /// The owner of its file.
    pub by_uid: u32,
}

impl OperatorOrder {
    /// Returns the name of the order's file, which is placed next to the request's file.
    #[must_use]
    pub fn file_name(self, request: &str) -> String {
        format!("{request}.{}", self.as_str())
    }
}
