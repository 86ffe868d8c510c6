//! A document that people sign: a request, or a standing approval. A signature for the one kind
//! must never count for the other.

use model::UtcTime;
use validator::{Request, StandingApproval};

use super::batch::{BATCH_NAMESPACE, BatchError};
use super::model::{APPROVE_NAMESPACE, REJECT_NAMESPACE, REQUEST_NAMESPACE, STANDING_NAMESPACE};
use super::sshsig::SshSignature;

/// The document that signatures are about.
#[derive(Clone, Copy)]
pub(crate) enum SignedDocument<'d> {
    Request(&'d Request),
    Standing(&'d StandingApproval),
}

/// The meaning of a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignaturePurpose {
    Approve,
    Reject,
    Request,
}

impl<'d> SignedDocument<'d> {
    /// Returns the meaning of a signature in this namespace.
    pub(crate) fn purpose(self, namespace: &str) -> Option<SignaturePurpose> {
        match (self, namespace) {
            (Self::Request(_), APPROVE_NAMESPACE | BATCH_NAMESPACE)
            | (Self::Standing(_), STANDING_NAMESPACE) => Some(SignaturePurpose::Approve),
            (_, REJECT_NAMESPACE) => Some(SignaturePurpose::Reject),
            (Self::Request(_), REQUEST_NAMESPACE) => Some(SignaturePurpose::Request),
            _ => None,
        }
    }

    /// Returns the namespace of an approval.
    pub(crate) fn approve_namespace(self) -> &'static str {
        match self {
            Self::Request(_) => APPROVE_NAMESPACE,
            Self::Standing(_) => STANDING_NAMESPACE,
        }
    }

    /// Returns the bytes that a signature must cover. `file` is the whole signature file.
    pub(crate) fn message(
        self,
        signature: &SshSignature,
        file: &'d [u8],
    ) -> Result<&'d [u8], BatchError> {
        match self {
            Self::Request(request) => signature.message_about(file, request),
            Self::Standing(standing) => Ok(standing.bytes()),
        }
    }

    /// Returns the time of the approval.
    pub(crate) fn approved(self) -> UtcTime {
        match self {
            Self::Request(request) => request.approved(),
            Self::Standing(standing) => {
                let terms = standing.terms();
                terms.approved.unwrap_or(terms.created)
            }
        }
    }

    /// Returns the approver that the text names.
    pub(crate) fn approved_by(self) -> &'d str {
        match self {
            Self::Request(request) => request.approved_by(),
            Self::Standing(standing) => standing.terms().approved_by.as_deref().unwrap_or_default(),
        }
    }

    /// Returns the time when the document was written.
    pub(crate) fn created(self) -> UtcTime {
        match self {
            Self::Request(request) => request.created(),
            Self::Standing(standing) => standing.terms().created,
        }
    }
}
