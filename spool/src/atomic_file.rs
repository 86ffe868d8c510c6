//! Atomic creation of a file in a directory that others may write to. The file gets a hidden name
//! that cannot be guessed, and only its descriptor is used until the rename. It must never follow a
//! link, wait for an object put in the file's place, or change another file.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, Stat, fstat, openat, renameat, renameat_with, statat,
    unlinkat,
};

use crate::random::random_bytes;

/// A file that does not have its final name yet. Dropping it removes it.
pub(crate) struct AtomicFile {
    /// Kept open, so that replacing the directory has no effect.
    directory: OwnedFd,
    name: OsString,
    hidden: OsString,
    file: File,
    placed: bool,
}

impl AtomicFile {
    pub(crate) fn create_for(target: &Path, mode: u32) -> io::Result<Self> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, parent_of(target), flags, Mode::empty())?;
        Self::create_in(directory, name, mode)
    }

    pub(crate) fn create_in(directory: OwnedFd, name: &OsStr, mode: u32) -> io::Result<Self> {
        let hidden = hidden_name(name)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&directory, &hidden, flags, Mode::from_raw_mode(mode))?;
        let (name, file) = (name.to_owned(), File::from(file));
        Ok(Self { directory, name, hidden, file, placed: false })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Copies the mode and, if allowed, the group of the file that is replaced. If that file
    /// belongs to another user, group and others lose write access, because this user now owns the
    /// file. The set-user-ID, set-group-ID and sticky bits are never copied.
    pub(crate) fn copy_owner_and_mode(&self, like: &Metadata) -> io::Result<()> {
        let ours = self.file.metadata()?;
        let mut mode = like.mode() & 0o777;
        if ours.uid() != like.uid() {
            mode &= !0o022;
        }
        if ours.gid() != like.gid() {
            match fchown(&self.file, None, Some(like.gid())) {
                // The file keeps this user's group, which gets the access of others.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    mode = (mode & 0o707) | ((mode & 0o007) << 3);
                }
                changed => changed?,
            }
        }
        self.file.set_permissions(Permissions::from_mode(mode))
    }

    /// Sets the mode, regardless of the umask.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(mode))
    }

    /// Gives the file its final name, which must not exist. The contents are durable.
    ///
    /// # Errors
    /// The name exists, the file was tampered with, or an I/O error. The file is removed then.
    pub(crate) fn place(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        self.check_same_file()?;
        let (at, to) = (&self.directory, &self.name);
        renameat_with(at, &self.hidden, at, to, RenameFlags::NOREPLACE)?;
        self.placed = true;
        Ok(())
    }

    /// Replaces an existing file. A reader sees either the old file or the new one, whole.
    ///
    /// # Errors
    /// The file was tampered with, or an I/O error. The file is removed then.
    pub(crate) fn replace(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        self.check_same_file()?;
        renameat(&self.directory, &self.hidden, &self.directory, &self.name)?;
        self.placed = true;
        Ok(())
    }

    /// The same for a file that need not survive a crash.
    ///
    /// # Errors
    /// As [`Self::replace`].
    pub(crate) fn replace_without_sync(mut self) -> io::Result<()> {
        self.check_same_file()?;
        renameat(&self.directory, &self.hidden, &self.directory, &self.name)?;
        self.placed = true;
        Ok(())
    }

    fn check_same_file(&self) -> io::Result<()> {
        if self.is_same_file()? {
            return Ok(());
        }
        Err(io::Error::other(
            "another file replaced it; help: stop the other process that writes to this directory",
        ))
    }

    fn is_same_file(&self) -> io::Result<bool> {
        let there = statat(&self.directory, &self.hidden, AtFlags::SYMLINK_NOFOLLOW)?;
        let same = |a: &Stat, b: &Stat| (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino);
        Ok(same(&there, &fstat(&self.file)?))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.placed {
            return;
        }
        // Another object under the hidden name must not be removed.
        let removed = self.is_same_file().and_then(|ours| match ours {
            true => Ok(unlinkat(&self.directory, &self.hidden, AtFlags::empty())?),
            false => Ok(()),
        });
        if let Err(error) = removed {
            tracing::warn!("{}: remove: {error}", Path::new(&self.hidden).display());
        }
    }
}

/// Returns an unpredictable hidden name, which the daemon ignores, in the directory of `target`.
pub(crate) fn hidden_sibling(target: &Path) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    Ok(target.with_file_name(hidden_name(name)?))
}

fn hidden_name(name: &OsStr) -> io::Result<OsString> {
    let random = random_bytes::<16>()?;
    let mut hidden = format!(".{}.new-", name.to_string_lossy());
    for byte in random {
        // Writing to a string cannot fail.
        write!(hidden, "{byte:02x}").unwrap_or_default();
    }
    Ok(hidden.into())
}

pub(crate) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests;
