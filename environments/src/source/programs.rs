//! The programs that a tree offers: the executables in its directories of programs. Links resolve
//! inside the tree, and never on the host.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;

use super::error::SourceError;
use super::model::BuildEvent;

/// The description of an environment has at most 64 KiB, of which this is for the programs.
const LIST_BYTES_MAX: usize = 48 << 10;
/// The quotes, colon and comma of an entry.
const ENTRY_BYTES: usize = 6;
/// The directories of a root that the launcher shows: it has no program elsewhere.
const SHOWN_IN_ROOT: [&str; 8] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt"];
/// openat2(2): a rename anywhere may interfere with a `..` in a link.
const RESOLVED_AGAIN_MAX: usize = 16;

/// The programs found so far. The first of a name counts, as in a search path.
pub(super) struct ProgramList {
    top: OwnedFd,
    tree: PathBuf,
    is_root: bool,
    found: BTreeMap<String, String>,
    bytes: usize,
    left_out: usize,
}

impl ProgramList {
    /// Begins the list of a tree of libraries, which the launcher shows whole.
    pub(super) fn of_libraries(tree: &Path) -> Result<Self, SourceError> {
        Self::new(tree, false)
    }

    /// Begins the list of a root, of which the launcher shows a part.
    pub(super) fn of_root(tree: &Path) -> Result<Self, SourceError> {
        Self::new(tree, true)
    }

    fn new(tree: &Path, is_root: bool) -> Result<Self, SourceError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(tree, flags, Mode::empty());
        let top = opened.map_err(|errno| SourceError::io(tree)(errno.into()))?;
        let tree = tree.to_owned();
        Ok(Self { top, tree, is_root, found: BTreeMap::new(), bytes: 0, left_out: 0 })
    }

    /// Adds the executables in a directory of the tree, which may be missing.
    pub(super) fn add(&mut self, directory: &str) -> Result<(), SourceError> {
        let parts = directory.split('/').filter(|part| !part.is_empty() && *part != ".");
        let directory = parts.collect::<Vec<_>>().join("/");
        // A path of the description has no `..`.
        if directory.split('/').any(|part| part == "..") || !self.is_shown(Path::new(&directory)) {
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
            if self.is_offered(&path) {
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

    /// Returns whether the path leads to an executable that a run can start.
    fn is_offered(&self, path: &str) -> bool {
        let opened = self.open(path, OFlags::PATH);
        opened.is_ok_and(|file| is_executable(&file) && self.is_shown_where_it_is(&file))
    }

    /// Returns whether the launcher shows a path of the tree.
    fn is_shown(&self, path: &Path) -> bool {
        !self.is_root || SHOWN_IN_ROOT.iter().any(|directory| path.starts_with(directory))
    }

    /// The same for an opened file: links may have led out of the shown directories.
    fn is_shown_where_it_is(&self, file: &OwnedFd) -> bool {
        let (Some(top), Some(path)) = (host_path(&self.top), host_path(file)) else { return false };
        path.strip_prefix(top).is_ok_and(|path| self.is_shown(path))
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

fn is_executable(file: &OwnedFd) -> bool {
    fstat(file).is_ok_and(|about| {
        let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
        is_file && about.st_mode & 0o111 != 0
    })
}

/// Returns the path of an opened file, with no link in it.
fn host_path(file: &OwnedFd) -> Option<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

/// Returns whether a command can begin with this name.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}

#[cfg(test)]
mod tests {
    use std::fs::{File, create_dir_all, remove_dir_all};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_root_offers_programs_of_shown_directories_only() {
        let tree = std::env::temp_dir().join(format!("programs-of-root-{}", std::process::id()));
        for directory in ["usr/bin", "app/bin"] {
            create_dir_all(tree.join(directory)).unwrap();
        }
        for program in ["usr/bin/shown", "app/bin/hidden"] {
            let file = File::create(tree.join(program)).unwrap();
            file.set_permissions(fs::Permissions::from_mode(0o755)).unwrap();
        }
        symlink("/app/bin/hidden", tree.join("usr/bin/leaves")).unwrap();
        symlink("/usr/bin/shown", tree.join("usr/bin/stays")).unwrap();
        let names = |mut list: ProgramList| {
            for directory in ["/usr/bin", "/app/bin"] {
                list.add(directory).unwrap();
            }
            list.finish(&mut |_| {}).into_keys().collect::<Vec<_>>()
        };
        let of_root = names(ProgramList::of_root(&tree).unwrap());
        let of_libraries = names(ProgramList::of_libraries(&tree).unwrap());
        remove_dir_all(&tree).unwrap();
        assert_eq!(of_root, ["shown", "stays"]);
        assert_eq!(of_libraries, ["hidden", "leaves", "shown", "stays"]);
    }
}
