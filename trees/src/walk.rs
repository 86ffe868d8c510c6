//! Opens and lists the directories of a tree by handle. It must never follow a link, enter another
//! mount, wait for a FIFO, or trust the order in which a file system lists names.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags, RawDir, openat};
use rustix::path::Arg;

use crate::beneath::open_beneath;
use crate::error::TreeError;

/// Names of some hundred entries, which most directories have at most.
const LISTING_BYTES: usize = 32 * 1024;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW);

/// Opens the top of a tree again, with a position of its own. The top may be a mount.
pub(crate) fn open_top(top: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    Ok(openat(top, c".", DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a directory of a tree. The error is `EXDEV` if it is on another mount.
pub(crate) fn open_directory(at: BorrowedFd<'_>, name: impl Arg) -> io::Result<OwnedFd> {
    Ok(open_beneath(at, name, DIRECTORY)?)
}

/// Opens a file of a tree. The error is `EXDEV` if it is on another mount.
pub(crate) fn open_file(at: BorrowedFd<'_>, name: impl Arg) -> io::Result<File> {
    Ok(File::from(open_beneath(at, name, OFlags::RDONLY)?))
}

/// The names in the open directories of a walk, those of the deepest directory last. All names are
/// in one buffer, so that a walk allocates nothing for each name or directory.
pub(crate) struct NameStack {
    /// The names, each with its NUL.
    bytes: Vec<u8>,
    names: Vec<Range<usize>>,
    /// Always empty; the kernel writes into its capacity.
    listing: Vec<u8>,
}

/// The names of one directory in a [`NameStack`].
pub(crate) struct ListedNames {
    indices: Range<usize>,
    bytes_before: usize,
}

impl ListedNames {
    /// The indices of the names, in byte order of the names.
    pub(crate) fn indices(&self) -> Range<usize> {
        self.indices.clone()
    }

    pub(crate) fn count(&self) -> u64 {
        u64::try_from(self.indices.len()).unwrap_or(u64::MAX)
    }
}

impl NameStack {
    pub(crate) fn new() -> Self {
        let listing = Vec::with_capacity(LISTING_BYTES);
        Self { bytes: Vec::new(), names: Vec::new(), listing }
    }

    /// Lists a directory from its beginning. Returns `None` if it has more than `most` entries.
    /// The descriptor must be newly opened, because a listing moves its position.
    pub(crate) fn list(
        &mut self,
        directory: BorrowedFd<'_>,
        most: u64,
    ) -> io::Result<Option<ListedNames>> {
        let (first, bytes_before) = (self.names.len(), self.bytes.len());
        let mut left = most;
        let mut listing = RawDir::new(directory, self.listing.spare_capacity_mut());
        while let Some(entry) = listing.next() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let Some(rest) = left.checked_sub(1) else { return Ok(None) };
            left = rest;
            let start = self.bytes.len();
            self.bytes.extend_from_slice(name.to_bytes_with_nul());
            self.names.push(start..self.bytes.len());
        }
        self.sort_from(first);
        Ok(Some(ListedNames { indices: first..self.names.len(), bytes_before }))
    }

    /// Lists a directory as [`Self::list`] does, and adds its entries to those that all threads
    /// have `seen`. The path of an error is that of the directory: empty.
    pub(crate) fn list_counted(
        &mut self,
        directory: BorrowedFd<'_>,
        seen: &AtomicU64,
        entries_max: u64,
    ) -> Result<ListedNames, TreeError> {
        let too_many = || TreeError::TooManyEntries { path: String::new(), entries_max };
        let failed = |error| TreeError::Io { path: String::new(), act: "list", error };
        let left = entries_max.saturating_sub(seen.load(Ordering::Relaxed));
        let names = self.list(directory, left).map_err(failed)?.ok_or_else(too_many)?;
        let before = seen.fetch_add(names.count(), Ordering::Relaxed);
        match before.saturating_add(names.count()) <= entries_max {
            true => Ok(names),
            false => Err(too_many()),
        }
    }

    /// A NUL is less than any byte of a name, so the order is that of the names without it.
    fn sort_from(&mut self, first: usize) {
        let bytes = &self.bytes;
        let text = |name: &Range<usize>| bytes.get(name.clone()).unwrap_or_default();
        if let Some(added) = self.names.get_mut(first..) {
            added.sort_unstable_by(|a, b| text(a).cmp(text(b)));
        }
    }

    /// The name at an index, which must be one of a directory on the stack.
    pub(crate) fn name(&self, index: usize) -> &CStr {
        let bytes = self.names.get(index).and_then(|name| self.bytes.get(name.clone()));
        bytes.and_then(|bytes| CStr::from_bytes_with_nul(bytes).ok()).unwrap_or_default()
    }

    /// Drops the names of the deepest directory.
    pub(crate) fn forget(&mut self, names: &ListedNames) {
        self.names.truncate(names.indices.start);
        self.bytes.truncate(names.bytes_before);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    /// `/proc` is a mount on every host.
    #[test]
    fn a_mount_is_the_top_of_a_tree_but_no_part_of_it() {
        let root = File::open("/").unwrap();
        let refused = open_directory(root.as_fd(), c"proc").map_err(TreeError::unopened("proc"));
        let error = refused.unwrap_err();
        assert!(matches!(&error, TreeError::OtherMount { path } if path == "proc"), "{error}");
        assert!(error.to_string().starts_with("proc: it is on another mount"), "{error}");
        let proc = File::open("/proc").unwrap();
        let proc = open_top(proc.as_fd()).unwrap();
        open_file(proc.as_fd(), c"version").unwrap();
    }
}
