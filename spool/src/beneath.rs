//! Reads regular files that others may write: beneath one directory, without links, with a limit.
//! `removal` removes such trees.

mod removal;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

pub(crate) use removal::{remove_tree, try_remove_tree};
use rustix::fs::{FileType, SeekFrom, Stat, fstat, seek};
pub(crate) use trees::open_beneath;

use crate::error::SpoolError;

/// The number of hard links that a readable file may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllowedLinks {
    One,
    Any,
}

/// Reads an open file of at most `bytes_max` bytes. Returns its bytes and its owner.
pub(crate) fn read_bounded(
    file: &OwnedFd,
    path: &Path,
    bytes_max: usize,
    links: AllowedLinks,
) -> Result<(Vec<u8>, u32), SpoolError> {
    let (bytes, stat, file) = read_once(file, path, bytes_max, links)?;
    check_not_written(&file, &stat, &bytes, path)?;
    Ok((bytes, stat.st_uid))
}

/// Reads an open file with one link, and does not wait for a write in progress: another user can
/// hold the lock of its own file for ever. The bytes may be those of two versions, so a digest or a
/// signature must cover them. XFS waits nevertheless, because it takes the lock to read.
pub(crate) fn read_unlocked(
    file: &OwnedFd,
    path: &Path,
    bytes_max: usize,
) -> Result<Vec<u8>, SpoolError> {
    read_once(file, path, bytes_max, AllowedLinks::One).map(|(bytes, _, _)| bytes)
}

/// Returns the bytes, the state of the file before they were read, and the file itself.
fn read_once(
    file: &OwnedFd,
    path: &Path,
    bytes_max: usize,
    links: AllowedLinks,
) -> Result<(Vec<u8>, Stat, File), SpoolError> {
    let stat = fstat(file).map_err(SpoolError::errno(path, "stat"))?;
    check_regular_file(&stat, path, links)?;
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let too_large = || SpoolError::TooLarge { path: path.to_owned(), bytes_max: most };
    if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0));
    let duplicate = file.as_fd().try_clone_to_owned().map(File::from);
    let duplicate = duplicate.map_err(SpoolError::io(path, "read"))?;
    let read = (&duplicate).take(most + 1).read_to_end(&mut bytes);
    read.map_err(SpoolError::io(path, "read"))?;
    // The file may have grown since the stat.
    if bytes.len() > bytes_max {
        return Err(too_large());
    }
    Ok((bytes, stat, duplicate))
}

/// Checks that the file did not change while it was read. Most kernels keep coarse modification
/// times, so the bytes are compared too. To wait for a write in progress, this first seeks a hole,
/// which takes the writer's lock. Reading takes that lock on XFS, but not on ext4 and tmpfs.
fn check_not_written(
    file: &File,
    before: &Stat,
    bytes: &[u8],
    path: &Path,
) -> Result<(), SpoolError> {
    match seek(file, SeekFrom::Hole(0)) {
        // An empty file, or a file system without holes.
        Ok(_) | Err(rustix::io::Errno::NXIO | rustix::io::Errno::INVAL) => {}
        Err(errno) => return Err(SpoolError::errno(path, "seek a hole")(errno)),
    }
    let mut again = vec![0; bytes.len()];
    let same = match file.read_exact_at(&mut again, 0) {
        Ok(()) => again == bytes,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(SpoolError::io(path, "read again")(error)),
    };
    let after = fstat(file).map_err(SpoolError::errno(path, "stat again"))?;
    let written = |stat: &Stat| (stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
    match same && written(before) == written(&after) {
        true => Ok(()),
        false => Err(SpoolError::Changed { path: path.to_owned() }),
    }
}

pub(crate) fn check_regular_file(
    stat: &Stat,
    path: &Path,
    links: AllowedLinks,
) -> Result<(), SpoolError> {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if links == AllowedLinks::One && stat.st_nlink != 1 => "a hard link",
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a device",
    };
    Err(SpoolError::FileKind { path: path.to_owned(), kind })
}
