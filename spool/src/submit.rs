//! Submits a request to the spool in a fixed order: inputs, signatures, and the `.md` last, by a
//! rename. The code runs as the submitter, and the daemon trusts nothing of it. A request is
//! submitted whole or not at all. A failed call removes only the files it made.

mod folder;
mod placing;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use folder::place_folder;
use placing::{
    COPY, CreatedPath, already_waiting, io_or_already_waiting, make_directory, make_parents,
    place_copy, place_file, place_whole, taken_meanwhile, undo,
};
use policies::{AisFile, SignatureFile};
use rustix::fs::{Access, access};

use crate::atomic_file::hidden_sibling;
use crate::beneath::{AllowedLinks, read_bounded};
use crate::error::SpoolError;
use crate::own_file::open_file;
use crate::sidecars::Sidecars;
use crate::sync;

/// A request to be submitted, with its files.
pub struct SubmissionFiles {
    file_name: String,
    bytes: Vec<u8>,
    sidecars: Sidecars,
    inputs: PathBuf,
}

/// The result of [`SubmissionFiles::submit_to`].
#[derive(Debug)]
pub enum SubmitOutcome {
    /// The request and all its files were submitted.
    Request(PathBuf),
    /// The same request was already waiting. These signature files, or its AIS bundle, were added.
    Signatures {
        /// The path of the waiting request.
        request: PathBuf,
        /// The names of the added files, which are in the same directory.
        names: Vec<String>,
    },
}

impl SubmissionFiles {
    /// Reads the request and its signatures. `inputs` defaults to `<stem>.inputs/` next to it.
    ///
    /// # Errors
    /// The request cannot be read.
    pub fn read(path: &Path, inputs: Option<&Path>) -> Result<Self, SpoolError> {
        let missing = || io::Error::from(io::ErrorKind::InvalidFilename);
        let file_name = path.file_name().and_then(|name| name.to_str());
        let file_name =
            file_name.ok_or_else(|| SpoolError::io(path, "read the name")(missing()))?.to_owned();
        let file = open_file(path)?;
        let most = validator::REQUEST_BYTES_MAX;
        let (bytes, _) = read_bounded(&file.into(), path, most, AllowedLinks::Any)?;
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let inputs = inputs.map_or_else(|| parent.join(inputs_name(&file_name)), Path::to_owned);
        let sidecars = Sidecars::of(&parent, &file_name)?;
        Ok(Self { file_name, bytes, sidecars, inputs })
    }

    /// Returns the request's file name.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Returns the request's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the signatures next to the request.
    #[must_use]
    pub fn signatures(&self) -> &[SignatureFile] {
        &self.sidecars.signatures
    }

    /// Returns the reason for each signature that cannot be read. These are not submitted.
    #[must_use]
    pub fn unread_signatures(&self) -> &[String] {
        &self.sidecars.unread
    }

    /// Returns the AIS bundle next to the request.
    #[must_use]
    pub fn ais(&self) -> &AisFile {
        &self.sidecars.ais
    }

    /// Returns the directory of its inputs.
    #[must_use]
    pub fn inputs(&self) -> &Path {
        &self.inputs
    }

    /// Opens one of its input files.
    ///
    /// # Errors
    /// The file does not exist, is not regular, or cannot be read.
    pub fn open_input(&self, name: &str) -> Result<File, SpoolError> {
        open_file(&self.inputs.join(name))
    }

    /// Submits the request: when this returns, the daemon can see it whole. If the same bytes are
    /// already waiting, only new signatures and a new AIS bundle are added.
    ///
    /// # Errors
    /// An I/O error, or another object of this name exists. Nothing of the request is visible then,
    /// unless only the last step, the sync of its name, failed.
    pub fn submit_to(
        &self,
        approved: &Path,
        declared: &[&str],
    ) -> Result<SubmitOutcome, SpoolError> {
        let target = approved.join(&self.file_name);
        let mut made = Vec::new();
        let dropped = if self.is_waiting_at(&target) {
            self.add_new_sidecars(approved, &target, &mut made)
        } else {
            self.place(approved, &target, declared, &mut made)
                .map(|()| SubmitOutcome::Request(target.clone()))
        };
        let dropped = match dropped {
            Ok(dropped) => dropped,
            Err(error) => {
                undo(made);
                return Err(error);
            }
        };
        // Nothing is undone from here on: the daemon may already be working on the request.
        sync::sync_dir(approved).map_err(SpoolError::io(&target, "sync"))?;
        Ok(dropped)
    }

