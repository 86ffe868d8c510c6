//! The drafts that wait. Agents write in `drafts/`, so nothing there is followed, and a look has
//! limits. Each version of a draft is read once.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use model::{RequestId, UtcTime};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::document::read_facts;
use super::model::EventFacts;

/// Limit of drafts: the newest, by the time in their names.
const DRAFTS_MAX: usize = 1000;
/// Limit of drafts that one look reads. The next look reads the others.
const READ_MAX: usize = 64;
/// A draft that changed in these last seconds may still be written.
const SETTLED_SEC: i64 = 1;

/// The inode, the last change in seconds and nanoseconds, and the size of a draft.
type DraftVersion = (u64, i64, i64, i64);

#[derive(Default)]
pub(super) struct DraftWatch {
    known: BTreeMap<String, (DraftVersion, Option<EventFacts>)>,
    /// The last look left drafts unread.
    is_partial: bool,
    /// Some of them because it had read enough.
    has_more: bool,
}

impl DraftWatch {
    /// Reads new drafts and forgets those that are gone.
    ///
    /// # Errors
    /// `drafts/` cannot be listed.
    pub(super) fn look(&mut self, place: &Path, with_text: bool, now: UtcTime) -> io::Result<()> {
        (self.is_partial, self.has_more) = (false, false);
        let mut before = std::mem::take(&mut self.known);
        let Some(directory) = open(&place.join("drafts"))? else { return Ok(()) };
        let mut left = READ_MAX;
        for name in newest(&directory)? {
            let Some(version) = version_of(&directory, &name) else { continue };
            if let Some(known) = before.remove(&name).filter(|known| known.0 == version) {
                self.known.insert(name, known);
            } else if left == 0 || may_be_unfinished(&version, now) {
                self.is_partial = true;
                self.has_more |= left == 0;
            } else {
                left -= 1;
                let facts = read_facts(&directory, &name, with_text, now);
                self.known.insert(name, (version, facts));
            }
        }
        Ok(())
    }

    /// Returns the file name and facts of each draft, oldest first.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&str, &EventFacts)> {
        self.known.iter().filter_map(|(name, (_, facts))| Some((name.as_str(), facts.as_ref()?)))
    }

    pub(super) fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Returns whether another look reads more at once.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }
}

/// A change in the future, after the clock was set back, is not a recent one.
fn may_be_unfinished(version: &DraftVersion, now: UtcTime) -> bool {
    (0..=SETTLED_SEC).contains(&now.unix().saturating_sub(version.1))
}

/// Opens a directory. Returns `None` if it does not exist.
fn open(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(CWD, path, flags, Mode::empty()) {
        Err(Errno::NOENT) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Returns the newest names that a draft may have.
fn newest(directory: &OwnedFd) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let is_draft = name.strip_suffix(".md").is_some_and(|id| id.parse::<RequestId>().is_ok());
        if is_draft {
            names.insert(name.to_owned());
            if names.len() > DRAFTS_MAX {
                names.pop_first();
            }
        }
    }
    Ok(names)
}

fn version_of(directory: &OwnedFd, name: &str) -> Option<DraftVersion> {
    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    let nanoseconds = i64::try_from(found.st_ctime_nsec).unwrap_or(i64::MAX);
    let version = (found.st_ino, found.st_ctime, nanoseconds, found.st_size);
    (is_file && found.st_size != 0).then_some(version)
}
