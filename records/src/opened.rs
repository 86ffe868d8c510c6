//! A result directory that is open, for whoever shows a record to somebody who must not be taken elsewhere:
//! everything is read from its descriptor, bounded, and through no link. What a record claims here nobody
//! has verified; it must never be taken for a verification.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};

use model::ResultId;
use serde::Deserialize;

use crate::tree::{open_directory, open_file, read_bounded};
use crate::verify::RECORD_BYTES_MAX;

/// What a record says of itself. Nobody has checked it.
#[derive(Debug, Deserialize)]
pub struct Claims {
    pub result_id: String,
    pub request_id: String,
    pub created_utc: String,
    pub outcome: String,
    pub exit_code: i32,
    pub reason: Option<String>,
    pub runtime_sec: f64,
    pub network_used: String,
    pub artifacts: Vec<ClaimedArtifact>,
    #[serde(default)]
    pub violations: Vec<ClaimedViolation>,
}

/// A file that a tool left, by the record's word.
#[derive(Debug, Deserialize)]
pub struct ClaimedArtifact {
    pub path: String,
    pub size_bytes: u64,
}

/// Why a request was refused, by the record's word.
#[derive(Debug, Deserialize)]
pub struct ClaimedViolation {
    pub code: String,
    pub message: String,
}

/// A part of a file, and how long the whole is.
pub struct Part {
    pub bytes: Vec<u8>,
    pub offset: u64,
    pub bytes_total: u64,
}

/// The directory of one result.
pub struct ResultDirectory {
    root: OwnedFd,
    id: ResultId,
}

impl ResultDirectory {
    /// Opens it in the directory of results.
    ///
    /// # Errors
    /// There is none, it is a link, or it may not be read.
    pub fn open(results: impl AsFd, id: &ResultId) -> io::Result<Self> {
        Ok(Self { root: open_directory(results, id.as_str())?, id: id.clone() })
    }

    /// The exact bytes of its record.
    ///
    /// # Errors
    /// There is none that can be read, or it is larger than any record.
    pub fn record(&self) -> io::Result<Vec<u8>> {
        let name = format!("{}.md", self.id);
        let read = read_bounded(self.root.as_fd(), &name, RECORD_BYTES_MAX)?;
        read.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "larger than any record"))
    }

    /// So many bytes of one of its files from there on. The path is relative, with `/`.
    ///
    /// # Errors
    /// The path leads elsewhere or through a link, or what is there is no regular file.
    pub fn part(&self, path: &str, offset: u64, bytes_max: u64) -> io::Result<Part> {
        let mut file = self.file(path)?;
        let bytes_total = file.metadata()?.len();
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(Part { bytes, offset, bytes_total })
    }

    fn file(&self, path: &str) -> io::Result<File> {
        let mut names = path.split('/').peekable();
        let mut within = self.root.try_clone()?;
        while let Some(name) = names.next() {
            if name.is_empty() || name == "." || name == ".." || name.contains('\0') {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "is no path of a result"));
            }
            if names.peek().is_none() {
                return open_file(&within, name);
            }
            within = open_directory(&within, name)?;
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

impl Claims {
    /// Of the bytes of a record; `None` where they are none.
    #[must_use]
    pub fn of(record: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(record).ok()?;
        let (front, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
        serde_yaml::from_str(front).ok()
    }
}
