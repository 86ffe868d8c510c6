//! The directory that others drop requests into: looked at by handle, believed in nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::{ClaimId, Sha256};
use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, access, fstat, openat, statat};
use validator::{Draft, REQUEST_BYTES_MAX};

use crate::beneath::{Links, open_beneath, read_bounded};
use crate::claim::{Claimed, Dropped, Origin, open_inputs};
use crate::companions::{AIS_SUFFIX, Companions, is_signature_of};
use crate::error::SpoolError;
use crate::model::Order;
use crate::places::Spool;

/// Names longer than this are not ours.
const NAME_BYTES_MAX: usize = 128;
/// Signatures beside one request that are looked at: more than may belong to any.
const COMPANIONS_MAX: usize = 128;
/// The sticky bit of a directory.
const STICKY: u32 = 0o1000;

/// `approved/`, open.
pub struct Dropbox {
    path: PathBuf,
    directory: OwnedFd,
}

/// Something in `approved/` that ends in `.md`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waiting {
    /// A name that a request can have.
    Request(String),
    /// A name that none can have; it gets its answer all the same.
    Odd(String),
}

/// A submission as it lay there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    pub waiting: Waiting,
    /// Whose file it is.
    pub owner: u32,
    /// Its inode, and when that changed last: seconds, nanoseconds.
    pub identity: (u64, i64, i64),
    /// Whether it is a file without a byte.
    pub is_empty: bool,
}

impl Waiting {
    /// What a name means, if anything. One that begins with a dot is still being written; one that does
    /// not end in `.md` belongs to another, or to nobody.
    fn of(name: &str) -> Option<Self> {
        if name.starts_with('.') || !name.to_ascii_lowercase().ends_with(".md") {
            return None;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let fits = name.ends_with(".md") && name.len() <= NAME_BYTES_MAX;
        Some(match fits && name.chars().all(plain) {
            true => Self::Request(name.to_owned()),
            false => Self::Odd(name.to_owned()),
        })
    }

    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Request(name) | Self::Odd(name) => name,
        }
    }
}

/// What a listing found beside the submissions that it showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Nothing lay there, whatever its name.
    pub is_empty: bool,
    /// How many names end like a request's and are no text: no record could name them, so that they are
    /// left alone.
    pub nameless: u64,
}

impl Dropbox {
    /// Opens the directory; it must exist.
    ///
    /// # Errors
    /// Why it cannot be opened.
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

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what others drop here can be taken away again; a daemon must ask before it starts.
    ///
    /// # Errors
    /// [`SpoolError::NotOurs`] if not.
    pub fn insist_on_ours(&self) -> Result<(), SpoolError> {
        let found = fs::metadata(&self.path).map_err(SpoolError::io(&self.path, "look at"))?;
        let user = rustix::process::geteuid();
        let owner = found.uid() == user.as_raw() || user.is_root();
        let writable = access(&self.path, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        if writable && (owner || found.mode() & STICKY == 0) {
            return Ok(());
        }
        Err(SpoolError::NotOurs { path: self.path.clone() })
    }

    /// What looks like a submission, oldest id first.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn waiting(&self) -> Result<Vec<Waiting>, SpoolError> {
        let mut waiting = Vec::new();
        self.each_name(|name| waiting.extend(name.to_str().and_then(Waiting::of)))?;
        waiting.sort();
        Ok(waiting)
    }

