//! The facts that the check of a signed action uses, and its results. They prove nothing by
//! themselves.

use std::fmt;

use model::{HostAudience, UtcTime};
use validator::Violation;

use super::error::SignedActionError;
use super::model::ActionTarget;
use crate::approval::model::SignatureFile;
use crate::approval::signers::AllowedSigners;
use crate::policy::Policy;

/// The facts of a host about a signed action.
#[derive(Debug)]
pub struct SignedActionEvidence<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The keys whose signatures count, if any are configured.
    pub signers: Option<&'a AllowedSigners>,
    /// The names of this host.
    pub host: HostAudience<'a>,
    /// The present time.
    pub now: UtcTime,
    /// The last time at which the action has no effect. For an order: that of the last order of its
    /// request, or the start of the daemon. For an approval: the mark of its documents, if any.
    pub no_effect_until: Option<UtcTime>,
}

/// A document with the signature file that counts for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CountedDocument {
    /// The document.
    pub target: ActionTarget,
    /// The bytes to submit.
    pub bytes: Vec<u8>,
    /// The signature file to place beside it.
    pub signature: SignatureFile,
}

/// The reason why a signed action does not count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignedActionRefusal(String);

impl fmt::Display for SignedActionRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SignedActionRefusal {}

impl From<SignedActionError> for SignedActionRefusal {
    fn from(error: SignedActionError) -> Self {
        Self(error.to_string())
    }
}

impl From<Violation> for SignedActionRefusal {
    fn from(violation: Violation) -> Self {
        let Violation { message, hint, .. } = violation;
        Self(hint.map_or_else(|| message.clone(), |hint| format!("{message}; help: {hint}")))
    }
}

pub(super) fn refusal(text: impl Into<String>) -> SignedActionRefusal {
    SignedActionRefusal(text.into())
}
