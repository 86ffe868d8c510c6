//! Writes the entries of a checked archive below a directory. Each file is new, and no part of a
//! path is followed if it is a link.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, statat};
use rustix::io::Errno;

use super::reader::{ArchiveEntry, ArchiveEntryKind, OutArchive};

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FILE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The directory that receives the files of a guest.
#[derive(Debug)]
pub struct OutDirectory {
    top: OwnedFd,
    /// The directory of the last entry, which often contains the next one too.
    parent: Option<(String, OwnedFd)>,
}

impl OutDirectory {
    /// Opens the directory.
    ///
    /// # Errors
    /// If it is not a directory or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { top: openat(CWD, path, DIRECTORY, Mode::empty())?, parent: None })
    }

    /// Returns the first entry whose name exists already.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn reserved<'a>(&self, archive: &'a OutArchive) -> io::Result<Option<&'a str>> {
        // An entry below another one exists only if that one does.
        for entry in archive.entries().iter().filter(|it| !it.name.contains('/')) {
            match statat(&self.top, entry.name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => return Ok(Some(entry.name.as_str())),
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Writes every entry.
    ///
    /// # Errors
    /// With the name of the first entry that could not be written.
    pub fn write<R: Read + Seek>(&mut self, archive: &OutArchive, disk: &mut R) -> io::Result<()> {
        for entry in archive.entries() {
            self.entry(entry, disk).map_err(|error| {
                io::Error::new(error.kind(), format!("{:?}: {error}", entry.name))
            })?;
        }
        Ok(())
    }

    fn entry<R: Read + Seek>(&mut self, entry: &ArchiveEntry, disk: &mut R) -> io::Result<()> {
        let (parent, leaf) = entry.name.rsplit_once('/').unwrap_or(("", &entry.name));
        let directory = self.parent(parent)?;
        let executable = match entry.kind {
            ArchiveEntryKind::Directory => {
                mkdirat(directory, leaf, Mode::from_raw_mode(0o755))?;
                return Ok(());
            }
            ArchiveEntryKind::File { executable } => executable,
        };
        let mode = Mode::from_raw_mode(if executable { 0o755 } else { 0o644 });
        let mut file = File::from(openat(directory, leaf, NEW_FILE, mode)?);
        disk.seek(SeekFrom::Start(entry.offset))?;
        let copied = io::copy(&mut disk.by_ref().take(entry.size), &mut file)?;
        if copied != entry.size {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok(())
    }

    fn parent(&mut self, path: &str) -> io::Result<BorrowedFd<'_>> {
        if path.is_empty() {
            return Ok(self.top.as_fd());
        }
        let known = self.parent.take().filter(|(known, _)| known == path);
        let opened = match known {
            Some(opened) => opened,
            None => (path.to_owned(), self.descend(path)?),
        };
        Ok(self.parent.insert(opened).1.as_fd())
    }

    /// Opens one part of a path after the other.
    fn descend(&self, path: &str) -> io::Result<OwnedFd> {
        let mut directory = self.top.try_clone()?;
        for part in path.split('/') {
            directory = openat(&directory, part, DIRECTORY, Mode::empty())?;
        }
        Ok(directory)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::directory_for_tests::TestDirectory;

    #[test]
    fn an_existing_link_is_never_followed() {
        let (place, outside) = (TestDirectory::new("link"), TestDirectory::new("outside"));
        std::fs::create_dir(outside.path().join("b")).unwrap();
        symlink(outside.path(), place.path().join("a")).unwrap();
        let directory = OutDirectory::open(place.path()).unwrap();
        assert!(directory.descend("a").is_err());
        assert!(directory.descend("a/b").is_err());
        assert!(OutDirectory::open(&place.path().join("a")).is_err(), "the top is a link");
        assert!(OutDirectory::open(outside.path()).unwrap().descend("b").is_ok());
    }
}
