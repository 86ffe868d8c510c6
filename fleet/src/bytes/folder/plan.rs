//! Lists a folder before it is packed: every header, in the order of the archive. No file is read.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, readlinkat, statat};
use rustix::io::Errno;

use super::header::{BLOCK, END_BYTES, FolderTarHeader, FolderTarKind};
use crate::bytes::error::ByteStoreError;
use crate::bytes::fault::FolderTarFault;
use crate::bytes::files::{is_executable, open_directory_beneath, size_of};
use crate::bytes::model::{DEPTH_MAX, FOLDER_ENTRIES_MAX};

const SET_ID_BITS: u32 = 0o6000;

/// The headers of a folder.
pub(in crate::bytes) struct FolderTarPlan {
    pub(super) top: OwnedFd,
    name: String,
    pub(super) entries: Vec<FolderTarHeader>,
    bytes: u64,
}

impl FolderTarPlan {
    /// Lists an open folder. `bytes_max` is the limit of its archive.
    pub(in crate::bytes) fn read(
        top: OwnedFd,
        name: &str,
        bytes_max: u64,
    ) -> Result<Self, ByteStoreError> {
        let mut listing = FolderListing {
            entries: Vec::new(),
            bytes: u64::try_from(END_BYTES).unwrap_or(u64::MAX),
            bytes_max,
        };
        match listing.directory(top.as_fd(), "", 1) {
            Ok(()) => {}
            Err(ListingError::Refused { entry, fault: FolderTarFault::TooManyBytes }) => {
                let name = format!("{name}{entry}");
                return Err(ByteStoreError::TooLarge { name, bytes_max });
            }
            Err(ListingError::Refused { entry, fault }) => {
                return Err(ByteStoreError::Folder { folder: name.to_owned(), entry, fault });
            }
            Err(ListingError::Io { entry, act, errno }) => {
                let path = format!("{name}{entry}");
                return Err(ByteStoreError::io(path.as_ref(), act)(errno));
            }
        }
        let FolderListing { entries, bytes, .. } = listing;
        Ok(Self { top, name: name.to_owned(), entries, bytes })
    }

    /// Returns the name of the folder.
    pub(in crate::bytes) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the length of the archive.
    pub(in crate::bytes) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The reason why a folder cannot be listed.
enum ListingError {
    Refused { entry: String, fault: FolderTarFault },
    Io { entry: String, act: &'static str, errno: Errno },
}

struct FolderListing {
    entries: Vec<FolderTarHeader>,
    /// The length of the archive up to now, with its end.
    bytes: u64,
    bytes_max: u64,
}

impl FolderListing {
    /// Adds the entries of a directory, whose paths have `depth` components.
    fn directory(
        &mut self,
        directory: BorrowedFd<'_>,
        path: &str,
        depth: usize,
    ) -> Result<(), ListingError> {
        let left = FOLDER_ENTRIES_MAX.saturating_sub(self.entries.len());
        let names = names(directory, left).map_err(failed(path, "list"))?;
        let names = names.ok_or_else(|| refused(path, FolderTarFault::TooManyEntries))?;
        for name in names {
            let below = |name: &str| match path {
                "" => name.to_owned(),
                path => format!("{path}/{name}"),
            };
            let name = String::from_utf8(name).map_err(|error| {
                let shown = String::from_utf8_lossy(error.as_bytes());
                refused(&below(&shown), FolderTarFault::NameNotUtf8)
            })?;
            let below = below(&name);
            if depth > DEPTH_MAX {
                return Err(refused(&below, FolderTarFault::TooDeep));
            }
            let header = header(directory, &name, &below)?;
            let is_directory = header.kind == FolderTarKind::Directory;
            self.add(header)?;
            if is_directory {
                let opened = open_directory_beneath(directory, name.as_str());
                let opened = opened.map_err(unopened(&below))?;
                self.directory(opened.as_fd(), &below, depth + 1)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, header: FolderTarHeader) -> Result<(), ListingError> {
        let fault = |fault| refused(&header.name, fault);
        header.check().map_err(fault)?;
        header.encode().map_err(fault)?;
        if self.entries.len() >= FOLDER_ENTRIES_MAX {
            return Err(fault(FolderTarFault::TooManyEntries));
        }
        let blocks = header.bytes.div_ceil(BLOCK).saturating_add(1);
        self.bytes = self.bytes.saturating_add(blocks.saturating_mul(BLOCK));
        if self.bytes > self.bytes_max {
            return Err(fault(FolderTarFault::TooManyBytes));
        }
        self.entries.push(header);
        Ok(())
    }
}

/// Returns the header of an entry. Its kind is read before anything opens it.
fn header(
    directory: BorrowedFd<'_>,
    name: &str,
    path: &str,
) -> Result<FolderTarHeader, ListingError> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    let stat = stat.map_err(failed(path, "stat"))?;
    let (kind, bytes) = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_mode & SET_ID_BITS != 0 => {
            return Err(refused(path, FolderTarFault::SetId));
        }
        FileType::RegularFile if is_executable(&stat) => (FolderTarKind::Program, size_of(&stat)),
        FileType::RegularFile => (FolderTarKind::File, size_of(&stat)),
        FileType::Directory => (FolderTarKind::Directory, 0),
        FileType::Symlink => {
            let target = readlinkat(directory, name, Vec::new());
            let target = target.map_err(failed(path, "read the link"))?;
            let target = target.into_string();
            let target = target.map_err(|_| refused(path, FolderTarFault::NameNotUtf8))?;
            (FolderTarKind::Link(target), 0)
        }
        _ => return Err(refused(path, FolderTarFault::Device)),
    };
    Ok(FolderTarHeader { name: path.to_owned(), kind, bytes })
}

/// Returns the names in a directory in byte order, or `None` if there are more than `most`.
fn names(directory: BorrowedFd<'_>, most: usize) -> rustix::io::Result<Option<Vec<Vec<u8>>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        if names.len() >= most {
            return Ok(None);
        }
        names.push(name.to_vec());
    }
    names.sort_unstable();
    Ok(Some(names))
}

fn refused(entry: &str, fault: FolderTarFault) -> ListingError {
    ListingError::Refused { entry: entry.to_owned(), fault }
}

fn failed(entry: &str, act: &'static str) -> impl FnOnce(Errno) -> ListingError + use<> {
    let entry = entry.to_owned();
    move |errno| ListingError::Io { entry, act, errno }
}

/// The error of opening an entry whose kind was read before.
fn unopened(entry: &str) -> impl FnOnce(Errno) -> ListingError + use<> {
    let entry = entry.to_owned();
    move |errno| match errno {
        Errno::XDEV => ListingError::Refused { entry, fault: FolderTarFault::OtherMount },
        Errno::NOTDIR | Errno::LOOP => {
            ListingError::Refused { entry, fault: FolderTarFault::Changed }
        }
        errno => ListingError::Io { entry, act: "open", errno },
    }
}
