//! Copies the planned entries of a folder. It must never follow a link of the folder: another
//! process may have replaced an entry since the plan was made.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;

use rustix::fs::{
    FileType, Mode, OFlags, ResolveFlags, fchmod, fstat, mkdirat, openat, openat2, symlinkat,
};
use trees::TreeError;

use super::model::{FolderPlan, PlannedEntry, PlannedKind};

const EXECUTE_BITS: u32 = 0o111;
const OWNER_BITS: u32 = 0o700;

/// Copies the entries into an empty directory. The files together have at most `bytes_max` bytes.
pub(super) fn copy(
    plan: &FolderPlan,
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    bytes_max: u64,
) -> Result<(), TreeError> {
    let mut left = bytes_max;
    for entry in &plan.entries {
        let path = entry.path.as_str();
        match &entry.kind {
            PlannedKind::Directory => mkdirat(to, path, Mode::from_raw_mode(0o777))
                .map_err(|errno| failed(entry, "create", errno))?,
            PlannedKind::Link(target) => symlinkat(target.as_c_str(), to, path)
                .map_err(|errno| failed(entry, "create", errno))?,
            PlannedKind::File => {
                let copied = copy_file(entry, from, to, left)?;
                let too_many = || TreeError::TooManyBytes { path: path.to_owned(), bytes_max };
                left = left.checked_sub(copied).ok_or_else(too_many)?;
            }
        }
    }
    Ok(())
}

/// Copies at most one byte more than `left`, and returns the number of bytes.
fn copy_file(
    entry: &PlannedEntry,
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    left: u64,
) -> Result<u64, TreeError> {
    let path = entry.path.as_str();
    // NONBLOCK, NOCTTY: the file may have been replaced by a FIFO or a terminal.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let source = openat2(from, path, flags, Mode::empty(), beneath);
    let source = File::from(source.map_err(|errno| failed(entry, "open", errno))?);
    let stat = fstat(&source).map_err(|errno| failed(entry, "stat", errno))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(TreeError::Changed { path: path.to_owned() });
    }
    let is_program = stat.st_mode & EXECUTE_BITS != 0;
    let mode = if is_program { 0o777 } else { 0o666 };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let target = openat(to, path, flags, Mode::from_raw_mode(mode));
    let mut target = File::from(target.map_err(|errno| failed(entry, "create", errno))?);
    if is_program {
        // The digest covers the execute bit, and the umask may have taken it.
        fstat(&target)
            .and_then(|made| fchmod(&target, Mode::from_raw_mode(made.st_mode | OWNER_BITS)))
            .map_err(|errno| failed(entry, "set the mode of", errno))?;
    }
    io::copy(&mut source.take(left.saturating_add(1)), &mut target)
        .map_err(|error| failed(entry, "copy", error))
}

fn failed(entry: &PlannedEntry, act: &'static str, error: impl Into<io::Error>) -> TreeError {
    TreeError::Io { path: entry.path.clone(), act, error: error.into() }
}
