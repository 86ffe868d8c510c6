//! Copies a folder of `/in` to `/out/work`, when init is the tool's user and has no capability. It
//! must never follow a link. However deep the folder, it opens few files at a time. The tool has
//! not started, so nothing changes either tree meanwhile.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::fcntl::AtFlags;
use nix::sys::stat::{FileStat, SFlag, fstatat};
use rustix::fs::{Mode, OFlags, mkdirat, open, openat, readlinkat, symlinkat};

use super::super::Failed;
use super::super::beneath::{DIRECTORY, FILE, is_executable, kind_of, names_in, open_beneath};
use crate::plan::{WORK_DEPTH_MAX, WorkFolder};
use crate::steps::SetupStep;
use crate::work::WORK_DIRECTORY;

const BUFFER_BYTES: usize = 256 * 1024;
/// The longest path that an error shows, characters; the launcher accepts no longer text.
const SHOWN_CHARS_MAX: usize = 400;

/// Copies the folder. An error names the object that could not be copied.
pub(super) fn copy_folder(folder: &WorkFolder) -> Result<(), Failed> {
    SetupStep::CopyWork.begin();
    let mut copy = FolderCopy::begin(folder).map_err(failed(folder, Path::new("")))?;
    let mut waiting = vec![PathBuf::new()];
    while let Some(path) = waiting.pop() {
        copy.directory(folder, &path, &mut waiting)?;
    }
    SetupStep::end();
    Ok(())
}

/// Returns the error of an object. The text is made only after a failure.
fn failed(folder: &WorkFolder, path: &Path) -> impl FnOnce(io::Error) -> Failed {
    move |error| {
        let path = Path::new(folder.as_str()).join(path).to_string_lossy().into_owned();
        let shown: String = path.trim_end_matches('/').chars().take(SHOWN_CHARS_MAX).collect();
        let step = format!("copy /in/{} to /out/work", model::escape_line(&shown));
        Failed::at(&step)(error)
    }
}

struct FolderCopy {
    from: OwnedFd,
    to: OwnedFd,
    buffer: Vec<u8>,
}

impl FolderCopy {
    /// Opens the folder and makes its copy, still empty.
    fn begin(folder: &WorkFolder) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let inputs = open("/in", flags, Mode::empty())?;
        let from = open_beneath(&inputs, folder.as_str(), DIRECTORY)?;
        let out = open("/out", flags, Mode::empty())?;
        let to = make_directory(&out, Path::new(WORK_DIRECTORY))?;
        Ok(Self { from, to, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Copies the objects of one directory, and adds the directories below it to `waiting`.
    fn directory(
        &mut self,
        folder: &WorkFolder,
        path: &Path,
        waiting: &mut Vec<PathBuf>,
    ) -> Result<(), Failed> {
        let (from, to) = self.open_both(path).map_err(failed(folder, path))?;
        for name in names_in(&from).map_err(failed(folder, path))? {
            let below = path.join(OsStr::from_bytes(name.to_bytes()));
            let kind = self.object(&from, &to, &name).map_err(failed(folder, &below))?;
            if kind == SFlag::S_IFDIR {
                check_depth(&below).map_err(failed(folder, &below))?;
                waiting.push(below);
            }
        }
        Ok(())
    }

    /// Opens the same directory in both trees, by its whole path.
    fn open_both(&self, path: &Path) -> io::Result<(OwnedFd, OwnedFd)> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let from = open_beneath(&self.from, path, DIRECTORY)?;
        Ok((from, open_beneath(&self.to, path, DIRECTORY)?))
    }

    /// Copies one object, a directory without its content. Returns its kind.
    fn object(&mut self, from: &OwnedFd, to: &OwnedFd, name: &CStr) -> io::Result<SFlag> {
        let stat = fstatat(from, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        let kind = kind_of(&stat);
        if kind == SFlag::S_IFDIR {
            mkdirat(to, name, Mode::from_raw_mode(0o755))?;
        } else if kind == SFlag::S_IFLNK {
            let target = readlinkat(from, name, Vec::<u8>::new())?;
            symlinkat(&target, to, name)?;
        } else if kind == SFlag::S_IFREG {
            self.file(from, to, name, &stat)?;
        } else {
            return Err(io::Error::other("not a file, directory or symbolic link"));
        }
        Ok(kind)
    }

    fn file(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        name: &CStr,
        stat: &FileStat,
    ) -> io::Result<()> {
        let mut original = File::from(open_beneath(from, name, FILE)?);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if is_executable(stat) { 0o755 } else { 0o644 };
        let mut copy = File::from(openat(to, name, flags, Mode::from_raw_mode(mode))?);
        loop {
            match original.read(&mut self.buffer) {
                Ok(0) => return Ok(()),
                Ok(len) => copy.write_all(&self.buffer[..len])?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn make_directory(parent: &OwnedFd, name: &Path) -> io::Result<OwnedFd> {
    mkdirat(parent, name, Mode::from_raw_mode(0o755))?;
    Ok(open_beneath(parent, name, DIRECTORY)?)
}

fn check_depth(path: &Path) -> io::Result<()> {
    let depth = u32::try_from(path.components().count()).unwrap_or(u32::MAX);
    if depth <= WORK_DEPTH_MAX {
        return Ok(());
    }
    let most = format!("more than {WORK_DEPTH_MAX} directories deep");
    Err(io::Error::other(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_object_on_one_line() {
        let folder = WorkFolder::new("a/repo").unwrap();
        let full = || io::Error::from_raw_os_error(libc::ENOSPC);
        let text = |path: &str| failed(&folder, Path::new(path))(full()).to_string();
        let suffix = "to /out/work: No space left on device (os error 28)";
        assert_eq!(text("b/c"), format!("cannot copy /in/a/repo/b/c {suffix}"));
        assert_eq!(text(""), format!("cannot copy /in/a/repo {suffix}"));
        assert_eq!(text("b\nc"), format!("cannot copy /in/a/repo/b\\u{{a}}c {suffix}"));
        assert!(text(&"d/".repeat(2000)).len() < 1000);
    }

    #[test]
    fn a_folder_may_be_sixty_four_directories_deep() {
        let path = |depth: usize| PathBuf::from(vec!["d"; depth].join("/"));
        assert!(check_depth(&path(64)).is_ok());
        let error = check_depth(&path(65)).unwrap_err();
        assert_eq!(error.to_string(), "more than 64 directories deep");
    }
}
