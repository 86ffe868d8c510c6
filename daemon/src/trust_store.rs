//! Whose signatures count, as it stands on the disk now: a key that is revoked while the daemon runs must
//! not approve the next request. Files that cannot be read whole stop admission; what was read before is
//! never used in their place.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::Sha256;
use policies::{REVOKED_BYTES_MAX, Revoked, SIGNERS_BYTES_MAX, Signers, ais};

use crate::bounded_file::{read_bytes, text_of};
use crate::model::ConfigError;
use crate::system;

/// The files, and what was read of them.
pub struct TrustStore {
    allowed_signers: Option<PathBuf>,
    revoked: Option<PathBuf>,
    ais: Option<PathBuf>,
    owners: Owners,
    /// Which files were read.
    read: [Option<Stamp>; 3],
    signers: Option<Signers>,
    ais_trust: Option<ais::TrustStore>,
}

/// Whose files may decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owners {
    /// Root's and our own alone, which nobody else can write: those of a daemon.
    Ours,
    /// Anybody's: those that a person named, who vouches for them.
    Anybodys,
}

/// The files that say whose signatures count.
#[derive(Default)]
pub struct TrustFiles {
    /// OpenSSH's `allowed_signers`.
    pub allowed_signers: Option<PathBuf>,
    /// Keys that count no more.
    pub revoked: Option<PathBuf>,
    /// Keys of AIS artifacts, by role.
    pub ais: Option<PathBuf>,
}

/// One content of a file, as far as its inode tells: device, inode, size, and both times in nanoseconds.
pub(crate) type Stamp = [i128; 5];

impl TrustStore {
    /// Reads `allowed_signers`, without the keys of the revocation list.
    ///
    /// # Errors
    /// The first file that cannot be read, or line that is not understood.
    pub fn open(files: TrustFiles, owners: Owners) -> Result<Self, ConfigError> {
        let TrustFiles { allowed_signers, revoked, ais } = files;
        let paths = [&allowed_signers, &revoked, &ais];
        // Before they are read: what changes meanwhile is read once more the next time.
        let read = stamps(paths)?;
        if owners == Owners::Ours {
            // Also of a file that was put there later.
            paths.into_iter().flatten().try_for_each(|path| insist_on_ours(path))?;
        }
        let taken_back = revoked.as_deref().map(read_revoked).transpose()?;
        let signers = allowed_signers.as_deref().map(read_signers).transpose()?;
        Ok(Self {
            signers: signers.map(|signers| signers.without(taken_back.unwrap_or_default())),
            ais_trust: ais.as_deref().map(read_ais_trust).transpose()?,
            allowed_signers,
            revoked,
            ais,
            owners,
            read,
        })
    }

    /// Nobody's signature counts.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            allowed_signers: None,
            revoked: None,
            ais: None,
            owners: Owners::Ours,
            read: [None; 3],
            signers: None,
            ais_trust: None,
        }
    }

    /// The keys that count, where any were configured.
    #[must_use]
    pub fn signers(&self) -> Option<&Signers> {
        self.signers.as_ref()
    }

    /// The keys of AIS artifacts, where any were configured.
    #[must_use]
    pub fn ais(&self) -> Option<&ais::TrustStore> {
        self.ais_trust.as_ref()
    }

    /// Which trust store this is, as one digest: another one when a file of it changes.
    pub(crate) fn standing(&self) -> Sha256 {
        Sha256::of(format!("{:?}", self.read).as_bytes())
    }

    /// What the files hold now, if they are others than those that were read.
    ///
    /// # Errors
    /// As [`Self::open`]; nobody may be admitted by what was read before.
    pub(crate) fn renewed(&self) -> Result<Option<Self>, ConfigError> {
        let files = [&self.allowed_signers, &self.revoked, &self.ais];
        if self.read == stamps(files)? {
            return Ok(None);
        }
        let files = TrustFiles {
            allowed_signers: self.allowed_signers.clone(),
            revoked: self.revoked.clone(),
            ais: self.ais.clone(),
        };
        Self::open(files, self.owners).map(Some)
    }
}

/// Reads an `allowed_signers` file. Times without a zone are this host's standard time, as they are to
/// `ssh-keygen`.
///
/// # Errors
/// The first line that is not understood.
pub fn read_signers(path: &Path) -> Result<Signers, ConfigError> {
    let bytes = read_bytes(path, SIGNERS_BYTES_MAX)?;
    let text = text_of(path, bytes)?;
    Signers::parse_in(&text, system::standard_time())
        .map_err(|error| ConfigError::Signers(path.to_owned(), error))
}

/// Reads a list of revoked keys: a key revocation list of `ssh-keygen -k`, or keys, one a line.
///
/// # Errors
/// The first part of the file that is not understood.
pub fn read_revoked(path: &Path) -> Result<Revoked, ConfigError> {
    let bytes = read_bytes(path, REVOKED_BYTES_MAX)?;
    Revoked::parse(&bytes).map_err(|error| ConfigError::Revoked(path.to_owned(), error))
}

/// Reads a trust store of AIS artifacts.
///
/// # Errors
/// The first part of the file that is not understood.
pub fn read_ais_trust(path: &Path) -> Result<ais::TrustStore, ConfigError> {
    let bytes = read_bytes(path, ais::TRUST_BYTES_MAX)?;
    ais::TrustStore::read(&bytes)
        .map_err(|error| ConfigError::Syntax(path.to_owned(), error.to_string()))
}

/// Which files there are.
fn stamps(files: [&Option<PathBuf>; 3]) -> Result<[Option<Stamp>; 3], ConfigError> {
    let mut now = [None; 3];
    for (stamped, path) in now.iter_mut().zip(files) {
        *stamped = path.as_deref().map(stamp).transpose()?;
    }
    Ok(now)
}

pub(crate) fn stamp(path: &Path) -> Result<Stamp, ConfigError> {
    let found = fs::metadata(path).map_err(|error| ConfigError::Read(path.to_owned(), error))?;
    let nanoseconds = |sec: i64, nsec: i64| i128::from(sec) * 1_000_000_000 + i128::from(nsec);
    Ok([
        i128::from(found.dev()),
        i128::from(found.ino()),
        i128::from(found.size()),
        nanoseconds(found.mtime(), found.mtime_nsec()),
        nanoseconds(found.ctime(), found.ctime_nsec()),
    ])
}

/// Whether only root and this user can change a file that decides who may run what.
pub(crate) fn insist_on_ours(path: &Path) -> Result<(), ConfigError> {
    let found = fs::metadata(path).map_err(|error| ConfigError::Read(path.to_owned(), error))?;
    let wrong = |what: String| ConfigError::Value(path.to_owned(), what);
    if !found.is_file() {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "is no regular file");
        return Err(ConfigError::Read(path.to_owned(), error));
    }
    let ours = rustix::process::geteuid().as_raw();
    if found.uid() != 0 && found.uid() != ours {
        return Err(wrong(format!(
            "belongs to user {}, who could change it; let it be root's, or user {ours}'s",
            found.uid()
        )));
    }
    if found.mode() & 0o022 != 0 {
        let mode = found.mode() & 0o7777;
        return Err(wrong(format!("mode {mode:04o} lets others change it; chmod go-w")));
    }
    Ok(())
}
