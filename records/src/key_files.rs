//! Where the result key lies: `<dir>/result`, `<dir>/result.pub`, `<dir>/allowed_signers`; and how
//! any key file is read and made. Files appear whole and durable or not at all. This module must never replace a key file that exists,
//! follow a link to one, or use a private key that others can read.

use std::fmt;
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rand_core::RngCore as _;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use ssh_key::{PrivateKey, PublicKey};

use crate::keys::{PublicResultKey, ResultKey, Unfit};

const PRIVATE: &str = "result";
const PUBLIC: &str = "result.pub";
const ALLOWED_SIGNERS: &str = "allowed_signers";
const PRIVATE_BYTES_MAX: u64 = 16 * 1024;
pub(crate) const PUBLIC_BYTES_MAX: u64 = 1024 * 1024;
/// Bits of the mode by which anybody but the owner can do anything.
const OTHERS: u32 = 0o077;

/// Why the result key cannot be used. The message begins with the file.
#[derive(Debug)]
pub enum KeyError {
    Io { path: PathBuf, act: &'static str, source: io::Error },
    NotAFile { path: PathBuf },
    TooLarge { path: PathBuf },
    Exposed { path: PathBuf, mode: u32 },
    Owner { path: PathBuf, uid: u32 },
    Format { path: PathBuf, source: ssh_key::Error },
    NotP256 { path: PathBuf },
    NotEd25519 { path: PathBuf },
    Halves { path: PathBuf },
    Orphan { path: PathBuf },
    OtherKey { path: PathBuf },
    Generate { path: PathBuf, source: ssh_key::Error },
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, act, source } => write!(f, "{}: {act}: {source}", path.display()),
            Self::NotAFile { path } => write!(f, "{}: not a regular file", path.display()),
            Self::TooLarge { path } => write!(f, "{}: too large for a key file", path.display()),
            Self::Exposed { path, mode } => write!(
                f,
                "{}: mode {mode:04o} lets others at the private key; make a new key, or chmod 600 \
                 if nobody can have read it",
                path.display()
            ),
            Self::Owner { path, uid } => {
                write!(f, "{}: belongs to uid {uid}, not to this user or root", path.display())
            }
            Self::Format { path, source } => {
                write!(f, "{}: not an OpenSSH private key: {source}", path.display())
            }
            Self::NotP256 { path } => {
                write!(f, "{}: not an ECDSA P-256 key without a passphrase", path.display())
            }
            Self::NotEd25519 { path } => {
                write!(f, "{}: not a whole Ed25519 key without a passphrase", path.display())
            }
            Self::Halves { path } => {
                write!(f, "{}: private and public half are of two keys", path.display())
            }
            Self::Orphan { path } => write!(
                f,
                "{}: its private key is gone; restore it, or move this file away to \
                 have a new key made",
                path.display()
            ),
            Self::OtherKey { path } => write!(
                f,
                "{}: does not hold the public half of the private key; move it away to have it made \
                 again",
                path.display()
            ),
            Self::Generate { path, source } => {
                write!(f, "{}: making a new key: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for KeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Format { source, .. } | Self::Generate { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl ResultKey {
    /// Opens `<dir>/result`, or makes it (and the directory, mode 0700) on first use, with
    /// `result.pub` and `allowed_signers` beside it.
    ///
    /// # Errors
    /// Any [`KeyError`]: nothing that exists is ever replaced or mended.
    pub fn open_or_create(dir: &Path) -> Result<ResultKey, KeyError> {
        let keys = KeyDirectory::make(dir)?;
        // Looked for first: whoever makes keys makes the private one first, so a public half
        // without a private one is a lost key and no race.
        let public_there = keys.read(PUBLIC, PUBLIC_BYTES_MAX)?.is_some();
        let key = match keys.key()? {
            Some(key) => key,
            None if public_there => return Err(KeyError::Orphan { path: keys.path(PUBLIC) }),
            None => keys.create_key()?,
        };
        let public = key.public();
        keys.publish(PUBLIC, public.openssh_line())?;
        keys.publish(ALLOWED_SIGNERS, &public.allowed_signers_line())?;
        Ok(key)
    }

    /// Opens `<dir>/result`, which must be there.
    ///
    /// # Errors
    /// Any [`KeyError`]; a missing file is [`KeyError::Io`].
    pub fn open(dir: &Path) -> Result<ResultKey, KeyError> {
        let keys = KeyDirectory::open(dir)?;
        let missing = || keys.io(PRIVATE, "opening", io::ErrorKind::NotFound.into());
        keys.key()?.ok_or_else(missing)
    }
}

impl PublicResultKey {
    /// Opens `<dir>/result.pub`: all that verifying needs, so the private half is not touched.
    ///
    /// # Errors
    /// Any [`KeyError`]; a missing file is [`KeyError::Io`].
    pub fn open(dir: &Path) -> Result<PublicResultKey, KeyError> {
        let keys = KeyDirectory::open(dir)?;
        let missing = || keys.io(PUBLIC, "opening", io::ErrorKind::NotFound.into());
        let bytes = keys.read(PUBLIC, PUBLIC_BYTES_MAX)?.ok_or_else(missing)?;
        let path = keys.path(PUBLIC);
        let key = PublicKey::from_openssh(String::from_utf8_lossy(&bytes).trim())
            .map_err(|source| KeyError::Format { path: path.clone(), source })?;
        PublicResultKey::from_key(&key).ok_or(KeyError::NotP256 { path })
    }
}

pub(crate) struct KeyDirectory {
    path: PathBuf,
    fd: OwnedFd,
}

impl KeyDirectory {
    pub(crate) fn make(dir: &Path) -> Result<Self, KeyError> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|source| {
            KeyError::Io { path: dir.to_owned(), act: "making the directory", source }
        })?;
        Self::open(dir)
    }

