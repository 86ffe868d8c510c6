//! An open result directory, for callers that show records and must not be redirected. Every read
//! uses its descriptor, is bounded, and follows no link. The claims are unverified.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};

use model::ResultId;
use serde::Deserialize;

use crate::tree::{open_directory, open_file, read_bounded};
use crate::verify::RECORD_BYTES_MAX;

/// The claims of a record. Unverified.
#[derive(Debug, Deserialize)]
pub struct RecordClaims {
    /// The result id.
    pub result_id: String,
    /// The request id, or `unusable`.
    pub request_id: String,
    /// The time when the record was made.
    pub created_utc: String,
    /// The outcome.
    pub outcome: String,
    /// The tool's exit code.
    pub exit_code: i32,
    /// See [`crate::split_reason`].
    pub reason: Option<String>,
    /// Wall time in seconds.
    pub runtime_sec: f64,
    /// `none` or `allowlist`.
    pub network_used: String,
    /// The files that the tool left.
    pub artifacts: Vec<ClaimedArtifact>,
    #[serde(default)]
    /// The findings of the request's check. Empty in older records.
    pub violations: Vec<ClaimedViolation>,
}

/// A file that the tool left, as the record claims.
#[derive(Debug, Deserialize)]
pub struct ClaimedArtifact {
    /// The path below `artifacts/`.
    pub path: String,
    /// The size in bytes.
    pub size_bytes: u64,
}

/// A finding of the request's check, as the record claims.
#[derive(Debug, Deserialize)]
pub struct ClaimedViolation {
    /// The code of the rule.
    pub code: String,
    /// The message.
    pub message: String,
}

/// A part of a file.
pub struct ResultFilePart {
    /// The bytes of the part.
    pub bytes: Vec<u8>,
    /// The offset of the part in the file.
    pub offset: u64,
    /// The length of the whole file.
    pub bytes_total: u64,
}

/// An open directory of one result.
pub struct ResultDirectory {
    root: OwnedFd,
    id: ResultId,
}

impl ResultDirectory {
    /// Opens the directory of this result in the directory of results.
    ///
    /// # Errors
    /// It does not exist, is a link, or cannot be read.
    pub fn open(results: impl AsFd, id: &ResultId) -> io::Result<Self> {
        Ok(Self { root: open_directory(results, id.as_str())?, id: id.clone() })
    }

    /// Reads the exact bytes of the record.
    ///
    /// # Errors
    /// The record cannot be read, or is larger than any record.
    pub fn read_record(&self) -> io::Result<Vec<u8>> {
        let name = format!("{}.md", self.id);
        let read = read_bounded(self.root.as_fd(), &name, RECORD_BYTES_MAX)?;
        read.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "larger than any record"))
    }

    /// Reads up to `bytes_max` bytes of a file, from `offset`. The path is relative, with `/`.
    ///
    /// # Errors
    /// The path leaves the directory or follows a link, or its target is not a regular file.
    pub fn read_part(&self, path: &str, offset: u64, bytes_max: u64) -> io::Result<ResultFilePart> {
        let mut file = self.file(path)?;
        let bytes_total = file.metadata()?.len();
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(ResultFilePart { bytes, offset, bytes_total })
    }

    fn file(&self, path: &str) -> io::Result<File> {
        let mut names = path.split('/').peekable();
        let mut within = self.root.try_clone()?;
        while let Some(name) = names.next() {
            if name.is_empty() || name == "." || name == ".." || name.contains('\0') {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a path of a result"));
            }
            if names.peek().is_none() {
                return open_file(&within, name);
            }
            within = open_directory(&within, name)?;
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

impl RecordClaims {
    /// Parses the claims of a record. Returns `None` if the bytes are not a record.
    #[must_use]
    pub fn parse(record: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(record).ok()?;
        let (front, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
        serde_yaml::from_str(front).ok()
    }
}
