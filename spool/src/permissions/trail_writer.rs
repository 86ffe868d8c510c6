//! A new trail file, written whole under another name. It gets its name only after it is durable.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::PermissionStoreError;
use super::line::{self, LINE_BYTES_MAX, TrailChecksum, TrailFileHeader, TrailLine};

pub(super) struct TrailWriter {
    path: PathBuf,
    file: File,
    sum: TrailChecksum,
    waiting: Vec<u8>,
}

impl TrailWriter {
    pub(super) fn begin(
        path: &Path,
        generation: u64,
        after: u64,
    ) -> Result<Self, PermissionStoreError> {
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = opened.map_err(PermissionStoreError::disk(path, "create"))?;
        let (path, sum) = (path.to_owned(), TrailChecksum::default());
        let mut written = Self { path, file, sum, waiting: Vec::new() };
        written.add(&TrailLine::Begun(TrailFileHeader::new(generation, after)))?;
        Ok(written)
    }

    pub(super) fn add(&mut self, line: &TrailLine) -> Result<(), PermissionStoreError> {
        self.sum = line::write(line, self.sum, &mut self.waiting).map_err(|error| {
            PermissionStoreError::disk(&self.path, "write a line")(error.into())
        })?;
        if self.waiting.len() > LINE_BYTES_MAX { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), PermissionStoreError> {
        let written = self.file.write_all(&self.waiting);
        self.waiting.clear();
        written.map_err(PermissionStoreError::disk(&self.path, "write"))
    }

    pub(super) fn finish(mut self) -> Result<(), PermissionStoreError> {
        self.flush()?;
        self.file.sync_all().map_err(PermissionStoreError::disk(&self.path, "sync"))
    }
}

/// Removes the file of a process that died while writing it.
pub(super) fn remove_if_exists(path: &Path) -> Result<(), PermissionStoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(PermissionStoreError::disk(path, "remove")(error))
        }
        _ => Ok(()),
    }
}
