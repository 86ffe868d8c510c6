//! Moves drafts that use a standing approval from `drafts/` to `approved/`, where they are requests
//! like any other. Agents write in `drafts/`: nothing there is followed, and nothing is decided
//! here. The event loop waits for a look, so a look must never do more than its limits allow.

pub(crate) mod input_tree;

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;

use model::RequestId;
use rustix::fs::{AtFlags, Dir, FileType, OFlags, RenameFlags, fstat, renameat_with, statat};
use validator::REQUEST_BYTES_MAX;

use crate::beneath::{AllowedLinks, check_regular_file, open_beneath};
use crate::error::SpoolError;
use crate::inbox::Inbox;
use input_tree::{InputTreeBounds, InputTreeWork};

/// The most names that a look reads. With the next limit, a look takes a few milliseconds. The next
/// look goes on behind the last name, so other drafts delay a draft but never prevent it.
const NAMES_MAX: usize = 1024;
/// The most drafts and directories that a look opens. The inputs of its last draft may exceed it.
const OPENED_MAX: usize = 64;
/// The most drafts that are remembered; more are read again.
const SEEN_MAX: usize = 16_384;
/// The front matter of a request is not longer. No more of a draft is read.
const FRONT_BYTES_MAX: u64 = 64 * 1024;
const KEY: &[u8] = b"x-standing:";

/// The inode and its last change time: seconds, nanoseconds.
type DraftIdentity = (u64, i64, i64);

/// The place where the next look goes on, and the drafts that it need not read again: those that
/// use no standing approval or cannot be moved, by name and identity.
#[derive(Default)]
pub struct SeenDrafts {
    /// The rest of the directory, until a pass over it has ended.
    rest: Option<Dir>,
    present_pass: BTreeMap<String, DraftIdentity>,
    last_pass: BTreeMap<String, DraftIdentity>,
}

/// The work that one look may still do, and its results.
struct DraftLook {
    names_left: usize,
    opens_left: usize,
    moved: usize,
    failure: Option<SpoolError>,
}

impl SeenDrafts {
    /// Returns whether the last look has reached the end of the directory. If not, the next look
    /// must not wait for a change.
    #[must_use]
    pub fn is_pass_over(&self) -> bool {
        self.rest.is_none()
    }

    fn end_pass(&mut self) {
        // A draft that this pass did not find has left the directory.
        self.last_pass = std::mem::take(&mut self.present_pass);
    }

    fn is_known(&mut self, name: &str, identity: DraftIdentity) -> bool {
        let passes = [&self.present_pass, &self.last_pass];
        let is_known = passes.iter().any(|pass| pass.get(name) == Some(&identity));
        if is_known {
            self.remember(name, identity);
        }
        is_known
    }

    fn remember(&mut self, name: &str, identity: DraftIdentity) {
        if self.present_pass.len() < SEEN_MAX {
            self.present_pass.insert(name.to_owned(), identity);
        }
    }
}

impl Inbox {
    /// Moves drafts that use a standing approval here, with their inputs. Returns their number.
    /// [`SeenDrafts::is_pass_over`] returns whether the look has reached the last draft.
    ///
    /// # Errors
    /// `drafts` cannot be listed, or a file of it cannot be moved. The others were moved.
    pub fn take_standing_drafts(
        &self,
        drafts: &Self,
        seen: &mut SeenDrafts,
    ) -> Result<usize, SpoolError> {
        let mut look =
            DraftLook { names_left: NAMES_MAX, opens_left: OPENED_MAX, moved: 0, failure: None };
        let failed = || SpoolError::errno(drafts.path(), "list");
        let mut rest = match seen.rest.take() {
            Some(rest) => rest,
            None => Dir::read_from(drafts.handle()).map_err(failed())?,
        };
        while look.names_left > 0 && look.opens_left > 0 {
            let Some(entry) = rest.read() else {
                seen.end_pass();
                return look.end();
            };
            look.names_left = look.names_left.saturating_sub(1);
            let entry = entry.map_err(failed())?;
            let Some((name, identity)) = draft_at(drafts, entry.file_name()) else { continue };
            if !seen.is_known(&name, identity) && self.try_draft(drafts, &name, &mut look) {
                seen.remember(&name, identity);
            }
        }
        seen.rest = Some(rest);
        look.end()
    }

