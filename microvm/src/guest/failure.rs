//! The failures of the guest's init: a step and its error.

use std::fmt;

#[derive(Debug)]
pub(super) struct InitFailure(String);

impl InitFailure {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// Returns a function that adds the step to an error.
    pub(super) fn at<E: fmt::Display>(step: &str) -> impl FnOnce(E) -> Self {
        move |error| Self(format!("{step}: {error}"))
    }
}

impl fmt::Display for InitFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
