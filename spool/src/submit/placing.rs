//! Places objects in the spool: whole, durable, accessible to the daemon, and never over another.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::atomic_file::AtomicFile;
use crate::beneath::remove_tree;
use crate::error::SpoolError;

/// The daemon reads files through the group, and removes the ones that it has taken.
const FILE_MODE: u32 = 0o640;
/// A file with any execute bit keeps one, because the digest of a folder covers it.
const PROGRAM_MODE: u32 = 0o750;
const DIRECTORY_MODE: u32 = 0o770;

/// The operation on an input, for messages.
pub(super) const COPY: &str = "copy into the spool";

/// An object that this call has made in the spool.
pub(super) enum CreatedPath {
    File(PathBuf),
    Tree(PathBuf),
}

pub(super) fn place_file(
    path: &Path,
    bytes: &[u8],
    made: &mut Vec<CreatedPath>,
) -> Result<(), SpoolError> {
    let file = create(path).map_err(io_or_already_waiting(path, "create"))?;
    made.push(CreatedPath::File(path.to_owned()));
    let filled = fill(&file, bytes, FILE_MODE).and_then(|()| file.sync_all());
    filled.map_err(SpoolError::io(path, "write"))
}

/// The same, by a rename, because a reader may look for signatures at any time.
pub(super) fn place_whole(
    path: &Path,
    bytes: &[u8],
    made: &mut Vec<CreatedPath>,
) -> Result<(), SpoolError> {
    let mut fresh =
        AtomicFile::create_for(path, FILE_MODE).map_err(SpoolError::io(path, "create"))?;
    let written = fresh.write(bytes).and_then(|()| fresh.set_mode(FILE_MODE));
    written.map_err(SpoolError::io(path, "write"))?;
    fresh.place().map_err(io_or_already_waiting(path, "submit"))?;
    made.push(CreatedPath::File(path.to_owned()));
    Ok(())
}

/// Copies an open file.
pub(super) fn place_copy(from: &File, to: &Path) -> io::Result<()> {
    let is_program = from.metadata()?.permissions().mode() & 0o111 != 0;
    fill(&create(to)?, from, if is_program { PROGRAM_MODE } else { FILE_MODE })
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)
}

fn fill(mut file: &File, mut from: impl io::Read, mode: u32) -> io::Result<()> {
    io::copy(&mut from, &mut file)?;
    // Regardless of the submitter's umask.
    file.set_permissions(Permissions::from_mode(mode))
}

pub(super) fn make_parents(root: &Path, name: &Path) -> io::Result<()> {
    let mut path = root.to_owned();
    for component in name.parent().into_iter().flat_map(Path::components) {
        path.push(component);
        match make_directory(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
    }
    Ok(())
}

pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(DIRECTORY_MODE).create(path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    // Regardless of the umask. A set-group-id bit inherited from the spool stays.
    let inherited = directory.metadata()?.permissions().mode() & 0o7000;
    directory.set_permissions(Permissions::from_mode(inherited | DIRECTORY_MODE))
}

/// Removes the objects that a failed call made, the last one first.
pub(super) fn undo(made: Vec<CreatedPath>) {
    for one in made.into_iter().rev() {
        match one {
            CreatedPath::Tree(path) => remove_tree(&path),
            CreatedPath::File(path) => match fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => tracing::warn!("{}: remove: {error}", path.display()),
            },
        }
    }
}

pub(super) fn already_waiting(path: &Path) -> SpoolError {
    let what = "a file of this name is already waiting; help: remove it, or wait for the daemon";
    SpoolError::io(path, "submit")(io::Error::new(io::ErrorKind::AlreadyExists, what))
}

pub(super) fn taken_meanwhile(path: &Path) -> SpoolError {
    let what = "the daemon has taken the request meanwhile; help: see it with `toolexec show`";
    SpoolError::io(path, "submit")(io::Error::new(io::ErrorKind::NotFound, what))
}

pub(super) fn io_or_already_waiting(
    path: &Path,
    act: &'static str,
) -> impl FnOnce(io::Error) -> SpoolError + use<> {
    let path = path.to_owned();
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => already_waiting(&path),
        _ => SpoolError::io(&path, act)(error),
    }
}
