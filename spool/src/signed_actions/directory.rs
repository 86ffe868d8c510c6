//! The open directory `signed/`, and a look at it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use model::UtcTime;
use policies::SIGNED_ACTION_BYTES_MAX;
use rustix::fs::{AtFlags, Dir, OFlags, unlinkat};
use rustix::io::Errno;

use super::listing::{self, ActionListing, ListedName};
use crate::beneath::{open_beneath, read_unlocked};
use crate::error::SpoolError;
use crate::inbox::Inbox;

/// The most names that a look reads. The next look goes on behind the last one.
const NAMES_MAX: usize = 16_384;
/// The most answers that are kept.
const ANSWERS_MAX: usize = 1000;
/// Answers, and files without a final name, are removed after this time.
const AGE_SEC_MAX: i64 = 3600;
/// Coarse file times: the directory may change again within this time and keep its time of change.
const SETTLED_SEC: i64 = 3;
/// An unchanged directory is listed again after this time, because answers grow old.
const PASS_INTERVAL_SEC: i64 = 60;

/// The open directory `signed/`.
pub struct SignedActionInbox {
    pub(super) directory: Inbox,
    /// The rest of the directory, until a pass over it has ended.
    rest: Option<Dir>,
    /// The answers that this pass has found, at most [`ANSWERS_MAX`], the oldest first.
    answers: BTreeSet<(i64, String)>,
    /// The time of change of the directory when the present pass began.
    pass_changed_at: (i64, i64),
    /// The time of change and the end of the last pass, if nothing can have changed unseen.
    settled: Option<((i64, i64), i64)>,
}

/// A file that was delivered.
#[derive(Debug)]
pub struct DeliveredAction {
    /// The name without its ending.
    pub stem: String,
    /// The last change of its inode.
    pub delivered: UtcTime,
    /// Its bytes, at most [`SIGNED_ACTION_BYTES_MAX`], or the reason why it was not read.
    pub content: Result<Vec<u8>, SpoolError>,
}

/// The result of one look.
#[derive(Debug)]
pub struct SignedActionLook {
    /// The actions, in the order of their delivery.
    pub actions: Vec<DeliveredAction>,
    /// False if the next look must not wait for a change.
    pub is_complete: bool,
}

impl SignedActionInbox {
    /// Opens `signed/` of a spool. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// The directory cannot be opened, or its files cannot be removed.
    pub fn open(spool: &Path) -> Result<Option<Self>, SpoolError> {
        let path = spool.join("signed");
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found.map_err(SpoolError::io(&path, "stat"))?,
        };
        let directory = Inbox::open(&path)?;
        directory.check_removable()?;
        Ok(Some(Self {
            directory,
            rest: None,
            answers: BTreeSet::new(),
            pass_changed_at: (0, 0),
            settled: None,
        }))
    }

    /// Returns the resolved path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns whether the path still leads to the open directory.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.directory.is_in_place()
    }

    /// Reads the delivered actions, up to the limits of a look.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn look(&mut self, now: UtcTime) -> Result<SignedActionLook, SpoolError> {
        let changed_at = self.directory.changed_at()?;
        if self.rest.is_none() && self.is_settled(changed_at, now) {
            return Ok(SignedActionLook { actions: Vec::new(), is_complete: true });
        }
        let mut rest = match self.rest.take() {
            Some(rest) => rest,
            None => {
                self.pass_changed_at = changed_at;
                self.answers.clear();
                let opened = Dir::read_from(self.directory.handle());
                opened.map_err(SpoolError::errno(self.path(), "list"))?
            }
        };
        let mut listing = ActionListing::default();
        let is_over = self.list(&mut rest, &mut listing, now)?;
        let (has_more, has_removed) = (listing.has_more(), listing.has_removed());
        let actions: Vec<DeliveredAction> =
            listing.into_actions().map(|((sec, _), stem)| self.read(sec, stem)).collect();
        let is_complete = is_over && !has_more;
        self.rest = (!is_over).then_some(rest);
        // An action that waits for a resource must be seen again.
        let is_quiet = actions.is_empty() && is_complete && !has_removed;
        let has_settled = now.unix().saturating_sub(changed_at.0) >= SETTLED_SEC;
        self.settled = (is_quiet && has_settled).then_some((self.pass_changed_at, now.unix()));
        Ok(SignedActionLook { actions, is_complete })
    }

    /// Reads names up to the limit. Returns whether the directory has ended.
    fn list(
        &mut self,
        rest: &mut Dir,
        listing: &mut ActionListing,
        now: UtcTime,
    ) -> Result<bool, SpoolError> {
        for _ in 0..NAMES_MAX {
            let Some(entry) = rest.read() else {
                self.remove_old_answers(listing, now);
                return Ok(true);
            };
            let entry = entry.map_err(SpoolError::errno(self.path(), "list"))?;
            match ListedName::of(self.directory.handle(), entry.file_name()) {
                Some(ListedName::Action(at, stem)) => listing.add(at, stem),
                Some(ListedName::Answer(at, name)) => {
                    self.answers.insert((at, name));
                    if self.answers.len() > ANSWERS_MAX
                        && let Some((_, oldest)) = self.answers.pop_first()
                    {
                        self.remove(listing, &oldest, AtFlags::empty());
                    }
                }
                Some(ListedName::Unfinished(at, name)) if is_old(at, now) => {
                    self.remove(listing, &name, AtFlags::empty());
                }
                Some(ListedName::Directory(name)) => {
                    self.remove(listing, &name, AtFlags::REMOVEDIR);
                }
                Some(ListedName::Unfinished(..)) | None => {}
            }
        }
        Ok(false)
    }

    fn remove_old_answers(&mut self, listing: &mut ActionListing, now: UtcTime) {
        for (at, name) in std::mem::take(&mut self.answers) {
            if is_old(at, now) {
                self.remove(listing, &name, AtFlags::empty());
            }
        }
    }

    /// Removes an object, within the limit of a look. A directory with files in it stays.
    fn remove(&self, listing: &mut ActionListing, name: &str, flags: AtFlags) {
        if !listing.may_remove() {
            return;
        }
        match unlinkat(self.directory.handle(), name, flags) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY) => {}
            Err(errno) => tracing::debug!("{}: remove {name}: {errno}", self.path().display()),
        }
    }

    fn read(&self, changed_sec: i64, stem: String) -> DeliveredAction {
        let name = format!("{stem}{}", listing::ACTION_SUFFIX);
        let path = self.path().join(&name);
        let content = match open_beneath(self.directory.handle(), &name, OFlags::RDONLY) {
            Err(Errno::LOOP) => Err(SpoolError::FileKind { path, kind: "a symbolic link" }),
            Err(Errno::NXIO) => Err(SpoolError::FileKind { path, kind: "a socket" }),
            Err(errno) => Err(SpoolError::errno(&path, "open")(errno)),
            Ok(file) => read_unlocked(&file, &path, SIGNED_ACTION_BYTES_MAX),
        };
        DeliveredAction { stem, delivered: UtcTime::from_unix(changed_sec), content }
    }

    fn is_settled(&self, changed_at: (i64, i64), now: UtcTime) -> bool {
        self.settled.is_some_and(|(known, ended)| {
            known == changed_at && (ended..ended + PASS_INTERVAL_SEC).contains(&now.unix())
        })
    }
}

fn is_old(at_sec: i64, now: UtcTime) -> bool {
    now.unix().saturating_sub(at_sec) > AGE_SEC_MAX
}
