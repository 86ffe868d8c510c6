//! The front matter of a draft, read as far as needed to find one that uses a standing approval.

use std::ffi::CStr;
use std::fs::File;
use std::io::Read;

use model::{RequestId, UtcTime};
use rustix::fs::{AtFlags, FileType, OFlags, fstat, statat};
use validator::{Draft, DraftCheck, FileLocation, OwnerUid, REQUEST_BYTES_MAX};

use crate::beneath::{AllowedLinks, check_regular_file, open_beneath};
use crate::error::SpoolError;
use crate::inbox::Inbox;

/// The front matter of a request is not longer. No more of a draft is read.
const FRONT_BYTES_MAX: u64 = 64 * 1024;
const KEY: &[u8] = b"x-standing:";

/// The inode and its last change time: seconds, nanoseconds.
pub(super) type DraftIdentity = (u64, i64, i64);

/// Returns the name and the identity of a draft. An empty file may still be written.
pub(super) fn draft_at(drafts: &Inbox, file_name: &CStr) -> Option<(String, DraftIdentity)> {
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
pub(super) fn uses_standing_approval(drafts: &Inbox, name: &str) -> Result<bool, SpoolError> {
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

/// Returns whether the bytes are a request that uses no standing approval, now or later. Policy may
/// list the daemon's user as an approver, so it must own no request without a signature.
pub(super) fn is_other_request(bytes: Vec<u8>, name: &str) -> bool {
    // A date in the future is an error only now.
    let at_last = UtcTime::from_unix(i64::MAX);
    let Ok(draft) = Draft::new(bytes, name, OwnerUid::new(0)) else { return false };
    let DraftCheck { verdict, .. } = draft.check(FileLocation::Spool, at_last);
    verdict.is_ok_and(|request| request.standing().is_none())
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
