//! The marks of taken actions: `<state>/signed-actions`, one line per document with the last time
//! at which an approval of it has no effect. An action can be delivered again, and an agent can
//! draft the same bytes again. A mark is durable before the document is placed, so a request that
//! was cancelled or rejected does not return by an old approval, also after a restart.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use model::UtcTime;
use policies::{ActionTarget, SignedActionTerms};

use crate::atomic_file::{AtomicFile, parent_of};
use crate::beneath::{AllowedLinks, read_bounded};
use crate::error::SpoolError;
use crate::own_file::open_file;
use crate::paths::Spool;
use crate::sync;

const MARKS_FILE: &str = "signed-actions";
/// An approval is taken for a shorter time after its own time, so older marks refuse nothing.
const KEPT_SEC: i64 = 900;
/// The most documents with a mark. A person has signed for each of them.
const MARKS_MAX: usize = 10_000;
/// More bytes than the lines of so many documents have.
const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The documents of the actions that were taken in the last minutes.
#[derive(Debug)]
pub struct SignedActionMarks {
    path: PathBuf,
    marks: BTreeMap<ActionTarget, DocumentMark>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct DocumentMark {
    until: UtcTime,
    /// The mark that it has replaced.
    before: Option<UtcTime>,
}

impl SignedActionMarks {
    /// Reads the marks of a spool. A missing file has none.
    ///
    /// # Errors
    /// The file cannot be read, or a line is malformed: then it is unknown what was taken.
    pub fn open(spool: &Spool) -> Result<Self, SpoolError> {
        Self::in_state(spool.state_dir())
    }

    fn in_state(state: &Path) -> Result<Self, SpoolError> {
        let path = state.join(MARKS_FILE);
        let file = match open_file(&path) {
            Err(error) if error.is_missing() => return Ok(Self { path, marks: BTreeMap::new() }),
            opened => OwnedFd::from(opened?),
        };
        let (bytes, _) = read_bounded(&file, &path, FILE_BYTES_MAX, AllowedLinks::Any)?;
        let Some(marks) = std::str::from_utf8(&bytes).ok().and_then(parse_marks) else {
            let why = "has a line that is not `ID UTC`; help: remove it 15 minutes after the last \
                       signed action";
            let error = io::Error::new(io::ErrorKind::InvalidData, why);
            return Err(SpoolError::io(&path, "read")(error));
        };
        Ok(Self { path, marks })
    }

    /// Returns the last time at which an approval of one of these documents has no effect.
    #[must_use]
    pub fn until(&self, terms: &SignedActionTerms) -> Option<UtcTime> {
        let marks = terms.documents().iter().filter_map(|named| self.marks.get(&named.target));
        marks.map(|mark| mark.until).max()
    }

    /// Marks the documents of an action. The marks are durable when this returns.
    ///
    /// # Errors
    /// The marks cannot be written, or are too many. The action must not be taken then.
    pub fn mark(&mut self, terms: &SignedActionTerms, now: UtcTime) -> Result<(), SpoolError> {
        let kept_from = now.unix().saturating_sub(KEPT_SEC);
        // The clock of the signer may be ahead.
        let until = terms.at().map_or(now, |at| at.max(now));
        let mut marks = self.marks.clone();
        marks.retain(|_, mark| mark.until.unix() >= kept_from);
        for named in terms.documents() {
            let before = marks.get(&named.target).map(|mark| mark.until);
            let until = before.map_or(until, |before| before.max(until));
            marks.insert(named.target.clone(), DocumentMark { until, before });
        }
        if marks.len() > MARKS_MAX {
            let why = "too many signed actions; help: sign it again in 15 minutes";
            return Err(SpoolError::io(&self.path, "write")(io::Error::other(why)));
        }
        self.write(&marks)?;
        self.marks = marks;
        Ok(())
    }

    /// Takes back the last mark of a document that was not placed. The file keeps it until the next
    /// one is written: after a crash in between, the document must be signed again.
    pub fn take_back(&mut self, target: &ActionTarget) {
        match self.marks.get(target).and_then(|mark| mark.before) {
            Some(until) => {
                self.marks.insert(target.clone(), DocumentMark { until, before: None });
            }
            None => {
                self.marks.remove(target);
            }
        }
    }

    fn write(&self, marks: &BTreeMap<ActionTarget, DocumentMark>) -> Result<(), SpoolError> {
        let lines = marks.iter().map(|(target, mark)| format!("{target} {}\n", mark.until));
        let text: String = lines.collect();
        let path = &self.path;
        let mut fresh =
            AtomicFile::create_for(path, 0o600).map_err(SpoolError::io(path, "create"))?;
        let written = fresh.write(text.as_bytes()).and_then(|()| fresh.replace());
        written.map_err(SpoolError::io(path, "write"))?;
        let state = parent_of(path);
        sync::sync_dir(state).map_err(SpoolError::io(state, "sync"))
    }
}

/// Returns `None` if a line is malformed, or the file was cut.
fn parse_marks(text: &str) -> Option<BTreeMap<ActionTarget, DocumentMark>> {
    let mark = |line: &str| {
        let (target, until) = line.split_once(' ')?;
        let mark = DocumentMark { until: until.parse().ok()?, before: None };
        Some((target.parse().ok()?, mark))
    };
    text.strip_suffix('\n')?.split('\n').map(mark).collect()
}

#[cfg(test)]
mod tests;
