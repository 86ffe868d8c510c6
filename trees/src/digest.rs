//! The digest of a tree in the format `toolexec-tree 1` (`docs/tree-digest.md`). Requests and
//! records name trees by it, so the hashed bytes must never change.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};

use model::{Sha256, Sha256Stream};
use rustix::fs::{AtFlags, FileType, fstat, readlinkat, statat};

use crate::entry::{
    FIRST_LINE, check_file, check_target, directory_line, file_line, is_executable, is_unchanged,
    link_line, plain, refused_kind,
};
use crate::error::TreeError;
use crate::limits::TreeLimits;
use crate::links::LinkRule;
use crate::walk::{ListedNames, NameStack, open_directory, open_file, open_top};

const CHUNK: usize = 128 * 1024;

/// The digest of a tree and its totals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeSummary {
    /// The digest of the top directory.
    pub sha256: Sha256,
    /// The number of regular files; each hard link counts.
    pub files: u64,
    /// The number of directories without the top.
    pub directories: u64,
    /// The number of symbolic links.
    pub links: u64,
    /// The sizes of all files together.
    pub bytes: u64,
}

/// One file of a tree, after it was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeFile<'a> {
    /// The path below the top, with `/`.
    pub path: &'a str,
    /// The digest of the bytes.
    pub sha256: Sha256,
    /// True if any execute bit is set.
    pub executable: bool,
    /// The size.
    pub bytes: u64,
}

/// Computes the digest of a directory. Calls `on_file` after each file, in byte order of the names
/// of each directory.
///
/// # Errors
/// Returns the first entry that is refused or cannot be read.
pub fn digest_tree(
    top: BorrowedFd<'_>,
    rule: LinkRule,
    limits: &TreeLimits,
    on_file: &mut dyn FnMut(&TreeFile<'_>),
) -> Result<TreeSummary, TreeError> {
    digest(top, TreeDigest::new(rule, 0, limits, on_file))
}

/// Computes the same digest for the content of an environment, of which only `tree/` is shown to a
/// tool: [`LinkRule::Inside`] also refuses links that lead out of a directory of the top.
///
/// # Errors
/// Returns the first entry that is refused or cannot be read.
pub fn digest_content(
    top: BorrowedFd<'_>,
    rule: LinkRule,
    limits: &TreeLimits,
    on_file: &mut dyn FnMut(&TreeFile<'_>),
) -> Result<TreeSummary, TreeError> {
    digest(top, TreeDigest::new(rule, 1, limits, on_file))
}

fn digest(top: BorrowedFd<'_>, mut walk: TreeDigest<'_>) -> Result<TreeSummary, TreeError> {
    let top = open_top(top).map_err(|error| walk.failed("open", error))?;
    let sha256 = walk.directory(top.as_fd(), 0)?;
    let TreeDigest { files, directories, links, bytes, .. } = walk;
    Ok(TreeSummary { sha256, files, directories, links, bytes })
}

/// A walk through a tree, with what was counted up to now.
struct TreeDigest<'a> {
    rule: LinkRule,
    /// The levels above the directory that no link may leave.
    levels_above: u32,
    limits: &'a TreeLimits,
    on_file: &'a mut dyn FnMut(&TreeFile<'_>),
    names: NameStack,
    /// The path of the present entry.
    path: String,
    chunk: Vec<u8>,
    entries: u64,
    files: u64,
    directories: u64,
    links: u64,
    bytes: u64,
}

