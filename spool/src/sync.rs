//! Commits files: write, fsync the tree, rename without replacing, fsync the directory. Clippy
//! bans `std::fs::write` and `std::fs::rename`, which neither sync nor refuse to replace. `atomic_file`
//! does the same for directories that others may write to. A failed sync is never retried: the kernel may have
//! dropped the pages, and a second try would report success falsely.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{
    Advice, CWD, Mode, OFlags, RenameFlags, fadvise, open, renameat, renameat_with, syncfs,
};

/// Writes a new file. It survives a crash only after [`sync_tree`] of its directory.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    File::from(open(path, flags, Mode::empty())?).sync_all()
}

/// Renames within one file system. Fails if the new name exists.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

/// Renames a directory within one file system, also over an empty one.
pub(crate) fn rename_directory(from: &Path, to: &Path) -> io::Result<()> {
    Ok(renameat(CWD, from, CWD, to)?)
}

/// Makes a tree durable: every file, then every directory with its links, from the leaves up.
pub(crate) fn sync_tree(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_tree(&entry.path())?;
        } else if !kind.is_symlink() {
            // Others may write in some trees: never follow or wait for an object of theirs.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
            File::from(open(entry.path(), flags | OFlags::CLOEXEC, Mode::empty())?).sync_all()?;
        }
    }
    sync_dir(path)
}

/// Makes a tree durable by one sync of its file system, because a folder may have 100,000 files.
/// Unwritten data of other programs there delays it.
pub(crate) fn sync_large_tree(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(syncfs(open(path, flags, Mode::empty())?)?)
}

/// Makes a tree durable and drops it from the page cache, so that it is read from the disk again.
/// After an earlier failed sync, the cache may hold bytes that are not on the disk.
pub(crate) fn sync_tree_and_drop_cache(path: &Path) -> io::Result<()> {
    sync_tree(path)?;
    each_file(path, &mut |file| Ok(fadvise(file, 0, None, Advice::DontNeed)?))
}

fn each_file(path: &Path, see: &mut dyn FnMut(&File) -> io::Result<()>) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            each_file(&entry.path(), see)?;
        } else if kind.is_file() {
            see(&File::open(entry.path())?)?;
        }
    }
    Ok(())
}

/// Renames over a file in one file system. Readers see either file whole, also after a crash.
pub(crate) fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    renameat(CWD, from, CWD, to)?;
    sync_dir(to.parent().unwrap_or(to))
}
