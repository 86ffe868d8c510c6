//! The parts of a signed action that several files share. They prove nothing.

use std::fmt;
use std::str::FromStr;

use model::{NotAnId, RequestId, Sha256, StandingId};

use crate::approval::batch::BATCH_REQUESTS_MAX;

/// The maximum size of the file of a signed action in bytes.
pub const SIGNED_ACTION_BYTES_MAX: usize = 48 * 1024;
/// The namespace of a signature that orders something about a queued request.
pub const ORDER_NAMESPACE: &str = "order.tool-exec@threegate";

model::closed_set! {
    /// The effect of a signed action.
    pub enum SignedActionKind {
        /// Approves drafts of requests, or one draft of a standing approval.
        Approve = "approve",
        /// Rejects one draft for ever.
        Reject = "reject",
        /// Revokes one admitted standing approval.
        Revoke = "revoke",
        /// A queued request waits until it is released.
        Hold = "hold",
        /// Ends the hold of a queued request.
        Release = "release",
        /// Cancels a queued or running request.
        Cancel = "cancel",
    }
}

impl SignedActionKind {
    /// Returns whether it is an order for a queued request, which names no digest.
    #[must_use]
    pub fn is_order(self) -> bool {
        matches!(self, Self::Hold | Self::Release | Self::Cancel)
    }

    /// Returns whether it states the time at which it was signed.
    #[must_use]
    pub fn has_time(self) -> bool {
        self == Self::Approve || self.is_order()
    }

    /// Returns the most documents that one signature covers.
    #[must_use]
    pub fn documents_max(self) -> usize {
        if self == Self::Approve { BATCH_REQUESTS_MAX } else { 1 }
    }
}

/// The request or standing approval that an action is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ActionTarget {
    /// A request.
    Request(RequestId),
    /// A standing approval.
    Standing(StandingId),
}

impl ActionTarget {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Request(id) => id.as_str(),
            Self::Standing(id) => id.as_str(),
        }
    }

    /// Returns the name of the document's file.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{self}.md")
    }
}

impl fmt::Display for ActionTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ActionTarget {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if text.starts_with("SA-") {
            return text.parse().map(Self::Standing);
        }
        text.parse().map(Self::Request)
    }
}

/// One document of an action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActionDocument {
    /// The digest of its bytes as the signer has seen them. An order has none.
    pub sha256: Option<Sha256>,
    /// The document.
    pub target: ActionTarget,
}
