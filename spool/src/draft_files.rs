//! A draft in progress: input files are copied and hashed at the same time, and the request is
//! written last, by a rename. A draft must never replace an existing file. Dropping it removes the
//! copies; only a killed process leaves them, hidden next to the request.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use model::Sha256;
use rustix::fs::{Mode, OFlags};

use crate::atomic_file::{AtomicFile, hidden_sibling, parent_of};
use crate::beneath::remove_tree;
use crate::copy::copy_hashed;
use crate::error::SpoolError;
use crate::hash_progress::HashProgress;
use crate::sync;

/// The files of a drafted request. Dropping it before [`DraftFiles::commit`] removes them.
#[must_use]
pub struct DraftFiles {
    request: PathBuf,
    inputs: PathBuf,
    /// The hidden directory of the copies, made with the first of them.
    hidden: PathBuf,
    bytes_left: u64,
    has_folder: bool,
}

impl DraftFiles {
    /// The most files and directories among the inputs of a draft that the daemon takes by itself,
    /// because the draft uses a standing approval.
    pub const STANDING_ENTRIES_MAX: usize = 1024;
    /// The most levels of directories among these inputs.
    pub const STANDING_LEVELS_MAX: usize = 8;

    /// Begins a draft of `<stem>.md` and `<stem>.inputs/` in this directory, with at most
    /// `input_bytes_max` bytes of inputs. No file is made yet.
    ///
    /// # Errors
    /// One of them already exists.
    pub fn begin(directory: &Path, stem: &str, input_bytes_max: u64) -> Result<Self, SpoolError> {
        let request = directory.join(format!("{stem}.md"));
        let inputs = directory.join(format!("{stem}.inputs"));
        for path in [&request, &inputs] {
            if fs::symlink_metadata(path).is_ok() {
                return Err(already_exists(path));
            }
        }
        let hidden = hidden_sibling(&inputs).map_err(SpoolError::io(&inputs, "create"))?;
        let bytes_left = input_bytes_max;
        Ok(Self { request, inputs, hidden, bytes_left, has_folder: false })
    }

    /// Copies an input under this name and returns the digest of the copy.
    ///
    /// # Errors
    /// The name leads out of the directory or exists, the inputs are too large, or an I/O error.
    pub fn add(&mut self, name: &str, from: &mut File) -> Result<Sha256, SpoolError> {
        let to = self.hidden.join(name);
        let too_large = SpoolError::TooLarge { path: to.clone(), bytes_max: self.bytes_left };
        // Check the size first to spare the disk; the number of bytes read is decisive.
        if from.metadata().is_ok_and(|found| found.len() > self.bytes_left) {
            return Err(too_large);
        }
        self.make_parents(name).map_err(SpoolError::io(&to, "create the directories of"))?;
        let copied = copy(from, &to, self.bytes_left);
        let (sha256, bytes) = copied.map_err(SpoolError::io(&to, "copy the input"))?;
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(too_large)?;
        Ok(sha256)
    }

    /// Makes an empty directory among the copies, and opens it. The caller fills it, and then calls
    /// [`DraftFiles::count_bytes`]. The name has no final `/`.
    ///
    /// # Errors
    /// The name leads out of the directory or exists, or an I/O error.
    pub fn make_folder(&mut self, name: &str) -> Result<OwnedFd, SpoolError> {
        let to = self.hidden.join(name);
        let made = self.make_parents(name).and_then(|()| fs::create_dir(&to));
        made.map_err(SpoolError::io(&to, "create"))?;
        self.has_folder = true;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(&to, flags, Mode::empty()).map_err(SpoolError::errno(&to, "open"))
    }

    /// Returns the bytes that further inputs may have.
    #[must_use]
    pub fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    /// Counts the bytes of a folder that was filled. It has at most as many as were left.
    pub fn count_bytes(&mut self, bytes: u64) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
    }

    fn make_parents(&self, name: &str) -> io::Result<()> {
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !Path::new(name).components().all(inside) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        // Never create the drafts directory itself: its path may be a typing error.
        match fs::create_dir(&self.hidden) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let folder = self.hidden.join(name);
        DirBuilder::new().recursive(true).create(folder.parent().unwrap_or(&self.hidden))
    }

    /// Moves the inputs and then the request to their names, durably.
    ///
    /// # Errors
    /// One of them exists now, or an I/O error. Nothing of it remains then, unless only the last
    /// step, the sync of the names, failed.
    pub fn commit(self, bytes: &[u8]) -> Result<PathBuf, SpoolError> {
        let has_inputs = self.hidden.exists();
        if has_inputs {
            let synced = match self.has_folder {
                true => sync::sync_large_tree(&self.hidden),
                false => sync::sync_tree(&self.hidden),
            };
            synced.map_err(SpoolError::io(&self.hidden, "sync"))?;
            rename(&self.hidden, &self.inputs)?;
        }
        if let Err(error) = self.place_request(bytes) {
            if has_inputs {
                remove_tree(&self.inputs);
            }
            return Err(error);
        }
        sync::sync_dir(parent_of(&self.request))
            .map_err(SpoolError::io(&self.request, "sync the name of"))?;
        Ok(self.request.clone())
    }

    fn place_request(&self, bytes: &[u8]) -> Result<(), SpoolError> {
        let path = &self.request;
        let mut fresh =
            AtomicFile::create_for(path, 0o666).map_err(SpoolError::io(path, "create"))?;
        fresh.write(bytes).map_err(SpoolError::io(path, "write"))?;
        fresh.place().map_err(placement_error(path))
    }
}

impl Drop for DraftFiles {
    fn drop(&mut self) {
        remove_tree(&self.hidden);
    }
}

fn copy(from: &mut File, to: &Path, bytes_max: u64) -> io::Result<(Sha256, u64)> {
    let mut copy = OpenOptions::new().write(true).create_new(true).open(to)?;
    copy_hashed(from, &mut copy, bytes_max, &HashProgress::default())
}

fn rename(from: &Path, to: &Path) -> Result<(), SpoolError> {
    sync::rename_new(from, to).map_err(placement_error(to))
}

fn placement_error(to: &Path) -> impl FnOnce(io::Error) -> SpoolError {
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => already_exists(to),
        _ => SpoolError::io(to, "rename into place")(error),
    }
}

fn already_exists(path: &Path) -> SpoolError {
    let what = "already exists; help: use another slug or directory";
    SpoolError::io(path, "draft")(io::Error::new(io::ErrorKind::AlreadyExists, what))
}
