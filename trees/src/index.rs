//! The index of a tree: its names in the order of its stamp. With it, the stamp is made without
//! listing a directory. An index is only a hint, and nothing may trust it: the stamp hashes each
//! name with what the file system states, so that another index gives another stamp.
//!
//! ```text
//! o <name> NUL                                 a file or a link
//! d <length, 4 bytes> <name> NUL <entries>     a directory, with the length of its entries
//! n                                            instead of an index: it would be beyond a limit
//! ```

use std::ffi::CStr;
use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::fs::{AtFlags, FileType, statat};

use crate::limits::TreeLimits;
use crate::walk::{NameStack, open_directory, open_top};

/// A larger index is not made.
pub(crate) const INDEX_BYTES_MAX: usize = 64 << 20;
/// A longer path cannot be given to the kernel at once.
const PATH_BYTES_MAX: usize = 4000;

/// The whole text for a tree whose index cannot be made. It has no names.
pub(crate) const NO_INDEX: &[u8] = b"n";

const DIRECTORY: u8 = b'd';
const OTHER: u8 = b'o';

/// Makes the index of a directory. Returns `None` if it cannot be read, or if the tree or its index
/// is beyond a limit.
pub(crate) fn index_tree(
    top: BorrowedFd<'_>,
    limits: &TreeLimits,
    bytes_max: usize,
) -> Option<Vec<u8>> {
    let top = open_top(top).ok()?;
    let names = NameStack::new();
    let mut walk = IndexWalk { limits, bytes_max, entries: 0, names, index: Vec::new() };
    walk.directory(top.as_fd(), 0, 0)?;
    Some(walk.index)
}

struct IndexWalk<'a> {
    limits: &'a TreeLimits,
    bytes_max: usize,
    entries: u64,
    names: NameStack,
    index: Vec<u8>,
}

impl IndexWalk<'_> {
    fn directory(&mut self, fd: BorrowedFd<'_>, depth: u32, path_bytes: usize) -> Option<()> {
        let left = self.limits.entries_max.checked_sub(self.entries)?;
        if depth > self.limits.depth() {
            return None;
        }
        let names = self.names.list(fd, left).ok()??;
        self.entries = self.entries.saturating_add(names.count());
        for index in names.indices() {
            self.entry(fd, index, depth, path_bytes)?;
        }
        self.names.forget(&names);
        Some(())
    }

    fn entry(
        &mut self,
        fd: BorrowedFd<'_>,
        index: usize,
        depth: u32,
        path_bytes: usize,
    ) -> Option<()> {
        let name = self.names.name(index);
        let path_bytes = path_bytes.saturating_add(name.to_bytes_with_nul().len());
        let stat = statat(fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if path_bytes > PATH_BYTES_MAX {
            return None;
        }
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            self.index.push(OTHER);
            self.index.extend_from_slice(name.to_bytes_with_nul());
            return self.check_size();
        }
        self.index.push(DIRECTORY);
        let length_at = self.index.len();
        self.index.extend_from_slice(&[0; 4]);
        self.index.extend_from_slice(name.to_bytes_with_nul());
        self.check_size()?;
        let begin = self.index.len();
        let below = open_directory(fd, name).ok()?;
        self.directory(below.as_fd(), depth.saturating_add(1), path_bytes)?;
        let length = u32::try_from(self.index.len().checked_sub(begin)?).ok()?;
        let place = self.index.get_mut(length_at..)?.first_chunk_mut::<4>()?;
        *place = length.to_le_bytes();
        Some(())
    }

    /// Returns `None` if a reader would refuse the index for its size.
    fn check_size(&self) -> Option<()> {
        (self.index.len() <= self.bytes_max).then_some(())
    }
}

/// One entry of a directory in an index.
#[derive(Clone, Copy)]
pub(crate) struct IndexedName<'i> {
    pub(crate) name: &'i CStr,
    /// The entries of a directory.
    pub(crate) below: Option<IndexedNames<'i>>,
}

/// The entries of one directory in an index. They end early if the index is torn.
#[derive(Clone, Copy)]
pub(crate) struct IndexedNames<'i>(&'i [u8]);

impl<'i> IndexedNames<'i> {
    /// Returns the entries of the top directory.
    pub(crate) fn of_top(index: &'i [u8]) -> Self {
        Self(index)
    }
}

impl<'i> Iterator for IndexedNames<'i> {
    type Item = IndexedName<'i>;

    fn next(&mut self) -> Option<IndexedName<'i>> {
        let (kind, rest) = self.0.split_first()?;
        let (length, rest) = match *kind {
            DIRECTORY => {
                let (length, rest) = rest.split_first_chunk::<4>()?;
                (Some(usize::try_from(u32::from_le_bytes(*length)).ok()?), rest)
            }
            OTHER => (None, rest),
            _ => return None,
        };
        let name = CStr::from_bytes_until_nul(rest).ok()?;
        let rest = rest.get(name.to_bytes_with_nul().len()..)?;
        let (below, rest) = match length {
            Some(length) => {
                let (below, rest) = rest.split_at_checked(length)?;
                (Some(IndexedNames(below)), rest)
            }
            None => (None, rest),
        };
        self.0 = rest;
        Some(IndexedName { name, below })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(index: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        for IndexedName { name, below } in IndexedNames::of_top(index) {
            found.push(name.to_string_lossy().into_owned());
            if let Some(IndexedNames(below)) = below {
                found.extend(names_of(below));
            }
        }
        found
    }

    /// Any part of an index can be read: it has fewer names, and so another stamp.
    #[test]
    fn a_torn_index_ends_early() {
        let index = b"d\x08\0\0\0a\0oin\0oon\0oz\0";
        assert_eq!(names_of(index), ["a", "in", "on", "z"]);
        for length in 0..index.len() {
            let found = names_of(&index[..length]);
            assert!(found.len() < 4, "{length}: {found:?}");
        }
        assert_eq!(names_of(b"d\xff\xff\xff\xffa\0"), Vec::<String>::new());
        assert_eq!(names_of(b"oz"), Vec::<String>::new());
        assert_eq!(names_of(NO_INDEX), Vec::<String>::new());
    }
}
