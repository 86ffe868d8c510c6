//! A walk of a result directory on disk: the digest of every regular file, except signatures and
//! proofs, which are read whole elsewhere. It starts from one descriptor. It must never follow a
//! link, open anything but a regular file or a directory, or trust a name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use model::{Sha256, Sha256Stream};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use crate::verify_error::VerifyError;

/// 1,000 artifacts, each below 64 directories of its own, and the files beside them.
const ENTRIES_MAX: usize = 66_000;
/// A policy permits 64 directories below each other in `artifacts/`.
const DEPTH_MAX: usize = 72;
const CHUNK: usize = 64 * 1024;

/// The result of the walk. Paths are relative, with `/`.
#[derive(Default)]
pub(crate) struct ResultTree {
    pub(crate) files: BTreeMap<String, Sha256>,
    /// Files of the record itself, whose digests no record can state.
    pub(crate) own_files: BTreeSet<String>,
    pub(crate) directories: BTreeSet<String>,
    /// Entries that could not be hashed; a fault has the reason.
    pub(crate) unhashed: BTreeSet<String>,
    pub(crate) faults: Vec<VerifyError>,
    entries: usize,
    chunk: Vec<u8>,
}

impl ResultTree {
    pub(crate) fn walk(root: BorrowedFd<'_>) -> Self {
        let mut tree = Self { chunk: vec![0; CHUNK], ..Self::default() };
        match open_directory(root, ".") {
            Ok(fd) => tree.directory(&fd, "", 0),
            Err(error) => tree.unreadable(".", &error),
        }
        tree
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
            || self.own_files.contains(path)
            || self.unhashed.contains(path)
    }

    fn unreadable(&mut self, path: &str, error: &io::Error) {
        self.unhashed.insert(path.to_owned());
        self.faults
            .push(VerifyError::Unreadable { path: path.to_owned(), problem: error.to_string() });
    }

    fn directory(&mut self, fd: &OwnedFd, path: &str, depth: usize) {
        let names = match names(fd) {
            Ok(names) => names,
            Err(error) => return self.unreadable(if path.is_empty() { "." } else { path }, &error),
        };
        for name in names {
            self.entries += 1;
            if self.entries > ENTRIES_MAX || depth > DEPTH_MAX {
                // Report it once and read nothing more.
                if !self.faults.iter().any(|fault| matches!(fault, VerifyError::TooMany { .. })) {
                    self.faults.push(VerifyError::TooMany { path: path.to_owned() });
                }
                return;
            }
            // A record cannot contain a name that is not UTF-8. It is reported and not opened.
            let Ok(name) = String::from_utf8(name) else {
                self.faults.push(VerifyError::NotNamed { path: format!("{path}/(not UTF-8)") });
                continue;
            };
            let below = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            if let Err(error) = self.entry(fd, &name, &below, depth) {
                self.unreadable(&below, &error);
            }
        }
    }

    fn entry(&mut self, fd: &OwnedFd, name: &str, path: &str, depth: usize) -> io::Result<()> {
        // Check the type before opening: opening a device or a FIFO can have effects.
        let stat = rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if is_own_file(path) => {
                self.own_files.insert(path.to_owned());
                return Ok(());
            }
            FileType::RegularFile => {
                let sha256 = hash(open_file(fd, name)?, &mut self.chunk)?;
                self.files.insert(path.to_owned(), sha256);
                return Ok(());
            }
            FileType::Directory => {
                let below = open_directory(fd, name)?;
                self.directories.insert(path.to_owned());
                self.directory(&below, path, depth + 1);
                return Ok(());
            }
            FileType::Symlink => "symlink",
            FileType::Fifo => "fifo",
            FileType::Socket => "socket",
            _ => "device",
        };
        self.unhashed.insert(path.to_owned());
        self.faults.push(VerifyError::FileType { path: path.to_owned(), kind });
        Ok(())
    }
}

/// The suffixes of a record's own files, after its id: record, signature, bundle and proof.
pub(crate) const OWN_SUFFIXES: [&str; 4] = [".md", ".md.sig", ".bundle.json", ".tlog-proof"];

pub(crate) fn is_own_file(path: &str) -> bool {
    !path.contains('/') && OWN_SUFFIXES.iter().any(|ending| path.ends_with(ending))
}

/// Reads a small file directly in the directory. Returns `None` if it is larger than `bytes_max`.
pub(crate) fn read_bounded(
    root: BorrowedFd<'_>,
    name: &str,
    bytes_max: u64,
) -> io::Result<Option<Vec<u8>>> {
    /// Most files of a record are smaller.
    const RESERVED: u64 = 16 * 1024;
    let mut bytes = Vec::with_capacity(usize::try_from(bytes_max.min(RESERVED)).unwrap_or(0));
    open_file(root, name)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= bytes_max);
    Ok(fits.then_some(bytes))
}

/// Reads a small file at a path below the directory, likewise.
pub(crate) fn read_below(
    root: BorrowedFd<'_>,
    path: &str,
    bytes_max: u64,
) -> io::Result<Option<Vec<u8>>> {
    match path.split_once('/') {
        None => read_bounded(root, path, bytes_max),
        Some((directory, rest)) => {
            read_below(open_directory(root, directory)?.as_fd(), rest, bytes_max)
        }
    }
}

pub(crate) fn open_directory(at: impl std::os::fd::AsFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(at, name, flags, Mode::empty())?)
}

pub(crate) fn open_file(at: impl std::os::fd::AsFd, name: &str) -> io::Result<File> {
    // NONBLOCK: the file may have been replaced by a FIFO.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(at, name, flags, Mode::empty())?);
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

fn names(fd: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(fd)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
        if names.len() > ENTRIES_MAX {
            break;
        }
    }
    // Directory order is arbitrary; faults have the same order everywhere.
    names.sort();
    Ok(names)
}

fn hash(mut file: File, chunk: &mut [u8]) -> io::Result<Sha256> {
    let mut stream = Sha256Stream::new();
    loop {
        match file.read(chunk) {
            Ok(0) => return Ok(stream.finish()),
            Ok(read) => stream.update(chunk.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
