//! The orders of operators for one request, which several files of the spool name.

model::closed_set! {
    /// An order of an operator.
    pub enum Order {
        /// It waits until it is released.
        Hold = "hold",
        /// It waits no longer for its operators; what else holds it, holds it.
        Release = "release",
        /// It is refused if it waits, and ended if it runs.
        Cancel = "cancel",
    }
}

/// An order that was found, and the owner of its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ordered {
    pub order: Order,
    pub by_uid: u32,
}

impl Order {
    /// The name of its file beside a request's file.
    #[must_use]
    pub fn file_name(self, request: &str) -> String {
        format!("{request}.{}", self.as_str())
    }
}
