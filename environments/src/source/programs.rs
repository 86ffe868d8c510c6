//! The programs that a tree offers: the executables in its directories of programs. Links resolve
//! inside the tree, and never on the host.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;

use super::error::SourceError;
use super::model::BuildEvent;

/// The description of an environment has at most 64 KiB, of which this is for the programs.
const LIST_BYTES_MAX: usize = 48 << 10;
/// The quotes, colon and comma of an entry.
const ENTRY_BYTES: usize = 6;
/// openat2(2): a rename anywhere may interfere with a `..` in a link.
const RESOLVED_AGAIN_MAX: usize = 16;

/// The programs found so far. The first of a name counts, as in a search path.
pub(super) struct ProgramList {
    top: OwnedFd,
    tree: PathBuf,
    found: BTreeMap<String, String>,
    bytes: usize,
    left_out: usize,
}

impl ProgramList {
    pub(super) fn new(tree: &Path) -> Result<Self, SourceError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(tree, flags, Mode::empty());
        let top = opened.map_err(|errno| SourceError::io(tree)(errno.into()))?;
        let tree = tree.to_owned();
        Ok(Self { top, tree, found: BTreeMap::new(), bytes: 0, left_out: 0 })
    }

    /// Adds the executables in a directory of the tree, which may be missing.
    pub(super) fn add(&mut self, directory: &str) -> Result<(), SourceError> {
        let parts = directory.split('/').filter(|part| !part.is_empty() && *part != ".");
        let directory = parts.collect::<Vec<_>>().join("/");
        // A path of the description has no `..`.
        if directory.split('/').any(|part| part == "..") {
            return Ok(());
        }
        let failed = |errno: Errno| SourceError::io(&self.tree.join(&directory))(errno.into());
        let opened = match self.open(&directory, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(errno) => return Err(failed(errno)),
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(&opened).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_str().ok().filter(|name| is_word(name));
            names.extend(name.map(str::to_owned));
        }
        // The order of a directory is not that of another build.
        names.sort_unstable();
        for name in names {
            let path = format!("{directory}/{name}");
            if self.is_executable(&path) {
                self.insert(name, path);
            }
        }
        Ok(())
    }

    /// Returns the programs, and reports those that were left out.
    pub(super) fn finish(self, events: &mut dyn FnMut(BuildEvent)) -> BTreeMap<String, String> {
        if self.left_out > 0 {
            events(BuildEvent::ProgramsLeftOut(self.left_out));
        }
        self.found
    }

    fn insert(&mut self, name: String, path: String) {
        let bytes = name.len() + path.len() + ENTRY_BYTES;
        let fits = self.bytes + bytes <= LIST_BYTES_MAX;
        match self.found.entry(name) {
            Entry::Occupied(_) => {}
            Entry::Vacant(_) if !fits => self.left_out += 1,
            Entry::Vacant(place) => {
                place.insert(path);
                self.bytes += bytes;
            }
        }
    }

    fn is_executable(&self, path: &str) -> bool {
        let opened = self.open(path, OFlags::PATH);
        opened.and_then(|file| fstat(&file)).is_ok_and(|about| {
            let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
            is_file && about.st_mode & 0o111 != 0
        })
    }

    fn open(&self, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let flags = flags | OFlags::CLOEXEC;
        (0..RESOLVED_AGAIN_MAX)
            .map(|_| openat2(self.top.as_fd(), path, flags, Mode::empty(), within))
            .find(|opened| opened.as_ref().err() != Some(&Errno::AGAIN))
            .unwrap_or(Err(Errno::AGAIN))
    }
}

/// Returns whether a command can begin with this name.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}
