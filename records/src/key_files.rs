//! A directory of keys: reads, makes and replaces its files. A file appears whole and durable or
//! not at all. This module must never follow a link to a key file, nor use a private key that
//! others can read. Only a key rotation replaces files.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rand_core::RngCore as _;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use ssh_key::PrivateKey;
use zeroize::Zeroizing;

use crate::key_error::HostKeyError;
use crate::key_protection;

const PRIVATE_BYTES_MAX: usize = 16 * 1024;
pub(crate) const PUBLIC_BYTES_MAX: usize = 1024 * 1024;
/// Mode bits that give access to anyone but the owner.
const OTHERS_ACCESS: u32 = 0o077;
/// Mode bits that give write access to anyone but the owner.
const OTHERS_WRITE: u32 = 0o022;
/// The mode bit that shows systemd's access list for the service (acl(5): it is the mask).
const GROUP_READS: u32 = 0o040;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyFileOwner {
    /// This user or root: mode 0600 or less.
    ThisUser,
    /// systemd, in `$CREDENTIALS_DIRECTORY`: as `ThisUser`, or root's file of mode 0440 with root's
    /// group, whose group bit is the mask of an access list with an entry for the service's user.
    Credentials,
}

pub(crate) struct KeyDirectory {
    path: PathBuf,
    fd: OwnedFd,
    owner: KeyFileOwner,
}

