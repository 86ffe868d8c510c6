//! The incoming directory, where other users submit requests: read by handle, and never trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::{ClaimId, Sha256};
use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, access, fstat, openat, statat};
use validator::{Draft, REQUEST_BYTES_MAX};

use crate::beneath::{AllowedLinks, open_beneath, read_bounded};
use crate::claim::{Claimed, Origin, SubmittedFileId, open_inputs};
use crate::error::SpoolError;
use crate::model::OperatorOrder;
use crate::paths::Spool;
use crate::sidecars::{AIS_SUFFIX, Sidecars, is_signature_of};

/// The longest file name of a request.
const NAME_BYTES_MAX: usize = 128;
/// The most files considered next to one request: more than a request may have.
const SIDECARS_MAX: usize = 128;
const STICKY: u32 = 0o1000;

/// The open directory `approved/`.
pub struct Inbox {
    path: PathBuf,
    directory: OwnedFd,
}

/// An entry of `approved/` whose name ends in `.md`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SubmissionName {
    /// A valid file name of a request.
    Request(String),
    /// A name that no request can have. It still gets a record.
    Invalid(String),
}

/// A submission in the incoming directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionEntry {
    /// The file name.
    pub submission: SubmissionName,
    /// The uid of the file's owner.
    pub owner: u32,
    /// The inode and its last change time: seconds, nanoseconds.
    pub identity: (u64, i64, i64),
    /// True for an empty regular file.
    pub is_empty: bool,
}

impl SubmissionName {
    /// Classifies a name. One with a leading dot is unfinished; other ends than `.md` are ignored.
    fn of(name: &str) -> Option<Self> {
        if name.starts_with('.') || !name.to_ascii_lowercase().ends_with(".md") {
            return None;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let fits = name.ends_with(".md") && name.len() <= NAME_BYTES_MAX;
        Some(match fits && name.chars().all(plain) {
            true => Self::Request(name.to_owned()),
            false => Self::Invalid(name.to_owned()),
        })
    }

    /// Returns the file name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Request(name) | Self::Invalid(name) => name,
        }
    }
}

/// Facts of a listing beside the submissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InboxListing {
    /// True if the directory has no entry at all.
    pub is_empty: bool,
    /// The number of ignored requests whose names are not UTF-8: a record cannot name them.
    pub non_utf8_names: u64,
}

