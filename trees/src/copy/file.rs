//! Copies one file, and hashes the bytes that it writes; without a copy, those that it reads. A
//! file that changes meanwhile is refused.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

use model::{Sha256, Sha256Stream};
use rustix::fs::{Mode, OFlags, fchmod, fstat, openat};

use super::context::{CopyContext, DirectoryPair};
use crate::entry::{check_file, file_line, is_executable, is_unchanged};
use crate::error::TreeError;
use crate::walk::open_file;

const FILE: u32 = 0o444;
const PROGRAM: u32 = 0o555;

/// Copies a file through the buffer, and returns its line.
pub(super) fn copy_file(
    context: CopyContext<'_>,
    at: DirectoryPair<'_>,
    name: &str,
    buffer: &mut [u8],
    on_bytes: &mut dyn FnMut(u64),
) -> Result<String, TreeError> {
    let file = open_file(at.from, name).map_err(TreeError::unopened(name))?;
    let before = fstat(&file).map_err(TreeError::failed(name, "stat"))?;
    let bytes = check_file(&before, name)?;
    context.add_bytes(bytes, name)?;
    let executable = is_executable(&before);
    let copy = at.to.map(|to| make_file(to, name, if executable { PROGRAM } else { FILE }));
    let copy = copy.transpose().map_err(TreeError::failed(name, "create"))?;
    let mut pour = FilePour { context, name, buffer, on_bytes };
    let sha256 = pour.all(&file, copy.as_ref(), bytes)?;
    let after = fstat(&file).map_err(TreeError::failed(name, "stat again"))?;
    if !is_unchanged(&before, &after) {
        return Err(TreeError::Changed { path: name.to_owned() });
    }
    context.totals.files.fetch_add(1, Ordering::Relaxed);
    Ok(file_line(executable, bytes, sha256, name))
}

/// Makes a file with exactly this mode.
fn make_file(at: BorrowedFd<'_>, name: &str, mode: u32) -> io::Result<File> {
    let mode = Mode::from_raw_mode(mode);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(openat(at, name, flags, mode)?);
    // The umask has no effect on it.
    fchmod(&file, mode)?;
    Ok(file)
}

/// The way of the bytes of one file.
struct FilePour<'a> {
    context: CopyContext<'a>,
    name: &'a str,
    buffer: &'a mut [u8],
    on_bytes: &'a mut dyn FnMut(u64),
}

impl FilePour<'_> {
    /// Copies and hashes a file of exactly this size. Each read may return more than is left, so
    /// that growth is noticed; a small file takes one read.
    fn all(&mut self, mut from: &File, to: Option<&File>, bytes: u64) -> Result<Sha256, TreeError> {
        let (mut stream, mut left) = (Sha256Stream::new(), bytes);
        loop {
            self.context.check_needed(self.name)?;
            let read = match from.read(self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(TreeError::failed(self.name, "read"))?,
            };
            let length = u64::try_from(read).unwrap_or(u64::MAX);
            let rest = left.checked_sub(length).filter(|rest| read > 0 || *rest == 0);
            left = rest.ok_or_else(|| TreeError::Changed { path: self.name.to_owned() })?;
            let part = self.buffer.get(..read).unwrap_or_default();
            stream.update(part);
            if let Some(mut to) = to {
                to.write_all(part).map_err(TreeError::failed(self.name, "write"))?;
            }
            (self.on_bytes)(length);
            // The file ended before the buffer did.
            if left == 0 && read < self.buffer.len() {
                return Ok(stream.finish());
            }
        }
    }
}
