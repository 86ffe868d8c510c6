//! A document that was checked before its submission.

use std::path::Path;

use model::Sha256;
use spool::SubmissionFiles;
use validator::Violation;

/// The result of the checks that the daemon will repeat.
pub(super) struct SubmissionCheck {
    pub(super) violations: Vec<Violation>,
    /// The document, if its text is valid.
    pub(super) document: Option<CheckedDocument>,
}

/// A valid request or standing approval.
pub(super) struct CheckedDocument {
    /// The kind in words, for messages.
    pub(super) kind: &'static str,
    /// The key of the id in JSON.
    pub(super) id_key: &'static str,
    pub(super) id: String,
    pub(super) sha256: Sha256,
    /// The names of its input files.
    pub(super) inputs: Vec<String>,
    /// `x-audience`.
    pub(super) audience: Option<String>,
}

/// A document that passed the checks, with the files that are submitted with it.
pub(super) struct CheckedSubmission<'a> {
    /// The path, as typed.
    pub(super) path: &'a Path,
    pub(super) files: SubmissionFiles,
    pub(super) document: CheckedDocument,
    pub(super) warnings: Vec<Violation>,
}