    /// Whether the path still leads to the directory that is open.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        let same = |named: fs::Metadata| {
            let open = fstat(&self.directory).ok()?;
            Some((open.st_dev, open.st_ino) == (named.dev(), named.ino()))
        };
        fs::metadata(&self.path).ok().and_then(same).unwrap_or(false)
    }

    /// When something was last put into it or taken out, as far as its file system tells: seconds and
    /// nanoseconds since 1970.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn changed_at(&self) -> Result<(i64, i64), SpoolError> {
        let found = fs::metadata(&self.path).map_err(SpoolError::io(&self.path, "look at"))?;
        Ok((found.mtime(), found.mtime_nsec()))
    }

    /// Shows every submission, in no order. Nothing is kept of them here: there may be more than
    /// anybody wants to remember.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn each_submission(&self, mut see: impl FnMut(Submitted)) -> Result<Listed, SpoolError> {
        let mut listed = Listed { is_empty: true, nameless: 0 };
        self.each_name(|name| {
            listed.is_empty = false;
            let Some(text) = name.to_str() else {
                let shown = name.to_string_lossy();
                listed.nameless += u64::from(Waiting::of(&shown).is_some());
                return;
            };
            let Some(waiting) = Waiting::of(text) else { return };
            let found = statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW);
            // Gone since it was listed.
            let Ok(found) = found else { return };
            let identity = (
                found.st_ino,
                found.st_ctime,
                i64::try_from(found.st_ctime_nsec).unwrap_or(i64::MAX),
            );
            let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
            let is_empty = is_file && found.st_size == 0;
            see(Submitted { waiting, owner: found.st_uid, identity, is_empty });
        })?;
        Ok(listed)
    }

    /// What lies beside these requests, by the name of the request: its orders, its bundle and its
    /// signatures, these at most so many each. Whatever else has such a name must not keep them from
    /// being seen.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn companions_of(
        &self,
        requests: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, BTreeSet<OsString>>, SpoolError> {
        let mut found: BTreeMap<String, BTreeSet<OsString>> = BTreeMap::new();
        self.each_name(|name| {
            // Also a name that is no text may be that of a rejection.
            let shown = name.to_string_lossy();
            let Some(stem) = stem_of(&shown) else { return };
            let request = format!("{stem}.md");
            if !requests.contains(&request) {
                return;
            }
            let bundle = *name == *format!("{stem}{AIS_SUFFIX}");
            let order = || Order::ALL.iter().any(|order| *name == *order.file_name(&request));
            let alone = bundle || order();
            if !alone && !is_signature_of(name, &request) {
                return;
            }
            let of_it = found.entry(request).or_default();
            if alone || of_it.len() < COMPANIONS_MAX {
                of_it.insert(name.to_owned());
            }
        })?;
        Ok(found)
    }

    /// A request and what lies beside it, as one digest: another one when one of them came, went or
    /// changed.
    #[must_use]
    pub fn digest(&self, request: &str, companions: &BTreeSet<OsString>) -> Sha256 {
        let names = companions.iter().map(OsString::as_os_str).chain([OsStr::new(request)]);
        let rows: Vec<String> =
            names.map(|name| format!("{name:?} {:?}", self.identity(name))).collect();
        Sha256::of(rows.join("\n").as_bytes())
    }

    fn each_name(&self, mut see: impl FnMut(&OsStr)) -> Result<(), SpoolError> {
        for entry in fs::read_dir(&self.path).map_err(SpoolError::io(&self.path, "list"))? {
            let entry = entry.map_err(SpoolError::io(&self.path, "list"))?;
            see(&entry.file_name());
        }
        Ok(())
    }

    /// Which object has a name now, so that a change can be told from the same thing seen again.
    #[must_use]
    pub fn identity(&self, name: impl AsRef<Path>) -> Option<(u64, i64, i64)> {
        let found = fs::symlink_metadata(self.path.join(name)).ok()?;
        Some((found.ino(), found.ctime(), found.ctime_nsec()))
    }
}

/// What the names of everything that belongs to one request begin with.
#[must_use]
pub fn stem_of(name: &str) -> Option<&str> {
    if name.starts_with('.') {
        return None;
    }
    let end = [".md", AIS_SUFFIX].iter().filter_map(|mark| name.find(mark)).min()?;
    name.get(..end)
}

impl Spool {
    /// Claims one submission: copies it and what is said to lie beside it, and nothing else yet.
    ///
    /// # Errors
    /// [`SpoolError::FileKind`] or [`SpoolError::TooLarge`] for what can never be a request;
    /// otherwise the disk.
    pub fn claim_dropped(
        &self,
        dropbox: &Dropbox,
        name: &str,
        companions: &BTreeSet<OsString>,
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
        let read = read_bounded(&file, &path, REQUEST_BYTES_MAX, Links::One)?;
        let file = File::from(file);
        let found = file.metadata().map_err(SpoolError::io(&path, "look at"))?;
        let companions = Companions::among(companions, &dropbox.path, name)?;
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let inputs_path = dropbox.path.join(format!("{stem}.inputs"));
        let inputs = open_inputs(&inputs_path);
        let dropped = Dropped::of(&dropbox.path, &found);
        let origin = Origin::Dropped { dropped, _open: file };
        self.copy(read, name, companions, (inputs, inputs_path), origin, id)
    }
}
