//! A draft in the making: copies of its input files, hashed while they are copied, and the request
//! last, by a rename. It must never replace what is there. What is not kept is removed; only a kill
//! leaves the copies, hidden beside the request.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

use model::Sha256;

use crate::beneath::remove_tree;
use crate::durable;
use crate::error::SpoolError;
use crate::fresh::{Fresh, hidden_beside, parent_of};
use crate::hashed::Hashed;
use crate::pour::pour;

/// The files of one request that is being drafted. Dropped before [`Drafting::keep`], it removes
/// what it made.
#[must_use]
pub struct Drafting {
    request: PathBuf,
    inputs: PathBuf,
    /// Where the copies wait; made with the first of them.
    hidden: PathBuf,
    bytes_left: u64,
}

impl Drafting {
    /// Drafts `<stem>.md` and `<stem>.inputs/` in this directory, with at most so many bytes of
    /// inputs. Nothing is made yet.
    ///
    /// # Errors
    /// One of them is there already.
    pub fn begin(directory: &Path, stem: &str, input_bytes_max: u64) -> Result<Self, SpoolError> {
        let request = directory.join(format!("{stem}.md"));
        let inputs = directory.join(format!("{stem}.inputs"));
        for path in [&request, &inputs] {
            if fs::symlink_metadata(path).is_ok() {
                return Err(taken(path));
            }
        }
        let hidden = hidden_beside(&inputs).map_err(SpoolError::io(&inputs, "make"))?;
        Ok(Self { request, inputs, hidden, bytes_left: input_bytes_max })
    }

    /// Copies an input under this name, and says what was copied.
    ///
    /// # Errors
    /// The name leads elsewhere or is taken, the inputs are too large, or the disk.
    pub fn add(&mut self, name: &str, from: &mut File) -> Result<Sha256, SpoolError> {
        let to = self.hidden.join(name);
        let too_large = SpoolError::TooLarge { path: to.clone(), bytes_max: self.bytes_left };
        // Its size is looked at to spare the disk; what counts is what is read.
        if from.metadata().is_ok_and(|found| found.len() > self.bytes_left) {
            return Err(too_large);
        }
        self.make_parents(name).map_err(SpoolError::io(&to, "make room for"))?;
        let copied = copy(from, &to, self.bytes_left);
        let (sha256, bytes) = copied.map_err(SpoolError::io(&to, "copy the input"))?;
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(too_large)?;
        Ok(sha256)
    }

    fn make_parents(&self, name: &str) -> io::Result<()> {
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !Path::new(name).components().all(inside) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        // Not the directory itself: one that was mistyped must not come into being.
        match fs::create_dir(&self.hidden) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let folder = self.hidden.join(name);
        DirBuilder::new().recursive(true).create(folder.parent().unwrap_or(&self.hidden))
    }

    /// Puts inputs and request where they are looked for, durably, the request last.
    ///
    /// # Errors
    /// One of them is there by now, or the disk. Nothing of it is there then, except where only the
    /// very last step, making the names durable, failed.
    pub fn keep(self, bytes: &[u8]) -> Result<PathBuf, SpoolError> {
        let has_inputs = self.hidden.exists();
        if has_inputs {
            durable::sync_tree(&self.hidden)
                .map_err(SpoolError::io(&self.hidden, "make durable"))?;
            rename(&self.hidden, &self.inputs)?;
        }
        if let Err(error) = self.place_request(bytes) {
            if has_inputs {
                remove_tree(&self.inputs);
            }
            return Err(error);
        }
        durable::sync_dir(parent_of(&self.request))
            .map_err(SpoolError::io(&self.request, "make durable"))?;
        Ok(self.request.clone())
    }

    fn place_request(&self, bytes: &[u8]) -> Result<(), SpoolError> {
        let path = &self.request;
        let mut fresh = Fresh::beside(path, 0o666).map_err(SpoolError::io(path, "make"))?;
        fresh.write(bytes).map_err(SpoolError::io(path, "write"))?;
        fresh.place().map_err(in_place(path))
    }
}

impl Drop for Drafting {
    fn drop(&mut self) {
        remove_tree(&self.hidden);
    }
}

fn copy(from: &mut File, to: &Path, bytes_max: u64) -> io::Result<(Sha256, u64)> {
    let mut copy = OpenOptions::new().write(true).create_new(true).open(to)?;
    pour(from, &mut copy, bytes_max, &Hashed::default())
}

fn rename(from: &Path, to: &Path) -> Result<(), SpoolError> {
    durable::rename_new(from, to).map_err(in_place(to))
}

fn in_place(to: &Path) -> impl FnOnce(io::Error) -> SpoolError {
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(to),
        _ => SpoolError::io(to, "put in place")(error),
    }
}

fn taken(path: &Path) -> SpoolError {
    let what = "it is there already and is not replaced; use another slug or directory";
    SpoolError::io(path, "draft")(io::Error::new(io::ErrorKind::AlreadyExists, what))
}
