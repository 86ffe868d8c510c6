//! Reads the two versions of a file: the staged original, and the content that was collected. Each
//! is opened beneath its directory. A link must never be followed, and no file is read without a
//! limit.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use patches::{PatchError, PatchedFile, PatchedFileKind};
use rustix::fs::{FileType, Mode, OFlags, fstat, open, readlinkat};
use rustix::io::Errno;
use sandbox::plan::WORK_FILE_BYTES_MAX;
use sandbox::report::ChangedFile;

const EXECUTE_BITS: u32 = 0o111;

/// A version of a file in memory.
pub(super) struct FileVersion {
    kind: PatchedFileKind,
    bytes: Vec<u8>,
}

impl FileVersion {
    pub(super) fn view(&self) -> PatchedFile<'_> {
        PatchedFile { kind: self.kind, bytes: &self.bytes }
    }
}

/// The staged copy of an input folder, of which the tool saw the same bytes.
pub(super) struct OriginalFolder {
    top: OwnedFd,
}

impl OriginalFolder {
    /// Opens the folder at a path in a slot.
    pub(super) fn open(slot: &Path, folder: &str) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let slot = open(slot, flags, Mode::empty())?;
        Ok(Self { top: open_beneath(&slot, folder, OFlags::RDONLY | OFlags::DIRECTORY)? })
    }

    pub(super) fn top(&self) -> &OwnedFd {
        &self.top
    }

    /// Returns the file or link at a path, if there is one. A file of more bytes than a changed one
    /// may have makes the patch too large.
    pub(super) fn read(&self, path: &str) -> Result<Option<FileVersion>, PatchError> {
        let found = match open_beneath(&self.top, path, OFlags::PATH) {
            Ok(found) => found,
            // The path is new, or leads through a file or link.
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mode = fstat(&found).map_err(io::Error::from)?.st_mode;
        let version = match FileType::from_raw_mode(mode) {
            FileType::RegularFile => {
                let file = open_beneath(&self.top, path, OFlags::RDONLY)?;
                FileVersion { kind: file_kind(mode & EXECUTE_BITS != 0), bytes: content(file)? }
            }
            FileType::Symlink => {
                let target = readlinkat(&found, "", Vec::<u8>::new()).map_err(io::Error::from)?;
                FileVersion { kind: PatchedFileKind::Symlink, bytes: target.into_bytes() }
            }
            _ => return Ok(None),
        };
        Ok(Some(version))
    }
}

/// Reads the collected content of this number.
pub(super) fn read_changed(
    work: &OwnedFd,
    number: usize,
    file: &ChangedFile,
) -> Result<FileVersion, PatchError> {
    let opened = open_beneath(work, &number.to_string(), OFlags::RDONLY)?;
    Ok(FileVersion { kind: file_kind(file.executable), bytes: content(opened)? })
}

/// Opens an object beneath a directory.
pub(super) fn open_beneath(directory: impl AsFd, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(trees::open_beneath(directory, path, flags)?)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

fn file_kind(executable: bool) -> PatchedFileKind {
    if executable { PatchedFileKind::Executable } else { PatchedFileKind::Regular }
}

fn content(file: OwnedFd) -> Result<Vec<u8>, PatchError> {
    let mut bytes = Vec::new();
    File::from(file).take(WORK_FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= WORK_FILE_BYTES_MAX) {
        true => Ok(bytes),
        false => Err(PatchError::TooLarge),
    }
}
