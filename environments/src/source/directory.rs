//! A directory that is copied: files, directories and symbolic links. Each object is opened by the
//! descriptor of its directory, and no link is followed, so that another process that changes the
//! directory meanwhile can add nothing from outside it. A copied link may lead out of the tree: the
//! digest of the copy refuses it.

use std::ffi::CStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, mkdirat, open, openat, readlinkat, statat, symlinkat,
};
use rustix::io::Errno;

use super::error::SourceError;
use crate::UnpackLimits;

const DIRECTORY_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// The set-user-ID and set-group-ID bits.
const SET_ID: u32 = 0o6000;

/// Copies a directory into an empty one. `progress` gets the bytes copied so far.
///
/// # Errors
/// An object of another kind, a set-user-ID file, a file that changes, an exceeded limit, or an I/O
/// error. The copy is incomplete then.
pub fn copy_directory(
    source: &Path,
    into: &Path,
    limits: &UnpackLimits,
    progress: &mut dyn FnMut(u64),
) -> Result<(), SourceError> {
    let open = |path: &Path| {
        // The caller typed the path of the top, which may be a link.
        let opened = open(path, DIRECTORY_FLAGS.difference(OFlags::NOFOLLOW), Mode::empty());
        opened.map_err(|errno| SourceError::io(path)(errno.into()))
    };
    let (from, to) = (open(source)?, open(into)?);
    let path = source.to_owned();
    let mut copier = DirectoryCopier { path, depth: 0, entries: 0, bytes: 0, limits, progress };
    copier.directory(from.as_fd(), to.as_fd())
}

struct DirectoryCopier<'a> {
    /// The path of the object at hand, for messages.
    path: PathBuf,
    depth: u32,
    entries: u64,
    bytes: u64,
    limits: &'a UnpackLimits,
    progress: &'a mut dyn FnMut(u64),
}

impl DirectoryCopier<'_> {
    fn directory(&mut self, from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> Result<(), SourceError> {
        let mut names = Vec::new();
        for entry in Dir::read_from(from).map_err(|errno| self.io(errno))? {
            let entry = entry.map_err(|errno| self.io(errno))?;
            if entry.file_name() != c"." && entry.file_name() != c".." {
                self.entries += 1;
                self.check_limits()?;
                names.push(entry.file_name().to_owned());
            }
        }
        for name in &names {
            self.path.push(model::escape_line(&name.to_string_lossy()));
            self.entry(from, to, name)?;
            self.path.pop();
        }
        Ok(())
    }

    fn entry(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        name: &CStr,
    ) -> Result<(), SourceError> {
        let about = statat(from, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|it| self.io(it))?;
        match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => self.file(from, to, name),
            FileType::Directory => {
                self.depth += 1;
                self.check_limits()?;
                mkdirat(to, name, Mode::from_raw_mode(0o755)).map_err(|errno| self.io(errno))?;
                let open = |at| openat(at, name, DIRECTORY_FLAGS, Mode::empty());
                let from = open(from).map_err(|errno| self.io(errno))?;
                let to = open(to).map_err(|errno| self.io(errno))?;
                self.directory(from.as_fd(), to.as_fd())?;
                self.depth -= 1;
                Ok(())
            }
            FileType::Symlink => {
                let target = readlinkat(from, name, Vec::new()).map_err(|errno| self.io(errno))?;
                symlinkat(target.as_c_str(), to, name).map_err(|errno| self.io(errno))
            }
            _ => Err(self.refused("is a device, a FIFO or a socket", "remove it")),
        }
    }

    fn file(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        name: &CStr,
    ) -> Result<(), SourceError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.open(from, name, flags, 0)?;
        let before = file.metadata().map_err(|error| self.io(error))?;
        if !before.is_file() {
            return Err(self.refused("changed while it was copied", "stop its writer"));
        }
        if before.mode() & SET_ID != 0 {
            let help = "remove its set-user-ID and set-group-ID bits";
            return Err(self.refused("would run with the rights of its owner", help));
        }
        let mode = if before.mode() & 0o111 == 0 { 0o644 } else { 0o755 };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mut copy = self.open(to, name, flags, mode)?;
        let room = self.limits.bytes_max.saturating_sub(self.bytes).saturating_add(1);
        let copied = io::copy(&mut (&file).take(room), &mut copy);
        self.bytes += copied.map_err(|error| self.io(error))?;
        self.check_limits()?;
        let after = file.metadata().map_err(|error| self.io(error))?;
        if state_of(&before) != state_of(&after) {
            return Err(self.refused("changed while it was copied", "stop its writer"));
        }
        (self.progress)(self.bytes);
        Ok(())
    }

    fn open(
        &self,
        directory: BorrowedFd<'_>,
        name: &CStr,
        flags: OFlags,
        mode: u32,
    ) -> Result<File, SourceError> {
        let opened: Result<OwnedFd, Errno> =
            openat(directory, name, flags | OFlags::CLOEXEC, Mode::from_raw_mode(mode));
        opened.map(File::from).map_err(|errno| self.io(errno))
    }

    fn check_limits(&self) -> Result<(), SourceError> {
        let UnpackLimits { entries_max, bytes_max, depth_max, .. } = self.limits;
        let problem = if self.entries > *entries_max {
            format!("more than {entries_max} entries")
        } else if self.bytes > *bytes_max {
            format!("more than {bytes_max} bytes")
        } else if self.depth > *depth_max {
            format!("more than {depth_max} directories deep")
        } else {
            return Ok(());
        };
        Err(self.refused(&problem, "name a smaller directory"))
    }

    fn refused(&self, problem: &str, help: &str) -> SourceError {
        SourceError::refused(format!("{}: {problem}", self.path.display()), help)
    }

    fn io(&self, error: impl Into<io::Error>) -> SourceError {
        SourceError::io(&self.path)(error.into())
    }
}

