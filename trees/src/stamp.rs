//! The stamp of a tree: a digest of what the file system states about each entry. It reads no file,
//! so it is made before each run. It is only compared with stamps of the same directory on the same
//! host: device and inode numbers are part of it. A change within the same tick of the kernel's
//! clock as the stamp can be missed, so a stamp must never replace the digest of a new tree.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicU64;

use model::{Sha256, Sha256Stream};
use rustix::fs::{AtFlags, FileType, Stat, statat};

use crate::error::TreeError;
use crate::limits::TreeLimits;
use crate::two_threads::{StampsByPosition, in_two_threads};
use crate::walk::{ListedNames, NameStack, open_directory, open_top};

/// Computes the stamp of a directory, without the facts of the top itself: the tree may be moved.
/// Any change of an entry changes its times or its inode, and so the stamp. Copies of a tree have
/// other stamps, and so has a file that got another hard link.
///
/// # Errors
/// Returns an entry that cannot be read, or that is beyond a limit.
pub fn stamp_tree(top: BorrowedFd<'_>, limits: &TreeLimits) -> Result<Sha256, TreeError> {
    let entries = AtomicU64::new(0);
    let mut walk = StampWalk::new(limits, &entries);
    let top = open_top(top).map_err(|error| failed(c"", "open", error))?;
    walk.split(top.as_fd(), 0)
}

/// A walk of one thread.
struct StampWalk<'a> {
    limits: &'a TreeLimits,
    /// The entries that all threads have seen.
    entries: &'a AtomicU64,
    names: NameStack,
    line: Vec<u8>,
}

impl<'a> StampWalk<'a> {
    fn new(limits: &'a TreeLimits, entries: &'a AtomicU64) -> Self {
        Self { limits, entries, names: NameStack::new(), line: Vec::new() }
    }

    /// Stamps a directory in two threads: the first one below the top that has two or more
    /// subdirectories is divided by these.
    fn split(&mut self, fd: BorrowedFd<'_>, depth: u32) -> Result<Sha256, TreeError> {
        let names = self.list(fd)?;
        let stats: Result<Vec<_>, _> = names.indices().map(|index| self.stat(fd, index)).collect();
        let stats = stats?;
        let with_stats = names.indices().zip(&stats);
        let below: Vec<_> =
            with_stats.filter(|(_, stat)| is_directory(stat)).map(|(index, _)| index).collect();
        let stamps = match below.as_slice() {
            [only] => {
                let inside = self.open(fd, self.names.name(*only), depth + 1)?;
                let stamp = self.split(inside.as_fd(), depth + 1);
                let stamp = stamp.map_err(|error| self.below(error, *only))?;
                StampsByPosition::from([(*only, stamp)])
            }
            below => self.divide(fd, below, depth + 1)?,
        };
        let mut stream = Sha256Stream::new();
        for (index, stat) in names.indices().zip(&stats) {
            self.entry(index, stat, &mut stream);
            if let Some(stamp) = stamps.get(&index) {
                stream.update(stamp.as_bytes());
            }
        }
        self.names.forget(&names);
        Ok(stream.finish())
    }

    /// Stamps subdirectories; each thread takes the next one.
    fn divide(
        &self,
        fd: BorrowedFd<'_>,
        below: &[usize],
        depth: u32,
    ) -> Result<StampsByPosition, TreeError> {
        let (limits, entries, names) = (self.limits, self.entries, &self.names);
        let work = |positions: &mut dyn Iterator<Item = usize>| -> Result<Vec<_>, TreeError> {
            let (mut walk, mut stamps) = (StampWalk::new(limits, entries), Vec::new());
            for index in positions.filter_map(|position| below.get(position)) {
                let name = names.name(*index);
                let inside = walk.open(fd, name, depth)?;
                let stamp = walk.directory(inside.as_fd(), depth);
                stamps.push((*index, stamp.map_err(|error| below_name(error, name))?));
            }
            Ok(stamps)
        };
        in_two_threads(below.len(), work)
    }

    /// Stamps a directory in this thread.
    fn directory(&mut self, fd: BorrowedFd<'_>, depth: u32) -> Result<Sha256, TreeError> {
        let names = self.list(fd)?;
        let mut stream = Sha256Stream::new();
        for index in names.indices() {
            let stat = self.stat(fd, index)?;
            self.entry(index, &stat, &mut stream);
            if is_directory(&stat) {
                let inside = self.open(fd, self.names.name(index), depth + 1)?;
                let stamp = self.directory(inside.as_fd(), depth + 1);
                stream.update(stamp.map_err(|error| self.below(error, index))?.as_bytes());
            }
        }
        self.names.forget(&names);
        Ok(stream.finish())
    }

    fn list(&mut self, fd: BorrowedFd<'_>) -> Result<ListedNames, TreeError> {
        self.names.list_counted(fd, self.entries, self.limits.entries_max)
    }

    fn stat(&self, fd: BorrowedFd<'_>, index: usize) -> Result<Stat, TreeError> {
        let name = self.names.name(index);
        statat(fd, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failed(name, "stat", error))
    }

    fn open(&self, fd: BorrowedFd<'_>, name: &CStr, depth: u32) -> Result<OwnedFd, TreeError> {
        let depth_max = self.limits.depth();
        if depth > depth_max {
            let path = name.to_string_lossy().into_owned();
            return Err(TreeError::TooDeep { path, depth_max });
        }
        open_directory(fd, name).map_err(TreeError::unopened(&name.to_string_lossy()))
    }

    /// Adds what the file system states about an entry. The stamp of a directory follows it.
    fn entry(&mut self, index: usize, stat: &Stat, stream: &mut Sha256Stream) {
        stamp_line(&mut self.line, self.names.name(index), stat);
        stream.update(&self.line);
    }

    fn below(&self, error: TreeError, index: usize) -> TreeError {
        below_name(error, self.names.name(index))
    }
}

/// Replaces `line` by what a stamp hashes of an entry.
pub(crate) fn stamp_line(line: &mut Vec<u8>, name: &CStr, stat: &Stat) {
    line.clear();
    line.extend_from_slice(name.to_bytes_with_nul());
    line.extend_from_slice(&stat.st_dev.to_le_bytes());
    line.extend_from_slice(&stat.st_ino.to_le_bytes());
    line.extend_from_slice(&stat.st_mode.to_le_bytes());
    line.extend_from_slice(&stat.st_size.to_le_bytes());
    line.extend_from_slice(&stat.st_mtime.to_le_bytes());
    line.extend_from_slice(&stat.st_mtime_nsec.to_le_bytes());
    line.extend_from_slice(&stat.st_ctime.to_le_bytes());
    line.extend_from_slice(&stat.st_ctime_nsec.to_le_bytes());
}

pub(crate) fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// Paths are made for errors only.
fn below_name(error: TreeError, name: &CStr) -> TreeError {
    error.below(&name.to_string_lossy())
}

fn failed(name: &CStr, act: &'static str, error: impl Into<io::Error>) -> TreeError {
    TreeError::Io { path: name.to_string_lossy().into_owned(), act, error: error.into() }
}
