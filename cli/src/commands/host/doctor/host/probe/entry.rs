//! The type, mode and owner of a path.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::commands::host::doctor::host::model::{FileKind, FileReading, FileState};

pub(super) fn read(path: &Path) -> FileReading {
    FileReading { path: path.to_owned(), state: found(fs::symlink_metadata(path)) }
}

/// Reads a path and follows a symbolic link, for directories that may be links.
pub(super) fn read_following_links(path: &Path) -> FileReading {
    FileReading { path: path.to_owned(), state: found(fs::metadata(path)) }
}

fn found(looked: io::Result<fs::Metadata>) -> FileState {
    match looked {
        Ok(it) => {
            let kind = match it.file_type() {
                kind if kind.is_dir() => FileKind::Directory,
                kind if kind.is_file() => FileKind::File,
                _ => FileKind::Other,
            };
            FileState::Present { kind, mode: it.mode() & 0o7777, uid: it.uid(), gid: it.gid() }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => FileState::Missing,
        Err(error) => FileState::Unreadable(error.to_string()),
    }
}