/// The facts that change when a file is written to.
fn state_of(about: &Metadata) -> (u64, i64, i64, i64, i64) {
    let (changed, changed_nsec) = (about.ctime(), about.ctime_nsec());
    (about.len(), about.mtime(), about.mtime_nsec(), changed, changed_nsec)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test keeps none of its files")]

    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Returns the result of copying a directory that `fill` made.
    fn copied(name: &str, fill: impl Fn(&Path), check: impl Fn(&Path)) -> Result<(), SourceError> {
        let place = std::env::temp_dir().join(format!("copy-{name}-{}", std::process::id()));
        let (from, to) = (place.join("from"), place.join("to"));
        fs::create_dir_all(from.join("bin")).unwrap();
        fs::create_dir(&to).unwrap();
        fill(&from);
        let limits = UnpackLimits { bytes_max: 1000, entries_max: 10, ..UnpackLimits::default() };
        let done = copy_directory(&from, &to, &limits, &mut |_| {});
        check(&to);
        fs::remove_dir_all(&place).unwrap();
        done
    }

    fn refusal(name: &str, fill: impl Fn(&Path)) -> String {
        copied(name, fill, |_| {}).unwrap_err().to_string()
    }

    #[test]
    fn files_directories_and_links_are_copied() {
        let fill = |from: &Path| {
            fs::write(from.join("bin/run"), "run").unwrap();
            fs::set_permissions(from.join("bin/run"), Permissions::from_mode(0o755)).unwrap();
            fs::write(from.join("data"), "data").unwrap();
            symlink("bin/run", from.join("link")).unwrap();
        };
        let check = |to: &Path| {
            let mode = |name: &str| fs::metadata(to.join(name)).unwrap().mode() & 0o111;
            assert_eq!(fs::read(to.join("bin/run")).unwrap(), b"run");
            assert!(mode("bin/run") != 0 && mode("data") == 0);
            assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("bin/run"));
        };
        copied("good", fill, check).unwrap();
    }

    #[test]
    fn other_objects_and_large_trees_are_refused() {
        let socket = refusal("socket", |from| {
            UnixListener::bind(from.join("s")).unwrap();
        });
        assert!(socket.contains("/s: is a device, a FIFO or a socket; help: "), "{socket}");
        let set_id = refusal("set-id", |from| {
            fs::write(from.join("su"), "").unwrap();
            fs::set_permissions(from.join("su"), Permissions::from_mode(0o4755)).unwrap();
        });
        assert!(set_id.contains("/su: would run with the rights of its owner"), "{set_id}");
        let large = refusal("large", |from| fs::write(from.join("a"), [0_u8; 1001]).unwrap());
        assert!(large.contains("more than 1000 bytes"), "{large}");
        let many = refusal("many", |from| {
            (0..10).for_each(|at| fs::write(from.join(at.to_string()), "").unwrap());
        });
        assert!(many.contains("more than 10 entries"), "{many}");
    }
}
