//! Moves drafts that use a standing approval from `drafts/` to `approved/`, where they are requests
//! like any other. Agents write in `drafts/`: nothing there is followed, and nothing is decided here.

use std::collections::BTreeMap;
use std::io;

use model::RequestId;
use rustix::fs::{OFlags, RenameFlags, renameat_with};
use validator::REQUEST_BYTES_MAX;

use crate::beneath::{AllowedLinks, open_beneath, read_bounded};
use crate::error::SpoolError;
use crate::inbox::{Inbox, SubmissionName};

/// The most drafts that are read in one look.
const DRAFTS_MAX: usize = 4096;
/// The most drafts that are remembered; more are read again.
const SEEN_MAX: usize = 16_384;
/// The front matter of a request is not longer.
const FRONT_BYTES_MAX: usize = 64 * 1024;
const KEY: &[u8] = b"x-standing:";

/// The drafts that were read and use no standing approval, by name and identity.
#[derive(Default)]
pub struct SeenDrafts(BTreeMap<String, (u64, i64, i64)>);

impl Inbox {
    /// Moves every draft that uses a standing approval here, with its inputs. Returns their number.
    ///
    /// # Errors
    /// `drafts` cannot be listed, or a file of it cannot be moved.
    pub fn take_standing_drafts(
        &self,
        drafts: &Self,
        seen: &mut SeenDrafts,
    ) -> Result<usize, SpoolError> {
        if seen.0.len() > SEEN_MAX {
            seen.0.clear();
        }
        seen.0.retain(|name, identity| drafts.identity(name) == Some(*identity));
        let mut names = Vec::new();
        drafts.each_submission(|draft| {
            let SubmissionName::Request(name) = draft.submission else { return };
            let stem = name.strip_suffix(".md").unwrap_or(&name);
            let is_request = stem.parse::<RequestId>().is_ok();
            let is_new = seen.0.get(&name) != Some(&draft.identity);
            if is_request && is_new && !draft.is_empty && names.len() < DRAFTS_MAX {
                names.push((name, draft.identity));
            }
        })?;
        let (mut moved, mut failed) = (0, None);
        for (name, identity) in names {
            if !uses_standing_approval(drafts, &name) {
                seen.0.insert(name, identity);
                continue;
            }
            match self.take_draft(drafts, &name) {
                Ok(true) => moved += 1,
                Ok(false) => {}
                // One draft that cannot be moved must not stop the others.
                Err(error) => {
                    seen.0.insert(name, identity);
                    failed.get_or_insert(error);
                }
            }
        }
        failed.map_or(Ok(moved), Err)
    }

    /// Moves the inputs first: a request is claimed as soon as it has its name.
    fn take_draft(&self, drafts: &Self, name: &str) -> Result<bool, SpoolError> {
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let inputs = format!("{stem}.inputs");
        let failed = |name: &str| SpoolError::errno(&drafts.path().join(name), "move");
        // Inputs beside another request of this name would have it refused.
        if self.identity(name).is_some() {
            return Ok(false);
        }
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

/// Returns whether the front matter has the key. The check of the request reads it properly.
fn uses_standing_approval(drafts: &Inbox, name: &str) -> bool {
    let read = || -> Result<Vec<u8>, SpoolError> {
        let path = drafts.path().join(name);
        let opened = open_beneath(drafts.handle(), name, OFlags::RDONLY);
        let file = opened.map_err(|errno| SpoolError::io(&path, "open")(io::Error::from(errno)))?;
        Ok(read_bounded(&file, &path, REQUEST_BYTES_MAX, AllowedLinks::One)?.0)
    };
    let Ok(bytes) = read() else { return false };
    let front = bytes.get(..FRONT_BYTES_MAX).unwrap_or(&bytes);
    let mut lines = front.split(|byte| *byte == b'\n');
    let is_end = |line: &&[u8]| line.trim_ascii_end() == b"---";
    lines.next().is_some_and(|line| is_end(&line))
        && lines.take_while(|line| !is_end(line)).any(|line| line.starts_with(KEY))
}