impl<'a> TreeDigest<'a> {
    fn new(
        rule: LinkRule,
        levels_above: u32,
        limits: &'a TreeLimits,
        on_file: &'a mut dyn FnMut(&TreeFile<'_>),
    ) -> Self {
        Self {
            rule,
            levels_above,
            limits,
            on_file,
            names: NameStack::new(),
            path: String::new(),
            chunk: vec![0; CHUNK],
            entries: 0,
            files: 0,
            directories: 0,
            links: 0,
            bytes: 0,
        }
    }

    fn failed(&self, act: &'static str, error: impl Into<io::Error>) -> TreeError {
        TreeError::Io { path: self.path.clone(), act, error: error.into() }
    }

    /// Returns the digest of a directory, whose entries have `depth` + 1 components.
    fn directory(&mut self, fd: BorrowedFd<'_>, depth: u32) -> Result<Sha256, TreeError> {
        let mut text = Sha256Stream::new();
        if depth == 0 {
            text.update(FIRST_LINE);
        }
        let names = self.list(fd)?;
        let parent = self.path.len();
        for index in names.indices() {
            self.enter(index)?;
            text.update(self.entry(fd, index, depth + 1)?.as_bytes());
            self.path.truncate(parent);
        }
        self.names.forget(&names);
        Ok(text.finish())
    }

    fn list(&mut self, fd: BorrowedFd<'_>) -> Result<ListedNames, TreeError> {
        let entries_max = self.limits.entries_max;
        let listed = self.names.list(fd, entries_max.saturating_sub(self.entries));
        let names = listed
            .map_err(|error| self.failed("list", error))?
            .ok_or_else(|| TreeError::TooManyEntries { path: self.path.clone(), entries_max })?;
        self.entries += names.count();
        Ok(names)
    }

    /// Appends a name to the path.
    fn enter(&mut self, index: usize) -> Result<(), TreeError> {
        if !self.path.is_empty() {
            self.path.push('/');
        }
        let name = self.names.name(index);
        self.path.push_str(&name.to_string_lossy());
        match plain(name) {
            Some(_) => Ok(()),
            None => Err(TreeError::Name { path: self.path.clone() }),
        }
    }

    /// The last component of the path.
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the line of an entry. Its kind is read before it is opened, because opening a device
    /// or a FIFO can have effects.
    fn entry(&mut self, fd: BorrowedFd<'_>, index: usize, depth: u32) -> Result<String, TreeError> {
        let depth_max = self.limits.depth();
        if depth > depth_max {
            return Err(TreeError::TooDeep { path: self.path.clone(), depth_max });
        }
        let stat = statat(fd, self.names.name(index), AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(|error| self.failed("stat", error))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.file(fd, index),
            FileType::Directory => self.subdirectory(fd, index, depth),
            FileType::Symlink => self.link(fd, index, depth),
            other => {
                Err(TreeError::FileKind { path: self.path.clone(), kind: refused_kind(other) })
            }
        }
    }

    fn subdirectory(
        &mut self,
        fd: BorrowedFd<'_>,
        index: usize,
        depth: u32,
    ) -> Result<String, TreeError> {
        let below = open_directory(fd, self.names.name(index));
        let below = below.map_err(TreeError::unopened(&self.path))?;
        let sha256 = self.directory(below.as_fd(), depth)?;
        self.directories += 1;
        Ok(directory_line(sha256, self.name()))
    }

    fn link(&mut self, fd: BorrowedFd<'_>, index: usize, depth: u32) -> Result<String, TreeError> {
        let target = readlinkat(fd, self.names.name(index), Vec::<u8>::new());
        let target = target.map_err(|error| self.failed("read the link", error))?;
        let levels = depth.saturating_sub(1).saturating_sub(self.levels_above);
        let target = check_target(&target, self.rule, levels, &self.path)?;
        self.links += 1;
        Ok(link_line(target, self.name()))
    }

    fn file(&mut self, fd: BorrowedFd<'_>, index: usize) -> Result<String, TreeError> {
        let file = open_file(fd, self.names.name(index));
        let file = file.map_err(TreeError::unopened(&self.path))?;
        let before = fstat(&file).map_err(|error| self.failed("stat", error))?;
        let bytes = check_file(&before, &self.path)?;
        self.check_bytes(bytes)?;
        let sha256 = self.hash(&file, bytes)?;
        let after = fstat(&file).map_err(|error| self.failed("stat again", error))?;
        if !is_unchanged(&before, &after) {
            return Err(TreeError::Changed { path: self.path.clone() });
        }
        let executable = is_executable(&before);
        self.files += 1;
        self.bytes += bytes;
        (self.on_file)(&TreeFile { path: &self.path, sha256, executable, bytes });
        Ok(file_line(executable, bytes, sha256, self.name()))
    }

    fn check_bytes(&self, bytes: u64) -> Result<(), TreeError> {
        let bytes_max = self.limits.bytes_max;
        match self.bytes.checked_add(bytes).is_some_and(|total| total <= bytes_max) {
            true => Ok(()),
            false => Err(TreeError::TooManyBytes { path: self.path.clone(), bytes_max }),
        }
    }

    /// Hashes a file of exactly this size. One byte more is asked for, so that growth is noticed
    /// and a file that grows for ever is not read for ever.
    fn hash(&mut self, file: &File, bytes: u64) -> Result<Sha256, TreeError> {
        let mut stream = Sha256Stream::new();
        let mut rest = file.take(bytes.saturating_add(1));
        loop {
            match rest.read(&mut self.chunk) {
                Ok(0) => break,
                Ok(read) => stream.update(self.chunk.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed("read", error)),
            }
        }
        match rest.limit() {
            1 => Ok(stream.finish()),
            _ => Err(TreeError::Changed { path: self.path.clone() }),
        }
    }
}