impl Inbox {
    /// Opens the directory, which must exist.
    ///
    /// # Errors
    /// The directory cannot be opened.
    pub fn open(path: &Path) -> Result<Self, SpoolError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(CWD, path, flags, Mode::empty());
        let directory = opened.map_err(SpoolError::errno(path, "open"))?;
        let path = fs::canonicalize(path).map_err(SpoolError::io(path, "resolve"))?;
        Ok(Self { path, directory })
    }

    pub(crate) fn handle(&self) -> &OwnedFd {
        &self.directory
    }

    /// Returns the resolved path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that submissions can be removed from here. A daemon calls it before it starts.
    ///
    /// # Errors
    /// [`SpoolError::CannotRemove`] if not.
    pub fn check_removable(&self) -> Result<(), SpoolError> {
        let found = fs::metadata(&self.path).map_err(SpoolError::io(&self.path, "stat"))?;
        let user = rustix::process::geteuid();
        let owner = found.uid() == user.as_raw() || user.is_root();
        let writable = access(&self.path, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        if writable && (owner || found.mode() & STICKY == 0) {
            return Ok(());
        }
        Err(SpoolError::CannotRemove { path: self.path.clone() })
    }

    /// Returns the submissions, oldest request id first.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn submission_names(&self) -> Result<Vec<SubmissionName>, SpoolError> {
        let mut waiting = Vec::new();
        self.each_name(|name| waiting.extend(name.to_str().and_then(SubmissionName::of)))?;
        waiting.sort();
        Ok(waiting)
    }

    /// Returns whether the path still leads to the open directory.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        let same = |named: fs::Metadata| {
            let open = fstat(&self.directory).ok()?;
            Some((open.st_dev, open.st_ino) == (named.dev(), named.ino()))
        };
        fs::metadata(&self.path).ok().and_then(same).unwrap_or(false)
    }

    /// Returns the directory's modification time: seconds and nanoseconds since 1970.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn changed_at(&self) -> Result<(i64, i64), SpoolError> {
        let found = fs::metadata(&self.path).map_err(SpoolError::io(&self.path, "stat"))?;
        Ok((found.mtime(), found.mtime_nsec()))
    }

    /// Passes every submission to `see`, in no order. Their number has no limit: none is collected.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn each_submission(
        &self,
        mut see: impl FnMut(SubmissionEntry),
    ) -> Result<InboxListing, SpoolError> {
        let mut listed = InboxListing { is_empty: true, non_utf8_names: 0 };
        self.each_name(|name| {
            listed.is_empty = false;
            let Some(text) = name.to_str() else {
                let shown = name.to_string_lossy();
                listed.non_utf8_names += u64::from(SubmissionName::of(&shown).is_some());
                return;
            };
            let Some(waiting) = SubmissionName::of(text) else { return };
            let found = statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW);
            // It was removed after it was listed.
            let Ok(found) = found else { return };
            let identity = (
                found.st_ino,
                found.st_ctime,
                i64::try_from(found.st_ctime_nsec).unwrap_or(i64::MAX),
            );
            let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
            let is_empty = is_file && found.st_size == 0;
            see(SubmissionEntry { submission: waiting, owner: found.st_uid, identity, is_empty });
        })?;
        Ok(listed)
    }

    /// Returns the files of these requests, by request name: orders, the AIS bundle, and a limited
    /// number of signatures. Other files with such names must not crowd them out.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn sidecars_of(
        &self,
        requests: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, BTreeSet<OsString>>, SpoolError> {
        let mut found: BTreeMap<String, BTreeSet<OsString>> = BTreeMap::new();
        self.each_name(|name| {
            // A name that is not UTF-8 may still be a rejection's.
            let shown = name.to_string_lossy();
            let Some(stem) = stem_of(&shown) else { return };
            let request = format!("{stem}.md");
            if !requests.contains(&request) {
                return;
            }
            let bundle = *name == *format!("{stem}{AIS_SUFFIX}");
            let order =
                || OperatorOrder::ALL.iter().any(|order| *name == *order.file_name(&request));
            let alone = bundle || order();
            if !alone && !is_signature_of(name, &request) {
                return;
            }
            let of_it = found.entry(request).or_default();
            if alone || of_it.len() < SIDECARS_MAX {
                of_it.insert(name.to_owned());
            }
        })?;
        Ok(found)
    }

    /// Returns one digest of a request and its files, which changes with any of them.
    #[must_use]
    pub fn digest(&self, request: &str, sidecar_names: &BTreeSet<OsString>) -> Sha256 {
        let names = sidecar_names.iter().map(OsString::as_os_str).chain([OsStr::new(request)]);
        let rows: Vec<String> =
            names.map(|name| format!("{name:?} {:?}", self.identity(name))).collect();
        Sha256::of(rows.join("\n").as_bytes())
    }

    pub(crate) fn each_name(&self, mut see: impl FnMut(&OsStr)) -> Result<(), SpoolError> {
        for entry in fs::read_dir(&self.path).map_err(SpoolError::io(&self.path, "list"))? {
            let entry = entry.map_err(SpoolError::io(&self.path, "list"))?;
            see(&entry.file_name());
        }
        Ok(())
    }

    /// Returns the identity of the object that has this name now, to notice a change.
    #[must_use]
    pub fn identity(&self, name: impl AsRef<Path>) -> Option<(u64, i64, i64)> {
        let found = fs::symlink_metadata(self.path.join(name)).ok()?;
        Some((found.ino(), found.ctime(), found.ctime_nsec()))
    }
}

/// Returns the common prefix of the names of all files that belong to one request.
#[must_use]
pub fn stem_of(name: &str) -> Option<&str> {
    if name.starts_with('.') {
        return None;
    }
    let end = [".md", AIS_SUFFIX].iter().filter_map(|mark| name.find(mark)).min()?;
    name.get(..end)
}

impl Spool {
    /// Claims one submission: copies the request and the given files next to it.
    ///
    /// # Errors
    /// [`SpoolError::FileKind`] or [`SpoolError::TooLarge`] for an object that can never be a
    /// request; otherwise an I/O error.
    pub fn claim_submission(
        &self,
        dropbox: &Inbox,
        name: &str,
        sidecar_names: &BTreeSet<OsString>,
        id: ClaimId,
    ) -> Result<(Draft, Claimed), SpoolError> {
        let path = dropbox.path.join(name);
        let kind = |kind| Err(SpoolError::FileKind { path: path.clone(), kind });
        let file = match open_beneath(&dropbox.directory, name, OFlags::RDONLY) {
            Ok(file) => file,
            Err(rustix::io::Errno::LOOP) => return kind("a symbolic link"),
            Err(rustix::io::Errno::NXIO) => return kind("a socket"),
            Err(rustix::io::Errno::XDEV) => return kind("a mount point"),
            Err(errno) => return Err(SpoolError::errno(&path, "open")(errno)),
        };
        let read = read_bounded(&file, &path, REQUEST_BYTES_MAX, AllowedLinks::One)?;
        let file = File::from(file);
        let found = file.metadata().map_err(SpoolError::io(&path, "stat"))?;
        let sidecars = Sidecars::among(sidecar_names, &dropbox.path, name)?;
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let inputs_path = dropbox.path.join(format!("{stem}.inputs"));
        let inputs = open_inputs(&inputs_path);
        let dropped = SubmittedFileId::of(&dropbox.path, &found);
        let origin = Origin::Submitted { dropped, _open: file };
        self.copy(read, name, sidecars, (inputs, inputs_path), origin, id)
    }
}
