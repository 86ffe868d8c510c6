//! The directory that others drop requests into: looked at by handle, believed in nothing.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use validator::REQUEST_BYTES_MAX;

use crate::claim::{
    ClaimId, Claimed, Links, Origin, open_beneath, open_inputs, read_bounded, signatures_of,
};
use crate::durable;
use crate::error::SpoolError;
use crate::places::Spool;
use crate::publish::Receipt;
use validator::Draft;

/// Names longer than this are not ours.
const NAME_BYTES_MAX: usize = 128;

/// `approved/`, open.
pub struct Dropbox {
    path: PathBuf,
    directory: OwnedFd,
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

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of what looks like a submission, oldest id first. A name that begins with a dot is
    /// still being written; one that is not plain is nobody's request.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn waiting(&self) -> Result<Vec<String>, SpoolError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(SpoolError::io(&self.path, "list"))? {
            let entry = entry.map_err(SpoolError::io(&self.path, "list"))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            if name.ends_with(".md")
                && !name.starts_with('.')
                && name.len() <= NAME_BYTES_MAX
                && name.chars().all(plain)
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }
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
        let file = match open_beneath(&dropbox.directory, name, OFlags::RDONLY) {
            Ok(file) => file,
            Err(rustix::io::Errno::LOOP) => {
                return Err(SpoolError::FileKind { path, kind: "a symbolic link" });
            }
            Err(rustix::io::Errno::NXIO) => {
                return Err(SpoolError::FileKind { path, kind: "a socket" });
            }
            Err(errno) => return Err(SpoolError::errno(&path, "open")(errno)),
        };
        let read = read_bounded(&file, &path, REQUEST_BYTES_MAX, Links::One)?;
        let signatures = signatures_of(&dropbox.path, name)?;
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let inputs_path = dropbox.path.join(format!("{stem}.inputs"));
        let inputs = open_inputs(&inputs_path)?;
        let origin = Origin::Dropped { dropbox: dropbox.path.clone() };
        self.copy(read, name, signatures, (inputs, inputs_path), origin, id)
    }

    /// Moves an object that can never be a request out of the way, as it is.
    ///
    /// # Errors
    /// The disk.
    pub fn quarantine_object(
        &self,
        dropbox: &Dropbox,
        name: &str,
        receipt: &Receipt,
    ) -> Result<(), SpoolError> {
        let place = self.quarantine().join(receipt.result_id().as_str());
        let from = dropbox.path.join(name);
        fs::create_dir(&place).map_err(SpoolError::io(&place, "make"))?;
        durable::rename_new(&from, &place.join(name)).map_err(SpoolError::io(&from, "quarantine"))
    }
}