    pub(crate) fn open(dir: &Path) -> Result<Self, KeyError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(dir, flags, Mode::empty()) {
            Ok(fd) => Ok(Self { path: dir.to_owned(), fd }),
            Err(error) => {
                Err(KeyError::Io { path: dir.to_owned(), act: "opening", source: error.into() })
            }
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn io(&self, name: &str, act: &'static str, source: io::Error) -> KeyError {
        KeyError::Io { path: self.path(name), act, source }
    }

    /// Opens a file that is to be read; `None` where there is none.
    fn open_file(&self, name: &str) -> Result<Option<File>, KeyError> {
        // NONBLOCK: a FIFO in place of a key must not hang the daemon.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(File::from(fd))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(rustix::io::Errno::LOOP) => Err(KeyError::NotAFile { path: self.path(name) }),
            Err(error) => Err(self.io(name, "opening", error.into())),
        }
    }

    pub(crate) fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, KeyError> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        self.read_open(name, file, bytes_max).map(Some)
    }

    fn read_open(&self, name: &str, file: File, bytes_max: u64) -> Result<Vec<u8>, KeyError> {
        let stat = rustix::fs::fstat(&file).map_err(|e| self.io(name, "looking at", e.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(KeyError::NotAFile { path: self.path(name) });
        }
        let mut bytes = Vec::new();
        let read = file.take(bytes_max + 1).read_to_end(&mut bytes);
        read.map_err(|e| self.io(name, "reading", e))?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > bytes_max {
            return Err(KeyError::TooLarge { path: self.path(name) });
        }
        Ok(bytes)
    }

    /// Reads a private key that nobody else can have read; `None` where there is none.
    pub(crate) fn private(&self, name: &str) -> Result<Option<PrivateKey>, KeyError> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        let path = self.path(name);
        let stat = rustix::fs::fstat(&file).map_err(|e| self.io(name, "looking at", e.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(KeyError::NotAFile { path });
        }
        if stat.st_mode & OTHERS != 0 {
            return Err(KeyError::Exposed { path, mode: stat.st_mode & 0o7777 });
        }
        if stat.st_uid != 0 && stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(KeyError::Owner { path, uid: stat.st_uid });
        }
        let bytes = self.read_open(name, file, PRIVATE_BYTES_MAX)?;
        let private = PrivateKey::from_openssh(&bytes);
        private.map(Some).map_err(|source| KeyError::Format { path, source })
    }

    fn key(&self) -> Result<Option<ResultKey>, KeyError> {
        let Some(private) = self.private(PRIVATE)? else { return Ok(None) };
        let path = self.path(PRIVATE);
        match ResultKey::from_private(private) {
            Ok(key) => Ok(Some(key)),
            Err(Unfit::NotPlainP256) => Err(KeyError::NotP256 { path }),
            Err(Unfit::Halves) => Err(KeyError::Halves { path }),
        }
    }

    fn create_key(&self) -> Result<ResultKey, KeyError> {
        let failed = |source| KeyError::Generate { path: self.path(PRIVATE), source };
        let key = ResultKey::generate().map_err(failed)?;
        let file = key.openssh_file().map_err(failed)?;
        if self.place(PRIVATE, 0o600, file.as_ref().as_bytes())? {
            return Ok(key);
        }
        // Another process was faster; its key is the key.
        self.key()?.ok_or_else(|| self.io(PRIVATE, "opening", io::ErrorKind::NotFound.into()))
    }

    /// Puts a public file there, or checks that the one that is there holds this line.
    pub(crate) fn publish(&self, name: &str, line: &str) -> Result<(), KeyError> {
        if self.read(name, PUBLIC_BYTES_MAX)?.is_none()
            && self.place(name, 0o644, format!("{line}\n").as_bytes())?
        {
            return Ok(());
        }
        let there = self.read(name, PUBLIC_BYTES_MAX)?.unwrap_or_default();
        let holds = |have: &str| have == line || have.starts_with(&format!("{line} "));
        if String::from_utf8_lossy(&there).lines().any(|have| holds(have.trim_end())) {
            Ok(())
        } else {
            Err(KeyError::OtherKey { path: self.path(name) })
        }
    }

    /// Makes a file appear whole and durable under its name; `false` when the name is taken.
    pub(crate) fn place(&self, name: &str, mode: u32, bytes: &[u8]) -> Result<bool, KeyError> {
        // A name of its own per attempt: what a crash left behind never blocks the next one.
        let draft = format!(".{name}.{:016x}", rand_core::OsRng.next_u64());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, draft.as_str(), flags, Mode::from_raw_mode(mode))
            .map_err(|e| self.io(&draft, "making", e.into()))?;
        let mut file = File::from(fd);
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        let linked = match written {
            Err(error) => Err(self.io(&draft, "writing", error)),
            // A link, unlike a rename, never replaces.
            Ok(()) => {
                match rustix::fs::linkat(&self.fd, draft.as_str(), &self.fd, name, AtFlags::empty())
                {
                    Ok(()) => Ok(true),
                    Err(rustix::io::Errno::EXIST) => Ok(false),
                    Err(error) => Err(self.io(name, "linking", error.into())),
                }
            }
        };
        rustix::fs::unlinkat(&self.fd, draft.as_str(), AtFlags::empty())
            .map_err(|e| self.io(&draft, "unlinking", e.into()))?;
        let linked = linked?;
        rustix::fs::fsync(&self.fd).map_err(|e| self.io(".", "syncing", e.into()))?;
        Ok(linked)
    }
}
