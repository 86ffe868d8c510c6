//! Bounded reads of files and directories that the caller named. Each function checks the type.

use std::fs::{self, File, FileType};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::failure::Failure;

/// Returns the real path of a directory. Symbolic links are followed: the caller typed them.
pub(crate) fn named_directory(option: &str, path: &Path) -> Result<PathBuf, Failure> {
    let shown = format!("{option} {}", path.display());
    let real = fs::canonicalize(path).map_err(|error| {
        Failure::Message(records::reason_with_io_help(&format!("{shown}: {error}"), &error))
    })?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(Failure::Message(format!("{shown}: not a directory; help: name a directory"))),
    }
}

/// Checks that a directory belongs to the caller. Files of another user would permanently obstruct
/// its owner.
pub(crate) fn require_owner(directory: &Path) -> Result<(), Failure> {
    let owner = fs::metadata(directory).map_err(Failure::io(directory))?.uid();
    if owner == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let shown = directory.display();
    Err(Failure::Message(format!("{shown}: owned by uid {owner}; help: run this as that user")))
}

/// Opens a regular file without blocking. A FIFO is refused: it might never end.
pub(crate) fn open_document(path: &Path) -> Result<File, Failure> {
    let kind = |kind: &str| {
        Failure::Message(format!("{}: is {kind}; help: name a regular file", path.display()))
    };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NXIO) => return Err(kind("a socket")),
        Err(errno) => return Err(Failure::io(path)(errno.into())),
    };
    match file.metadata().map_err(Failure::io(path))?.file_type() {
        found if found.is_file() => Ok(file),
        found => Err(kind(kind_of(found))),
    }
}

fn kind_of(found: FileType) -> &'static str {
    match found {
        found if found.is_dir() => "a directory",
        found if found.is_fifo() => "a FIFO",
        _ => "a device",
    }
}

/// Reads a document of at most `bytes_max` bytes.
pub(crate) fn read_document(path: &Path, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    read(open_document(path)?, path, bytes_max)
}

/// Reads a file or a pipe of at most `bytes_max` bytes. Keys are often passed as `<(command)`.
pub(crate) fn read_file(path: &Path, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    read(File::open(path).map_err(Failure::io(path))?, path, bytes_max)
}

fn read(file: File, path: &Path, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(Failure::io(path))?;
    if bytes.len() > bytes_max {
        return Err(Failure::TooLarge(path.to_owned(), most));
    }
    Ok(bytes)
}
