//! The requests that a check of the policy covers.

use serde::de::Error as _;
use validator::{Request, RequestedBy};

model::closed_set! {
    /// The requests that a check covers, by their author.
    pub(crate) enum CoveredRequests {
        None = "none",
        CoreDraft = "core_draft",
        All = "all",
    }
}

impl CoveredRequests {
    /// Returns whether the check covers the request. A request that names an agent is covered as
    /// well, so that naming oneself is not a way around the check.
    pub(crate) fn covers(self, request: &Request) -> bool {
        match self {
            Self::None => false,
            Self::CoreDraft => {
                request.requested_by() == RequestedBy::CoreDraft || request.agent().is_some()
            }
            Self::All => true,
        }
    }
}

impl<'de> serde::Deserialize<'de> for CoveredRequests {
    /// Reads a value, also by its former name: records name policies of before by digest.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let name = match text.as_str() {
            "nobody" => "none",
            "everybody" => "all",
            name => name,
        };
        Self::named(name).ok_or_else(|| D::Error::unknown_variant(name, Self::TEXTS))
    }
}