    /// Returns whether the same bytes are waiting there. An unreadable file counts as different.
    fn is_waiting_at(&self, target: &Path) -> bool {
        let read = open_file(target).and_then(|file| {
            read_bounded(&file.into(), target, validator::REQUEST_BYTES_MAX, AllowedLinks::Any)
        });
        read.is_ok_and(|(bytes, _)| bytes == self.bytes)
    }

    fn add_new_sidecars(
        &self,
        approved: &Path,
        target: &Path,
        made: &mut Vec<CreatedPath>,
    ) -> Result<SubmitOutcome, SpoolError> {
        let mut names = Vec::new();
        for (name, bytes) in self.sidecars.files() {
            let path = approved.join(&name);
            let there = open_file(&path)
                .and_then(|file| read_bounded(&file.into(), &path, bytes.len(), AllowedLinks::Any));
            if there.is_ok_and(|(there, _)| there == bytes) {
                continue;
            }
            place_whole(&path, &bytes, made)?;
            names.push(name);
        }
        if names.is_empty() {
            return Err(already_waiting(target));
        }
        // Signatures alone would stay for ever.
        if fs::symlink_metadata(target).is_err() {
            return Err(taken_meanwhile(target));
        }
        Ok(SubmitOutcome::Signatures { request: target.to_owned(), names })
    }

    fn place(
        &self,
        approved: &Path,
        target: &Path,
        declared: &[&str],
        made: &mut Vec<CreatedPath>,
    ) -> Result<(), SpoolError> {
        access(approved, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(SpoolError::errno(approved, "write to"))?;
        let inputs = approved.join(inputs_name(&self.file_name));
        let files = self.sidecars.files();
        let beside: Vec<PathBuf> = files.iter().map(|(name, _)| approved.join(name)).collect();
        // Undeclared inputs would have the request refused, so no inputs directory may exist yet.
        for path in [target, &inputs].into_iter().chain(beside.iter().map(PathBuf::as_path)) {
            if fs::symlink_metadata(path).is_ok() {
                return Err(already_waiting(path));
            }
        }
        if !declared.is_empty() {
            self.place_inputs(&inputs, declared, made)?;
        }
        for (path, (_, bytes)) in beside.iter().zip(&files) {
            place_file(path, bytes, made)?;
        }
        sync::sync_dir(approved).map_err(SpoolError::io(approved, "sync"))?;
        place_whole(target, &self.bytes, made)
    }

    fn place_inputs(
        &self,
        target: &Path,
        declared: &[&str],
        made: &mut Vec<CreatedPath>,
    ) -> Result<(), SpoolError> {
        let hidden = hidden_sibling(target).map_err(SpoolError::io(target, "create"))?;
        make_directory(&hidden).map_err(SpoolError::io(&hidden, "create"))?;
        made.push(CreatedPath::Tree(hidden.clone()));
        for &name in declared {
            let folder = name.strip_suffix('/');
            let path = folder.unwrap_or(name);
            let (from, to) = (self.inputs.join(path), hidden.join(path));
            make_parents(&hidden, Path::new(path)).map_err(SpoolError::io(&from, COPY))?;
            match folder {
                Some(_) => place_folder(&from, &to)?,
                None => {
                    let file = self.open_input(path)?;
                    place_copy(&file, &to).map_err(SpoolError::io(&from, COPY))?;
                }
            }
        }
        let synced = match declared.iter().any(|name| name.ends_with('/')) {
            true => sync::sync_large_tree(&hidden),
            false => sync::sync_tree(&hidden),
        };
        synced.map_err(SpoolError::io(&hidden, "sync"))?;
        sync::rename_new(&hidden, target).map_err(io_or_already_waiting(target, "submit"))?;
        made.push(CreatedPath::Tree(target.to_owned()));
        Ok(())
    }
}

fn inputs_name(file_name: &str) -> String {
    format!("{}.inputs", file_name.strip_suffix(".md").unwrap_or(file_name))
}
