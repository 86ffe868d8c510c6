//! The data of the review of a standing approval, read once: the shown, the decided and the signed
//! bytes are the same.

use std::path::{Path, PathBuf};

use model::{HostAudience, Sha256, UtcTime};
use policies::{AdmissionEvidence, SIGNATURE_FILES_MAX, SignatureFile, admission_violations};
use spool::{SpoolError, SubmissionFiles};
use validator::{Code, FillError, OneLine, StandingApproval, Violation};

use crate::args::files::open_document;
use crate::clock;
use crate::commands::approve::review::data::is_rejection;
use crate::commands::approve::review::filled_document::FilledDocument;
use crate::commands::approve::review::model::{ReviewVerdict, ShownFile};
use crate::commands::approve::review::rules::HostRules;
use crate::failure::Failure;
use crate::output::human;

pub(in crate::commands) struct StandingReview {
    /// The path of the document, as typed.
    pub(in crate::commands) path: PathBuf,
    pub(in crate::commands) rules: HostRules,
    /// The file, unchanged.
    original: Vec<u8>,
    /// The file with an empty approval filled in.
    pub(in crate::commands) bytes: Vec<u8>,
    /// The approval keys that are empty in the file, or the reason why they cannot be filled in.
    pub(in crate::commands) filled: Result<Vec<&'static str>, FillError>,
    /// The filled-in keys for which no approver is known yet.
    pub(super) filled_on_approval: Vec<&'static str>,
    pub(in crate::commands) signatures: Vec<SignatureFile>,
    /// The reason why each unreadable signature file was not read.
    unread_signatures: Vec<String>,
    /// The document, unless its text is wrong.
    pub(in crate::commands) standing: Option<StandingApproval>,
    /// Errors that no signature can change, and warnings.
    pub(in crate::commands) violations: Vec<Violation>,
    /// The signatures that are missing.
    pub(super) pending: Vec<Violation>,
}

impl StandingReview {
    /// Reads everything. An empty approval is evaluated as if this approver had given it.
    pub(in crate::commands) fn read(
        document: &Path,
        rules: HostRules,
        approver: Option<(&OneLine, UtcTime)>,
    ) -> Result<Self, Failure> {
        open_document(document)?;
        let mut case = Self::empty(document, rules);
        let submission = match SubmissionFiles::read(document, None) {
            Ok(submission) => submission,
            Err(SpoolError::TooLarge { path, bytes_max }) if path == document => {
                case.violations.push(human::too_large(bytes_max));
                return Ok(case);
            }
            Err(error) => return Err(error.into()),
        };
        case.load(&submission, approver);
        case.check(submission.file_name());
        Ok(case)
    }

    fn empty(document: &Path, rules: HostRules) -> Self {
        Self {
            path: document.to_owned(),
            rules,
            original: Vec::new(),
            bytes: Vec::new(),
            filled: Ok(Vec::new()),
            filled_on_approval: Vec::new(),
            signatures: Vec::new(),
            unread_signatures: Vec::new(),
            standing: None,
            violations: Vec::new(),
            pending: Vec::new(),
        }
    }

    fn load(&mut self, submission: &SubmissionFiles, approver: Option<(&OneLine, UtcTime)>) {
        self.original = submission.bytes().to_vec();
        self.signatures = submission.signatures().to_vec();
        self.unread_signatures = submission.unread_signatures().to_vec();
        let document = FilledDocument::of(&self.original, approver);
        self.bytes = document.bytes;
        self.filled = document.filled;
        self.filled_on_approval = document.filled_on_approval;
    }

    fn check(&mut self, file_name: &str) {
        let (violations, standing) =
            StandingApproval::read_draft(&self.bytes, file_name, clock::now());
        self.violations = violations;
        self.standing = standing;
        // A signature of the unfilled text does not cover the text that will be approved.
        let signatures = if self.is_filled() { self.signatures.as_slice() } else { &[] };
        let reasons = self.admission(signatures).into_iter();
        let (pending, refused): (Vec<_>, Vec<_>) = reasons.partition(|row| self.is_pending(row));
        self.pending = pending;
        self.violations.extend(refused);
    }

    /// Returns the reasons why the host would not admit it with these signatures. Unless an option
    /// names another host, that is the host of `x-audience`.
    pub(in crate::commands) fn admission(&self, signatures: &[SignatureFile]) -> Vec<Violation> {
        let Some(standing) = &self.standing else { return Vec::new() };
        let audience = standing.terms().audience.as_str();
        let evidence = AdmissionEvidence {
            signatures,
            unread_signatures: &self.unread_signatures,
            signers: self.rules.signers.as_ref(),
            host: HostAudience::of(Some(self.rules.origin.as_deref().unwrap_or(audience))),
            now: clock::now(),
        };
        admission_violations(standing, &self.rules.policy, &evidence)
    }

    /// Returns whether further signatures can remove this reason.
    pub(in crate::commands) fn is_pending(&self, row: &Violation) -> bool {
        match row.code {
            Code::ApprovalCount | Code::ApprovalPrincipal | Code::ApprovalRevoked => true,
            Code::ApprovalSignature => {
                self.unread_signatures.is_empty() && self.signatures.len() <= SIGNATURE_FILES_MAX
            }
            _ => false,
        }
    }

    pub(in crate::commands) fn shown(&self) -> ShownFile<'_> {
        ShownFile { path: &self.path, original: &self.original, bytes: &self.bytes }
    }

    /// Returns the digest of the file, or of the bytes that an approver is about to sign.
    pub(super) fn sha256(&self) -> Sha256 {
        Sha256::of(if self.filled_on_approval.is_empty() { &self.bytes } else { &self.original })
    }

    pub(in crate::commands) fn signature_files(&self) -> Vec<String> {
        self.signatures.iter().map(|file| file.name.clone()).collect()
    }

    /// Returns the names of the rejections among the signature files, valid or not.
    pub(super) fn rejection_files(&self) -> Vec<String> {
        let rejections = self.signatures.iter().filter(|file| is_rejection(file));
        rejections.map(|file| file.name.clone()).collect()
    }

    /// Returns whether the text names the approver and the time of approval.
    pub(super) fn is_filled(&self) -> bool {
        self.filled.as_ref().is_ok_and(Vec::is_empty)
    }

    pub(in crate::commands) fn verdict(&self) -> ReviewVerdict {
        if self.standing.is_none() || human::has_error(&self.violations) {
            ReviewVerdict::Refused
        } else if self.is_filled() && self.pending.is_empty() {
            ReviewVerdict::Ready
        } else {
            ReviewVerdict::Pending
        }
    }
}
