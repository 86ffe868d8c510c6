//! The one place that commits files: write, fsync the tree, rename that never replaces, fsync the
//! directory.
//!
//! Nothing else in the workspace may rename or write whole files (clippy bans it). An error here is
//! never retried: after a failed fsync the kernel may have dropped the pages and a second try would
//! succeed falsely.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// Writes a new file. It survives a crash only after [`sync_tree`] of what it lies in.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)
}

/// Makes one file's bytes durable.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Renames within one file system; fails if the new name exists.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

/// Renames within one file system over a file that is there; whoever opens the name sees either whole.
pub(crate) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    Ok(rustix::fs::rename(from, to)?)
}

/// Makes a tree of ours durable: every file, then every directory, from the leaves up.
pub(crate) fn sync_tree(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_tree(&entry.path())?;
        } else {
            File::open(entry.path())?.sync_all()?;
        }
    }
    sync_dir(path)
}