    /// Moves a draft if it uses a standing approval. Returns whether it need not be read again
    /// until it changes.
    fn try_draft(&self, drafts: &Self, name: &str, look: &mut DraftLook) -> bool {
        look.opens_left = look.opens_left.saturating_sub(1);
        let taken = uses_standing_approval(drafts, name).and_then(|uses| match uses {
            true => self.take_draft(drafts, name, look).map(Some),
            false => Ok(None),
        });
        match taken {
            Ok(None) => true,
            Ok(Some(is_moved)) => {
                look.moved += usize::from(is_moved);
                false
            }
            // One draft that cannot be moved must not stop the others.
            Err(error) => {
                let is_lasting = !error.is_momentary();
                look.failure.get_or_insert(error);
                is_lasting
            }
        }
    }

    /// Moves the inputs first: a request is claimed as soon as it has its name.
    fn take_draft(
        &self,
        drafts: &Self,
        name: &str,
        look: &mut DraftLook,
    ) -> Result<bool, SpoolError> {
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let inputs = format!("{stem}.inputs");
        let failed = |name: &str| SpoolError::errno(&drafts.path().join(name), "move");
        // Inputs beside another request of this name would have it refused.
        if self.identity(name).is_some() {
            return Ok(false);
        }
        let mut work = InputTreeWork::default();
        let bounds = InputTreeBounds::STANDING;
        let checked = input_tree::check_inputs(drafts, &inputs, bounds, &mut work);
        look.names_left = look.names_left.saturating_sub(work.names);
        look.opens_left = look.opens_left.saturating_sub(work.directories);
        checked?;
        let rename = |from: &Self, to: &Self, name: &str| {
            renameat_with(from.handle(), name, to.handle(), name, RenameFlags::NOREPLACE)
        };
        match rename(drafts, self, &inputs) {
            // Moved before an interruption, or the request has none.
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(rustix::io::Errno::EXIST) => return Ok(false),
            Err(errno) => return Err(failed(&inputs)(errno)),
        }
        let moved = rename(drafts, self, name);
        if moved.is_err() && rename(self, drafts, &inputs).is_err() {
            tracing::debug!("{inputs}: not moved back");
        }
        match moved {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::EXIST) => Ok(false),
            Err(errno) => Err(failed(name)(errno)),
        }
    }
}

impl DraftLook {
    fn end(self) -> Result<usize, SpoolError> {
        self.failure.map_or(Ok(self.moved), Err)
    }
}

/// Returns the name and the identity of a draft. An empty file may still be written.
fn draft_at(drafts: &Inbox, file_name: &CStr) -> Option<(String, DraftIdentity)> {
    let name = file_name.to_str().ok()?;
    name.strip_suffix(".md")?.parse::<RequestId>().ok()?;
    let found = statat(drafts.handle(), name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    let nanoseconds = i64::try_from(found.st_ctime_nsec).unwrap_or(i64::MAX);
    let identity = (found.st_ino, found.st_ctime, nanoseconds);
    (is_file && found.st_size != 0).then(|| (name.to_owned(), identity))
}

/// Returns whether the front matter has the key. The check of the request reads it properly. A
/// draft that cannot be read is left alone.
fn uses_standing_approval(drafts: &Inbox, name: &str) -> Result<bool, SpoolError> {
    let front = match read_front(drafts, name) {
        Err(error) if error.is_momentary() => return Err(error),
        Err(_) => return Ok(false),
        Ok(front) => front,
    };
    let mut lines = front.split(|byte| *byte == b'\n');
    let is_end = |line: &&[u8]| line.trim_ascii_end() == b"---";
    let is_begun = lines.next().is_some_and(|line| is_end(&line));
    Ok(is_begun && lines.take_while(|line| !is_end(line)).any(|line| line.starts_with(KEY)))
}

fn read_front(drafts: &Inbox, name: &str) -> Result<Vec<u8>, SpoolError> {
    let path = drafts.path().join(name);
    let opened = open_beneath(drafts.handle(), name, OFlags::RDONLY);
    let file = opened.map_err(SpoolError::errno(&path, "open"))?;
    let stat = fstat(&file).map_err(SpoolError::errno(&path, "stat"))?;
    check_regular_file(&stat, &path, AllowedLinks::One)?;
    let bytes_max = u64::try_from(REQUEST_BYTES_MAX).unwrap_or(u64::MAX);
    if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > bytes_max {
        return Err(SpoolError::TooLarge { path, bytes_max });
    }
    let mut front = Vec::new();
    let read = File::from(file).take(FRONT_BYTES_MAX).read_to_end(&mut front);
    read.map_err(SpoolError::io(&path, "read"))?;
    Ok(front)
}

#[cfg(test)]
mod tests;
