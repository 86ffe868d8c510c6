//! The names of a look at `signed/`: the newest actions, and the objects that are not actions.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, statat};

/// The most actions that a look returns, the newest. Older ones delay no newer one.
pub(super) const ACTIONS_MAX: usize = 64;
/// The most other objects that a look removes.
pub(super) const REMOVALS_MAX: usize = 256;
pub(super) const ACTION_SUFFIX: &str = ".action";
pub(super) const ANSWER_SUFFIX: &str = ".answer";
/// The longest name without its ending.
const STEM_BYTES_MAX: usize = 64;

/// Seconds and nanoseconds of the last change of an inode.
pub(super) type ChangeTime = (i64, i64);

/// An object in the directory, as its name and its inode say.
pub(super) enum ListedName {
    /// Anything but a directory under the name of an action; the name without its ending.
    Action(ChangeTime, String),
    /// A regular file under the name of an answer, with the second of its last change.
    Answer(i64, String),
    /// A regular file without its final name yet.
    Unfinished(i64, String),
    /// A directory under the name of an action or of an answer.
    Directory(String),
}

impl ListedName {
    /// Returns `None` for a name that has no meaning here.
    pub(super) fn of(directory: &OwnedFd, file_name: &CStr) -> Option<Self> {
        let name = file_name.to_str().ok()?;
        let is_unfinished = name.starts_with('.') && name.len() > "..".len();
        let action = stem(name, ACTION_SUFFIX);
        let has_meaning = is_unfinished || action.is_some() || stem(name, ANSWER_SUFFIX).is_some();
        if !has_meaning {
            return None;
        }
        let found = statat(directory, file_name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let kind = FileType::from_raw_mode(found.st_mode);
        let nanoseconds = i64::try_from(found.st_ctime_nsec).unwrap_or(i64::MAX);
        match (kind, action) {
            (FileType::Directory, _) if !is_unfinished => Some(Self::Directory(name.to_owned())),
            (FileType::Directory, _) => None,
            (_, Some(stem)) => Some(Self::Action((found.st_ctime, nanoseconds), stem.to_owned())),
            (FileType::RegularFile, None) if is_unfinished => {
                Some(Self::Unfinished(found.st_ctime, name.to_owned()))
            }
            (FileType::RegularFile, None) => Some(Self::Answer(found.st_ctime, name.to_owned())),
            _ => None,
        }
    }
}

fn stem<'n>(name: &'n str, suffix: &str) -> Option<&'n str> {
    let stem = name.strip_suffix(suffix)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let fits = !stem.is_empty() && stem.len() <= STEM_BYTES_MAX && stem.bytes().all(is_plain);
    fits.then_some(stem)
}

/// The actions that a look has found, and the work that it may still do.
#[derive(Default)]
pub(super) struct ActionListing {
    newest: BTreeSet<(ChangeTime, String)>,
    has_more: bool,
    removals: usize,
}

impl ActionListing {
    /// Adds an action. Only the newest stay.
    pub(super) fn add(&mut self, at: ChangeTime, stem: String) {
        self.newest.insert((at, stem));
        if self.newest.len() > ACTIONS_MAX {
            self.newest.pop_first();
            self.has_more = true;
        }
    }

    /// Returns whether the look left out an action.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Returns whether the look has removed an object, or would have. There may be more of them.
    pub(super) fn has_removed(&self) -> bool {
        self.removals > 0
    }

    /// Counts a removal. Returns false if it would be too many.
    pub(super) fn may_remove(&mut self) -> bool {
        self.removals += 1;
        self.removals <= REMOVALS_MAX
    }

    /// Returns the actions in the order of their delivery.
    pub(super) fn into_actions(self) -> impl Iterator<Item = (ChangeTime, String)> {
        self.newest.into_iter()
    }
}
