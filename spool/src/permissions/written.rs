//! A new trail file, written whole under another name. It gets its name only after it is durable.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::line::{self, Head, LINE_BYTES_MAX, Line, Sum};

/// A trail file that is being written.
pub(super) struct Written {
    path: PathBuf,
    file: File,
    sum: Sum,
    waiting: Vec<u8>,
}

impl Written {
    pub(super) fn begin(path: &Path, generation: u64, after: u64) -> Result<Self, StoreError> {
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = opened.map_err(StoreError::disk(path, "create"))?;
        let (path, sum) = (path.to_owned(), Sum::default());
        let mut written = Self { path, file, sum, waiting: Vec::new() };
        written.add(&Line::Begun(Head::new(generation, after)))?;
        Ok(written)
    }

    pub(super) fn add(&mut self, line: &Line) -> Result<(), StoreError> {
        self.sum = line::write(line, self.sum, &mut self.waiting)
            .map_err(|error| StoreError::disk(&self.path, "write a line")(error.into()))?;
        if self.waiting.len() > LINE_BYTES_MAX { self.pour() } else { Ok(()) }
    }

    fn pour(&mut self) -> Result<(), StoreError> {
        let written = self.file.write_all(&self.waiting);
        self.waiting.clear();
        written.map_err(StoreError::disk(&self.path, "write"))
    }

    pub(super) fn end(mut self) -> Result<(), StoreError> {
        self.pour()?;
        self.file.sync_all().map_err(StoreError::disk(&self.path, "sync"))
    }
}

/// Removes the file of a process that died while writing it.
pub(super) fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::disk(path, "remove")(error))
        }
        _ => Ok(()),
    }
}
