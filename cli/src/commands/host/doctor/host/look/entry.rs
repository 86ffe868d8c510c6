//! The type, mode and owner of a path.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::commands::host::doctor::host::model::{Entry, EntryState, Kind};

pub(super) fn at(path: &Path) -> Entry {
    Entry { path: path.to_owned(), found: found(fs::symlink_metadata(path)) }
}

/// Reads a path and follows a symbolic link, for directories that may be links.
pub(super) fn through(path: &Path) -> Entry {
    Entry { path: path.to_owned(), found: found(fs::metadata(path)) }
}

fn found(looked: io::Result<fs::Metadata>) -> EntryState {
    match looked {
        Ok(it) => {
            let kind = match it.file_type() {
                kind if kind.is_dir() => Kind::Directory,
                kind if kind.is_file() => Kind::File,
                _ => Kind::Other,
            };
            EntryState::There { kind, mode: it.mode() & 0o7777, uid: it.uid(), gid: it.gid() }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => EntryState::Missing,
        Err(error) => EntryState::Unseen(error.to_string()),
    }
}
