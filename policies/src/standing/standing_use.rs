//! A use of a standing approval by one request.

use std::sync::Arc;

use validator::{Binding, StandingApproval};

/// The standing approval that admits a request, and the values that the request has chosen.
#[derive(Clone, Debug)]
pub struct StandingUse {
    approval: Arc<StandingApproval>,
    binding: Binding,
}

impl StandingUse {
    pub(crate) fn new(approval: Arc<StandingApproval>, binding: Binding) -> Self {
        Self { approval, binding }
    }

    /// Returns the standing approval.
    pub fn approval(&self) -> &StandingApproval {
        &self.approval
    }

    /// Returns the chosen values.
    #[must_use]
    pub fn binding(&self) -> &Binding {
        &self.binding
    }
}
