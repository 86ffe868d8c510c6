//! A stream of a running tool, read from the result that is being collected.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Limit per read, so that no reader is flooded.
const READ_BYTES_MAX: u64 = 64 * 1024;

/// The occasion of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgressMoment {
    /// The tool may be running.
    Now,
    /// The run has ended.
    Last,
}

/// `stdout` or `stderr` of one request's run.
pub struct FollowedFile {
    results: PathBuf,
    request_id: String,
    name: &'static str,
    file: Option<File>,
    offset: u64,
}

impl FollowedFile {
    /// Follows the stream of this name, in this directory of results.
    #[must_use]
    pub fn new(results: &Path, request_id: &str, name: &'static str) -> Self {
        let (results, request_id) = (results.to_owned(), request_id.to_owned());
        Self { results, request_id, name, file: None, offset: 0 }
    }

    /// Returns the number of bytes that were read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads the next bytes, up to this many. Returns `None` if nothing was added.
    pub fn read(&mut self, moment: ProgressMoment, bytes_max: u64) -> Option<Vec<u8>> {
        if self.file.is_none() {
            self.file = self.find(moment);
        }
        let file = self.file.as_ref()?;
        let mut bytes = vec![0; usize::try_from(bytes_max.min(READ_BYTES_MAX)).ok()?];
        let read = file.read_at(&mut bytes, self.offset).ok().filter(|read| *read > 0)?;
        bytes.truncate(read);
        self.offset += u64::try_from(read).ok()?;
        Some(bytes)
    }

    /// Opens the file in the result being collected or, after the end, in the latest one.
    fn find(&self, moment: ProgressMoment) -> Option<File> {
        let end = format!("-{}", self.request_id);
        let begins = if moment == ProgressMoment::Now { ".new-TS-" } else { "TS-" };
        let names = fs::read_dir(&self.results).ok()?.flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        // `TS-YYYYMMDD-HHMMSSZ-` precedes the id. The length excludes ids with the same suffix.
        let len = begins.len() + "YYYYMMDD-HHMMSSZ".len() + end.len();
        let mine =
            names.filter(|it| it.starts_with(begins) && it.ends_with(&end) && it.len() == len);
        let path = self.results.join(mine.max()?).join(self.name);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(CWD, &path, flags, Mode::empty()).ok()?);
        file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
    }
}
