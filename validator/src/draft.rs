//! A draft: bytes of bounded size with a known owner. Checking consumes it and returns either a
//! request or the refused bytes; it must never change the bytes.

use std::fmt;
use std::ops::Deref;

use model::{RequestId, Sha256, UtcTime};

use crate::REQUEST_BYTES_MAX;
use crate::asked::{Asked, Words};
use crate::assemble;
use crate::request::{OwnerUid, Request};
use crate::violation::{Severity, Violation};

/// The error of a file that is larger than a request may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge {
    bytes: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, but a request has at most {REQUEST_BYTES_MAX}", self.bytes)
    }
}

impl std::error::Error for TooLarge {}

/// The location of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
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
    pub fn new(bytes: Vec<u8>, file_name: &str, owner: OwnerUid) -> Result<Self, TooLarge> {
        if bytes.len() > REQUEST_BYTES_MAX {
            return Err(TooLarge { bytes: bytes.len() });
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
    pub fn check(self, place: Place, now: UtcTime) -> Checked {
        self.read(place, now, Words::Judged)
    }

    /// Reads the request of a record as of the time of the record. Skips the rules about
    /// instructions to a reader: they grow stricter with every version, but the recorded request
    /// does not change.
    ///
    /// # Errors
    ///
    /// The message of the first violation that makes it unreadable.
    pub fn recall(self, made: UtcTime) -> Result<Recalled, String> {
        let Checked { violations, verdict } = self.read(Place::Elsewhere, made, Words::Passed);
        let first = violations.into_iter().find(|it| it.severity == Severity::Error);
        let why = || first.map_or_else(|| "not a request".to_owned(), |it| it.message);
        verdict.map(Recalled).map_err(|_| why())
    }

    fn read(self, place: Place, now: UtcTime, words: Words) -> Checked {
        let asked = Asked {
            file_name: &self.file_name,
            file_name_severity: match place {
                Place::Spool => Severity::Error,
                Place::Elsewhere => Severity::Warning,
            },
            approval_severity: Severity::Error,
            now,
            words,
        };
        let assemble::Reading { violations, failed, id, parts } =
            assemble::read(&self.bytes, &asked);
        let verdict = match parts {
            Some(parts) if !failed => {
                let content = (self.bytes, self.sha256);
                Ok(Request::new(content, self.file_name, self.owner, *parts))
            }
            _ => Err(Refused { draft: self, id }),
        };
        Checked { violations, verdict }
    }
}

/// A request of a past run, read for comparison. It proves nothing to a decision, which takes a
/// [`Request`].
#[must_use]
#[derive(Debug)]
pub struct Recalled(Request);

impl Deref for Recalled {
    type Target = Request;

    fn deref(&self) -> &Request {
        &self.0
    }
}

/// The result of a check.
#[must_use]
pub struct Checked {
    /// All violations in order of position, including warnings.
    pub violations: Vec<Violation>,
    /// The request, if no violation is an error.
    pub verdict: Result<Request, Refused>,
}

/// A draft that failed the check.
#[must_use]
pub struct Refused {
    draft: Draft,
    id: Option<RequestId>,
}

impl Refused {
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
