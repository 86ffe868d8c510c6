//! The reasons why a signed action cannot be read, composed or used.

use std::fmt;

use validator::FillError;

use super::model::{ActionTarget, SIGNED_ACTION_BYTES_MAX, SignedActionKind};
use crate::approval::batch::BatchError;
use crate::approval::signature_error::SignatureError;

/// The reason why a file is not a signed action, or why it does not fit its documents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SignedActionError {
    /// More than [`SIGNED_ACTION_BYTES_MAX`] bytes.
    TooLarge,
    /// A line has another form.
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The form that it must have.
        form: &'static str,
    },
    /// The action must have this key, or must not have it.
    Key(SignedActionKind, &'static str),
    /// The action takes another number of documents.
    Count(SignedActionKind, usize),
    /// The action does not take this document.
    Target(SignedActionKind, ActionTarget),
    /// A document needs a digest, or must not have one.
    Digest(SignedActionKind, ActionTarget),
    /// The action names a document twice.
    Duplicate(ActionTarget),
    /// The signature is not in the form that `ssh-keygen` writes, or text follows it.
    Armour,
    /// The signature cannot be read.
    Signature(SignatureError),
    /// The signature is for another use.
    Namespace {
        /// The namespace of the signature.
        found: String,
        /// The namespace of the action.
        wanted: &'static str,
    },
    /// The approval of a draft cannot be filled in.
    Fill(ActionTarget, FillError),
    /// The text of a draft already names an approver or a time.
    Approved(ActionTarget),
    /// The documents form no batch.
    Batch(BatchError),
}

impl fmt::Display for SignedActionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "larger than {SIGNED_ACTION_BYTES_MAX} bytes"),
            Self::Line { line, form } => write!(f, "line {line} is not `{form}`"),
            Self::Key(kind, key) if Self::has_key(*kind, key) => {
                write!(f, "{kind}: `{key}` is missing or malformed")
            }
            Self::Key(kind, key) => write!(f, "{kind}: must not have `{key}`"),
            Self::Count(kind, count) => {
                write!(f, "{kind}: has {count} documents, not 1 to {}", kind.documents_max())
            }
            Self::Target(kind, target) => write!(f, "{kind}: does not take {target} here"),
            Self::Digest(kind, target) if kind.is_order() => {
                write!(f, "{kind}: {target} has a digest, not `-`")
            }
            Self::Digest(kind, target) => write!(f, "{kind}: {target} has no digest"),
            Self::Duplicate(target) => write!(f, "{target} is named twice"),
            Self::Armour => f.write_str("does not end in one SSH signature"),
            Self::Signature(error) => write!(f, "its signature: {error}"),
            Self::Namespace { found, wanted } => {
                let shown = model::escape_line(found);
                write!(f, "its signature: namespace `{shown}` is not `{wanted}`")
            }
            Self::Fill(target, error) => write!(f, "{target}: {error}"),
            Self::Approved(target) => write!(
                f,
                "{target}: the draft already has approved_by or approved_utc; help: draft it \
                 again with both empty"
            ),
            Self::Batch(error) => error.fmt(f),
        }
    }
}

impl SignedActionError {
    fn has_key(kind: SignedActionKind, key: &str) -> bool {
        match key {
            "by" => kind == SignedActionKind::Approve,
            _ => kind.has_time(),
        }
    }
}

impl std::error::Error for SignedActionError {}