impl KeyDirectory {
    pub(crate) fn make(dir: &Path) -> Result<Self, HostKeyError> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|source| {
            HostKeyError::Io { path: dir.to_owned(), act: "create the directory", source }
        })?;
        Self::open(dir, KeyFileOwner::ThisUser)
    }

    pub(crate) fn open(dir: &Path, owner: KeyFileOwner) -> Result<Self, HostKeyError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(dir, flags, Mode::empty()) {
            Ok(fd) => {
                let keys = Self { path: dir.to_owned(), fd, owner };
                // Anyone who can create files here chooses the keys, regardless of their modes.
                refuse_writable(dir, &keys.stat()?)?;
                Ok(keys)
            }
            Err(error) => {
                Err(HostKeyError::Io { path: dir.to_owned(), act: "open", source: error.into() })
            }
        }
    }

    fn stat(&self) -> Result<Stat, HostKeyError> {
        rustix::fs::fstat(&self.fd).map_err(|source| HostKeyError::Io {
            path: self.path.clone(),
            act: "read the metadata",
            source: source.into(),
        })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn io(&self, name: &str, act: &'static str, source: io::Error) -> HostKeyError {
        HostKeyError::Io { path: self.path(name), act, source }
    }

    /// Opens a file for reading. Returns `None` if it does not exist.
    fn open_file(&self, name: &str) -> Result<Option<File>, HostKeyError> {
        // NONBLOCK: a FIFO in place of a key must not hang the daemon.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(File::from(fd))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(rustix::io::Errno::LOOP) => Err(HostKeyError::NotAFile { path: self.path(name) }),
            Err(error) => Err(self.io(name, "open", error.into())),
        }
    }

    pub(crate) fn missing(&self, name: &str) -> HostKeyError {
        self.io(name, "open", rustix::io::Errno::NOENT.into())
    }

    /// Fails if a key rotation was interrupted. Either key may then be the active one, so nothing
    /// is signed before the rotation is finished.
    pub(crate) fn refuse_unfinished(&self, change: &str) -> Result<(), HostKeyError> {
        match self.open_file(change)? {
            None => Ok(()),
            Some(_) => Err(HostKeyError::Unfinished { path: self.path(change) }),
        }
    }

    pub(crate) fn read(
        &self,
        name: &str,
        bytes_max: usize,
    ) -> Result<Option<Vec<u8>>, HostKeyError> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        refuse_writable(&self.path(name), &self.regular(name, &file)?)?;
        let mut bytes = Vec::new();
        self.read_into(&mut bytes, name, file, bytes_max)?;
        Ok(Some(bytes))
    }

    fn regular(&self, name: &str, file: &File) -> Result<Stat, HostKeyError> {
        let stat =
            rustix::fs::fstat(file).map_err(|e| self.io(name, "read the metadata", e.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(HostKeyError::NotAFile { path: self.path(name) });
        }
        Ok(stat)
    }

    fn read_into(
        &self,
        bytes: &mut Vec<u8>,
        name: &str,
        file: File,
        bytes_max: usize,
    ) -> Result<(), HostKeyError> {
        let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        let read = file.take(most.saturating_add(1)).read_to_end(bytes);
        read.map_err(|e| self.io(name, "read", e))?;
        if bytes.len() > bytes_max {
            return Err(HostKeyError::TooLarge { path: self.path(name) });
        }
        Ok(())
    }

    /// Reads a private key that no other user can read; `None` if missing. Disables core files.
    pub(crate) fn read_private_key(&self, name: &str) -> Result<Option<PrivateKey>, HostKeyError> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        let path = self.path(name);
        let stat = self.regular(name, &file)?;
        let mode = stat.st_mode & 0o7777;
        let is_credential =
            self.owner == KeyFileOwner::Credentials && stat.st_uid == 0 && stat.st_gid == 0;
        if mode & OTHERS_ACCESS & !(if is_credential { GROUP_READS } else { 0 }) != 0 {
            return Err(HostKeyError::Exposed { path, mode });
        }
        refuse_other_owner(&path, &stat)?;
        refuse_other_owner(&self.path, &self.stat()?)?;
        key_protection::keep_memory_private().map_err(HostKeyError::Protection)?;
        // Never reallocate: the old buffer would not be zeroed.
        let mut bytes = Zeroizing::new(Vec::with_capacity(PRIVATE_BYTES_MAX + 1));
        self.read_into(&mut bytes, name, file, PRIVATE_BYTES_MAX)?;
        let private = PrivateKey::from_openssh(bytes.as_slice());
        private.map(Some).map_err(|source| HostKeyError::Format { path, source })
    }

    /// Writes a public file, or checks that the existing one begins with the same line.
    pub(crate) fn publish(&self, name: &str, text: &str) -> Result<(), HostKeyError> {
        if self.read(name, PUBLIC_BYTES_MAX)?.is_none()
            && self.create_file(name, 0o644, text.as_bytes())?
        {
            return Ok(());
        }
        let there = self.read(name, PUBLIC_BYTES_MAX)?.unwrap_or_default();
        let there = String::from_utf8_lossy(&there);
        let first = |text: &str| text.lines().next().unwrap_or_default().trim_end().to_owned();
        let (have, line) = (first(&there), first(text));
        // A comment may follow.
        if have == line || have.starts_with(&format!("{line} ")) {
            Ok(())
        } else {
            Err(HostKeyError::OtherKey { path: self.path(name) })
        }
    }

    /// Creates a file whole and durably. Returns `false` if the name exists.
    pub(crate) fn create_file(
        &self,
        name: &str,
        mode: u32,
        bytes: &[u8],
    ) -> Result<bool, HostKeyError> {
        let draft = self.write_temporary(name, mode, bytes)?;
        // link(2), unlike rename(2), never replaces a file.
        let linked = match rustix::fs::linkat(&self.fd, &draft, &self.fd, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::EXIST) => Ok(false),
            Err(error) => Err(self.io(name, "link", error.into())),
        };
        self.unlink(&draft)?;
        let linked = linked?;
        self.sync()?;
        Ok(linked)
    }

    /// Replaces a file, whole and durably. For a key rotation only.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), HostKeyError> {
        let draft = self.write_temporary(name, 0o644, bytes)?;
        self.rename(&draft, name)
    }

    pub(crate) fn replace_private(&self, name: &str, bytes: &[u8]) -> Result<(), HostKeyError> {
        let draft = self.write_temporary(name, 0o600, bytes)?;
        self.rename(&draft, name)
    }

    /// Exchanges two files, atomically and durably (renameat2(2)). For a key rotation only.
    pub(crate) fn exchange(&self, one: &str, other: &str) -> Result<(), HostKeyError> {
        rustix::fs::renameat_with(&self.fd, one, &self.fd, other, RenameFlags::EXCHANGE)
            .map_err(|e| self.io(one, "rename", e.into()))?;
        self.sync()
    }

    /// Renames a file over another, durably. For a key rotation only.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), HostKeyError> {
        rustix::fs::renameat(&self.fd, from, &self.fd, to)
            .map_err(|e| self.io(from, "rename", e.into()))?;
        self.sync()
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), HostKeyError> {
        self.unlink(name)?;
        self.sync()
    }

    /// Writes a temporary file. Its name is unique, so one that a crash left never blocks a retry.
    fn write_temporary(&self, name: &str, mode: u32, bytes: &[u8]) -> Result<String, HostKeyError> {
        let draft = format!(".{name}.{:016x}", rand_core::OsRng.next_u64());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, draft.as_str(), flags, Mode::from_raw_mode(mode))
            .map_err(|e| self.io(&draft, "create", e.into()))?;
        let mut file = File::from(fd);
        match file.write_all(bytes).and_then(|()| file.sync_all()) {
            Ok(()) => Ok(draft),
            Err(error) => {
                self.unlink(&draft)?;
                Err(self.io(&draft, "write", error))
            }
        }
    }

    fn unlink(&self, name: &str) -> Result<(), HostKeyError> {
        rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())
            .map_err(|e| self.io(name, "remove", e.into()))
    }

    fn sync(&self) -> Result<(), HostKeyError> {
        rustix::fs::fsync(&self.fd).map_err(|e| self.io(".", "sync", e.into()))
    }
}

/// Fails if anyone but the owner may change a key file or its directory.
fn refuse_writable(path: &Path, stat: &Stat) -> Result<(), HostKeyError> {
    let mode = stat.st_mode & 0o7777;
    if mode & OTHERS_WRITE == 0 {
        return Ok(());
    }
    Err(HostKeyError::Writable { path: path.to_owned(), mode })
}

/// Fails if neither this user nor root owns a private key.
fn refuse_other_owner(path: &Path, stat: &Stat) -> Result<(), HostKeyError> {
    let uid = stat.st_uid;
    if uid == 0 || uid == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    Err(HostKeyError::Owner { path: path.to_owned(), uid })
}
