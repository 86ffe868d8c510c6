//! The keys whose signatures count, as the files on disk list them now: a key that is revoked while
//! the daemon runs must not approve the next request. A file that cannot be read completely stops
//! admission; its previous content is never used instead.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::Sha256;
use policies::{AllowedSigners, REVOKED_BYTES_MAX, RevokedKeys, SIGNERS_BYTES_MAX, ais};

use crate::bounded_file::{read_bytes, text_of};
use crate::model::ConfigError;
use crate::system;

/// The files and their content.
pub struct HostTrustStore {
    allowed_signers: Option<PathBuf>,
    revoked: Option<PathBuf>,
    ais: Option<PathBuf>,
    owners: TrustFileOwners,
    stamps: [Option<FileStamp>; 3],
    signers: Option<AllowedSigners>,
    ais_trust: Option<ais::AisTrustStore>,
}

/// The permitted owners of the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrustFileOwners {
    /// Only root and the daemon's user may own and write them: the files of a daemon.
    RootOrDaemon,
    /// Any owner: files that a person named on the command line, who is responsible for them.
    Any,
}

/// The files that list trusted keys.
#[derive(Default)]
pub struct TrustFiles {
    /// OpenSSH's `allowed_signers`.
    pub allowed_signers: Option<PathBuf>,
    /// Revoked keys.
    pub revoked: Option<PathBuf>,
    /// Keys of AIS artifacts, by role.
    pub ais: Option<PathBuf>,
}

/// The identity of a file's content: device, inode, size, and both times in nanoseconds.
pub(crate) type FileStamp = [i128; 5];

impl HostTrustStore {
    /// Reads `allowed_signers`, without the keys of the revocation list.
    ///
    /// # Errors
    /// The first file that cannot be read, or the first invalid line.
    pub fn open(files: TrustFiles, owners: TrustFileOwners) -> Result<Self, ConfigError> {
        let TrustFiles { allowed_signers, revoked, ais } = files;
        let paths = [&allowed_signers, &revoked, &ais];
        // Before the files are read, so that a later change causes another read.
        let read = file_stamps(paths)?;
        if owners == TrustFileOwners::RootOrDaemon {
            // The reload also checks a file that was replaced later.
            paths.into_iter().flatten().try_for_each(|path| check_owner(path))?;
        }
        let taken_back = revoked.as_deref().map(read_revoked).transpose()?;
        let signers = allowed_signers.as_deref().map(read_signers).transpose()?;
        Ok(Self {
            signers: signers.map(|signers| signers.with_revoked(taken_back.unwrap_or_default())),
            ais_trust: ais.as_deref().map(read_ais_trust).transpose()?,
            allowed_signers,
            revoked,
            ais,
            owners,
            stamps: read,
        })
    }

    /// Returns the approvers' keys, if any are configured.
    #[must_use]
    pub fn signers(&self) -> Option<&AllowedSigners> {
        self.signers.as_ref()
    }

    /// Returns the keys of AIS artifacts, if any are configured.
    #[must_use]
    pub fn ais(&self) -> Option<&ais::AisTrustStore> {
        self.ais_trust.as_ref()
    }

    pub(crate) fn digest(&self) -> Sha256 {
        Sha256::of(format!("{:?}", self.stamps).as_bytes())
    }

    /// Reads the files again if one has changed.
    ///
    /// # Errors
    /// As [`Self::open`]; nothing may be admitted with the previous content.
    pub(crate) fn renewed(&self) -> Result<Option<Self>, ConfigError> {
        let files = [&self.allowed_signers, &self.revoked, &self.ais];
        if self.stamps == file_stamps(files)? {
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

/// Reads an `allowed_signers` file. As in `ssh-keygen`, a time without a zone is in this host's
/// standard time.
///
/// # Errors
/// The first invalid line.
pub fn read_signers(path: &Path) -> Result<AllowedSigners, ConfigError> {
    let bytes = read_bytes(path, SIGNERS_BYTES_MAX)?;
    let text = text_of(path, bytes)?;
    AllowedSigners::parse_in(&text, system::standard_time())
        .map_err(|error| ConfigError::Signers(path.to_owned(), error))
}

/// Reads a list of revoked keys: an OpenSSH KRL (`ssh-keygen -k`), or public keys, one per line.
///
/// # Errors
/// The first invalid part of the file.
pub fn read_revoked(path: &Path) -> Result<RevokedKeys, ConfigError> {
    let bytes = read_bytes(path, REVOKED_BYTES_MAX)?;
    RevokedKeys::parse(&bytes).map_err(|error| ConfigError::Revoked(path.to_owned(), error))
}

/// Reads a trust store of AIS artifacts.
///
/// # Errors
/// The first invalid part of the file.
pub fn read_ais_trust(path: &Path) -> Result<ais::AisTrustStore, ConfigError> {
    let bytes = read_bytes(path, ais::TRUST_BYTES_MAX)?;
    ais::AisTrustStore::read(&bytes)
        .map_err(|error| ConfigError::Syntax(path.to_owned(), error.to_string()))
}

fn file_stamps(files: [&Option<PathBuf>; 3]) -> Result<[Option<FileStamp>; 3], ConfigError> {
    let mut now = [None; 3];
    for (stamped, path) in now.iter_mut().zip(files) {
        *stamped = path.as_deref().map(file_stamp).transpose()?;
    }
    Ok(now)
}

pub(crate) fn file_stamp(path: &Path) -> Result<FileStamp, ConfigError> {
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

/// Checks that only root and this user can change a file that decides about runs.
pub(crate) fn check_owner(path: &Path) -> Result<(), ConfigError> {
    let found = fs::metadata(path).map_err(|error| ConfigError::Read(path.to_owned(), error))?;
    let wrong = |what: String| ConfigError::Value(path.to_owned(), what);
    if !found.is_file() {
        return Err(wrong("not a regular file; help: name a regular file".to_owned()));
    }
    let ours = rustix::process::geteuid().as_raw();
    if found.uid() != 0 && found.uid() != ours {
        return Err(wrong(format!(
            "owned by uid {}, who can change it; help: chown it to root or to uid {ours}",
            found.uid()
        )));
    }
    if found.mode() & 0o022 != 0 {
        let mode = found.mode() & 0o7777;
        return Err(wrong(format!("mode {mode:04o} lets other users change it; help: chmod go-w")));
    }
    Ok(())
}
