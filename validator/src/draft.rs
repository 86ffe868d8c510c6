//! A draft: bytes of bounded size with an owner. A check gives a request or the unchanged bytes.

use std::fmt;
use std::ops::Deref;

use model::{RequestId, Sha256, UtcTime};

use crate::REQUEST_BYTES_MAX;
use crate::check_context::{CheckContext, ProseRules};
use crate::request::{OwnerUid, Request};
use crate::request_check;
use crate::violation::{Severity, Violation};

/// The error of a file that is larger than a request may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DraftTooLarge {
    bytes: usize,
}

impl fmt::Display for DraftTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bytes, but a request has at most {REQUEST_BYTES_MAX}; help: move text to input \
             files",
            self.bytes
        )
    }
}

impl std::error::Error for DraftTooLarge {}

/// The location of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileLocation {
    /// In the spool, where the file must be named after its request id.
    Spool,
    /// Outside a spool, where a different name is only a warning.
    Elsewhere,
}

/// The bytes of a file that may turn out to be a request.
#[must_use]
pub struct Draft {
    bytes: Vec<u8>,
    sha256: Sha256,
    file_name: String,
    owner: OwnerUid,
}

impl Draft {
    /// Takes the bytes as they are; `file_name` is without directories.
    ///
    /// # Errors
    /// More than [`REQUEST_BYTES_MAX`] bytes.
    pub fn new(bytes: Vec<u8>, file_name: &str, owner: OwnerUid) -> Result<Self, DraftTooLarge> {
        if bytes.len() > REQUEST_BYTES_MAX {
            return Err(DraftTooLarge { bytes: bytes.len() });
        }
        let sha256 = Sha256::of(&bytes);
        Ok(Self { bytes, sha256, file_name: file_name.to_owned(), owner })
    }

    /// The exact bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The digest of the exact bytes.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// The name of the file, without directories.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// The user who owns the file.
    #[must_use]
    pub fn owner(&self) -> OwnerUid {
        self.owner
    }

    /// Checks every rule of the schema (seed 002) at once.
    pub fn check(self, place: FileLocation, now: UtcTime) -> DraftCheck {
        self.read(place, now, ProseRules::Enforced)
    }

    /// Reads the request of a record as of the time of the record, without the rules about
    /// instructions to a reader: they grow stricter with every version, but the recorded request
    /// does not change.
    ///
    /// # Errors
    /// The message of the first violation that makes it unreadable.
    pub fn read_recorded(self, made: UtcTime) -> Result<PastRequest, String> {
        let DraftCheck { violations, verdict } =
            self.read(FileLocation::Elsewhere, made, ProseRules::Skipped);
        let first = violations.into_iter().find(|it| it.severity == Severity::Error);
        let why = || first.map_or_else(|| "not a request".to_owned(), |it| it.message);
        verdict.map(PastRequest).map_err(|_| why())
    }

    fn read(self, place: FileLocation, now: UtcTime, words: ProseRules) -> DraftCheck {
        let context = CheckContext {
            file_name: &self.file_name,
            file_name_severity: match place {
                FileLocation::Spool => Severity::Error,
                FileLocation::Elsewhere => Severity::Warning,
            },
            approval_severity: Severity::Error,
            now,
            prose_rules: words,
        };
        let request_check::RequestReading { violations, failed, id, parts } =
            request_check::read(&self.bytes, &context);
        let verdict = match parts {
            Some(parts) if !failed => {
                let content = (self.bytes, self.sha256);
                Ok(Request::new(content, self.file_name, self.owner, *parts))
            }
            _ => Err(RefusedDraft { draft: self, id }),
        };
        DraftCheck { violations, verdict }
    }
}

/// A past run's request, for comparison. It proves nothing; a decision takes a [`Request`].
#[must_use]
#[derive(Debug)]
pub struct PastRequest(Request);

impl Deref for PastRequest {
    type Target = Request;

    fn deref(&self) -> &Request {
        &self.0
    }
}

/// The result of a check.
#[must_use]
pub struct DraftCheck {
    /// All violations in order of position, including warnings.
    pub violations: Vec<Violation>,
    /// The request, if no violation is an error.
    pub verdict: Result<Request, RefusedDraft>,
}

/// A draft that failed the check.
#[must_use]
pub struct RefusedDraft {
    draft: Draft,
    id: Option<RequestId>,
}

impl RefusedDraft {
    /// The exact bytes that were refused.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.draft.bytes
    }

    /// The digest of the exact bytes.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.draft.sha256
    }

    /// The name of the file, without directories.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.draft.file_name
    }

    /// The user who owns the file.
    #[must_use]
    pub fn owner(&self) -> OwnerUid {
        self.draft.owner
    }

    /// The request id, if the front matter is readable and contains a valid one.
    #[must_use]
    pub fn request_id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }
}
