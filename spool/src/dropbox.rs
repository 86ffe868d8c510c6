//! The directory that others drop requests into: looked at by handle, believed in nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, Mode, OFlags, access, fstat, openat};
use validator::{Draft, REQUEST_BYTES_MAX, Sha256};

use crate::claim::{
    ClaimId, Claimed, Dropped, Links, Origin, open_beneath, open_inputs, read_bounded,
};
use crate::companions::Companions;
use crate::error::SpoolError;
use crate::places::Spool;

/// How the name of the AIS bundle beside a request ends, after the request's stem.
pub(crate) const AIS_SUFFIX: &str = ".ais.json";
/// Names longer than this are not ours.
const NAME_BYTES_MAX: usize = 128;
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

impl Waiting {
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Request(name) | Self::Odd(name) => name,
        }
    }
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

    /// What looks like a submission, oldest id first. A name that begins with a dot is still being
    /// written; one that does not end in `.md` belongs to another, or to nobody.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn waiting(&self) -> Result<Vec<Waiting>, SpoolError> {
        let mut waiting = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(SpoolError::io(&self.path, "list"))? {
            let entry = entry.map_err(SpoolError::io(&self.path, "list"))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with('.') || !name.to_ascii_lowercase().ends_with(".md") {
                continue;
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            let fits = name.ends_with(".md") && name.len() <= NAME_BYTES_MAX;
            waiting.push(if fits && name.chars().all(plain) {
                Waiting::Request(name)
            } else {
                Waiting::Odd(name)
            });
        }
        waiting.sort();
        Ok(waiting)
    }

    /// What lies in the directory for each request, as one digest by its stem: it is another one when
    /// a request, a signature or an AIS bundle came, went or changed.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn sets(&self) -> Result<BTreeMap<String, Sha256>, SpoolError> {
        let mut rows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for entry in fs::read_dir(&self.path).map_err(SpoolError::io(&self.path, "list"))? {
            let entry = entry.map_err(SpoolError::io(&self.path, "list"))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Some(stem) = stem_of(&name) else { continue };
            let row = format!("{name} {:?}", self.identity(&name));
            rows.entry(stem.to_owned()).or_default().insert(row);
        }
        let digest = |rows: BTreeSet<String>| {
            Sha256::of(rows.into_iter().collect::<Vec<_>>().join("\n").as_bytes())
        };
        Ok(rows.into_iter().map(|(stem, rows)| (stem, digest(rows))).collect())
    }

    /// Which object has a name now, so that a change can be told from the same thing seen again.
    #[must_use]
    pub fn identity(&self, name: &str) -> Option<(u64, i64, i64)> {
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
    /// Claims one submission: copies it, and nothing else yet.
    ///
    /// # Errors
    /// [`SpoolError::FileKind`] or [`SpoolError::TooLarge`] for what can never be a request;
    /// otherwise the disk.
    pub fn claim_dropped(
        &self,
        dropbox: &Dropbox,
        name: &str,
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
        let stat = fstat(&file).map_err(SpoolError::errno(&path, "look at"))?;
        let read = read_bounded(&file, &path, REQUEST_BYTES_MAX, Links::One)?;
        let companions = Companions::of(&dropbox.path, name)?;
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let inputs_path = dropbox.path.join(format!("{stem}.inputs"));
        let inputs = open_inputs(&inputs_path);
        let origin = Origin::Dropped(Dropped {
            dropbox: dropbox.path.clone(),
            device: stat.st_dev,
            inode: stat.st_ino,
        });
        self.copy(read, name, companions, (inputs, inputs_path), origin, id)
    }
}
