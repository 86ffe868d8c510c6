//! Finds a program inside a directory that serves as its own root file system. The kernel resolves
//! the links inside, because a separate implementation could disagree with it: an absolute link
//! starts at that root, and no link leads out of it.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};

use super::elf::is_elf;

/// Returns the path of a program as seen from inside, with its links resolved.
pub(super) fn program_in(root: &Path, binary: &Path) -> Result<PathBuf, String> {
    let root = fs::canonicalize(root).map_err(|error| format!("{}: {error}", root.display()))?;
    let wrong = |why: String| format!("{} in {}: {why}", binary.display(), root.display());
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let top = open(&root, flags | OFlags::DIRECTORY, Mode::empty())
        .map_err(|errno| wrong(errno.to_string()))?;
    let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let opened = openat2(&top, binary, flags, Mode::empty(), inside)
        .map_err(|errno| wrong(errno.to_string()))?;
    let real = fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd()))
        .map_err(|error| wrong(error.to_string()))?;
    let within = real.strip_prefix(&root).map_err(|_| wrong("outside this root".to_owned()))?;
    if !is_elf(&real) {
        return Err(wrong("not an ELF program".to_owned()));
    }
    Ok(Path::new("/").join(within))
}
