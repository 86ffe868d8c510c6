//! The walk of a copy. It takes the entries of each directory by handle; the first directory with
//! several subdirectories is divided between two threads.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

use model::{Sha256, Sha256Stream};
use rustix::fs::{AtFlags, FileType, Mode, fchmod, mkdirat, readlinkat, statat, symlinkat};

use super::context::{CopyContext, DirectoryPair};
use super::file::copy_file;
use crate::entry::{FIRST_LINE, check_target, directory_line, link_line, plain, refused_kind};
use crate::error::TreeError;
use crate::limits::TreeLimits;
use crate::walk::{NameStack, open_directory};

const CHUNK: usize = 128 * 1024;
const DIRECTORY: u32 = 0o755;

/// The line of an entry, with the index of its name.
type IndexedLine = (usize, String);
/// The copies of one of two threads, or the error with the position of its entry.
type CopiedLines = Result<Vec<IndexedLine>, (usize, TreeError)>;

/// A walk of one thread. The paths of its errors are completed on the way up.
pub(super) struct TreeCopy<'a> {
    context: CopyContext<'a>,
    on_bytes: &'a mut dyn FnMut(u64),
    names: NameStack,
    chunk: Vec<u8>,
}

impl<'a> TreeCopy<'a> {
    pub(super) fn new(context: CopyContext<'a>, on_bytes: &'a mut dyn FnMut(u64)) -> Self {
        Self { context, on_bytes, names: NameStack::new(), chunk: vec![0; CHUNK] }
    }

    /// Copies a directory in two threads. An only subdirectory is divided itself.
    pub(super) fn split(&mut self, at: DirectoryPair<'_>) -> Result<Sha256, TreeError> {
        let (totals, limits) = (self.context.totals, self.context.limits);
        let names = self.names.list_counted(at.from, &totals.entries, limits.entries_max)?;
        let mut entries = Vec::new();
        for index in names.indices() {
            entries.push((index, kind_of(at.from, self.names.name(index))?));
        }
        let mut lines = Vec::new();
        if let Some(index) = only_directory(&entries) {
            entries.retain(|(other, _)| *other != index);
            let name = self.names.name(index).to_owned();
            let name = check_name(&name, at.depth, limits)?;
            lines.push((index, self.subdirectory(at, name, Self::split)?));
        }
        lines.extend(self.in_two_threads(at, &entries)?);
        self.names.forget(&names);
        lines.sort_unstable_by_key(|(index, _)| *index);
        let mut text = Sha256Stream::new();
        if at.depth == 1 {
            text.update(FIRST_LINE);
        }
        for (_, line) in &lines {
            text.update(line.as_bytes());
        }
        Ok(text.finish())
    }

    /// Copies entries of the deepest listed directory; each thread takes the next one. Without a
    /// second thread, this one takes all.
    fn in_two_threads(
        &mut self,
        at: DirectoryPair<'_>,
        entries: &[(usize, FileType)],
    ) -> Result<Vec<IndexedLine>, TreeError> {
        let (context, names, next) = (self.context, &self.names, AtomicUsize::new(0));
        let queue = CopyQueue { context, at, names, entries, next };
        let on_bytes = &mut *self.on_bytes;
        let elsewhere = AtomicU64::new(0);
        let work = || {
            queue.take(&mut |bytes: u64| {
                elsewhere.fetch_add(bytes, Ordering::Relaxed);
            })
        };
        thread::scope(|scope| {
            let other = match entries.len() {
                0 | 1 => None,
                _ => thread::Builder::new().name("copy".to_owned()).spawn_scoped(scope, work).ok(),
            };
            let lines = queue.take(&mut |bytes: u64| {
                on_bytes(bytes.saturating_add(elsewhere.swap(0, Ordering::Relaxed)));
            });
            let more = match other.map(ScopedJoinHandle::join) {
                Some(Ok(more)) => more,
                Some(Err(panic)) => resume_unwind(panic),
                None => Ok(Vec::new()),
            };
            on_bytes(elsewhere.swap(0, Ordering::Relaxed));
            all_lines(lines, more)
        })
    }

    /// Copies a directory in this thread.
    fn directory(&mut self, at: DirectoryPair<'_>) -> Result<Sha256, TreeError> {
        let (totals, limits) = (self.context.totals, self.context.limits);
        let names = self.names.list_counted(at.from, &totals.entries, limits.entries_max)?;
        let mut text = Sha256Stream::new();
        for index in names.indices() {
            let name = self.names.name(index).to_owned();
            let kind = kind_of(at.from, &name)?;
            text.update(self.entry(at, &name, kind)?.as_bytes());
        }
        self.names.forget(&names);
        Ok(text.finish())
    }

    /// Copies an entry, and returns its line.
    fn entry(
        &mut self,
        at: DirectoryPair<'_>,
        name: &CStr,
        kind: FileType,
    ) -> Result<String, TreeError> {
        let name = check_name(name, at.depth, self.context.limits)?;
        self.context.check_needed(name)?;
        match kind {
            FileType::RegularFile => {
                copy_file(self.context, at, name, &mut self.chunk, self.on_bytes)
            }
            FileType::Directory => self.subdirectory(at, name, Self::directory),
            FileType::Symlink => self.link(at, name),
            other => Err(TreeError::FileKind { path: name.to_owned(), kind: refused_kind(other) }),
        }
    }

    fn subdirectory(
        &mut self,
        at: DirectoryPair<'_>,
        name: &str,
        copy: fn(&mut Self, DirectoryPair<'_>) -> Result<Sha256, TreeError>,
    ) -> Result<String, TreeError> {
        let from = open_directory(at.from, name).map_err(TreeError::unopened(name))?;
        let to = at.to.map(|to| make_directory(to, name)).transpose();
        let to = to.map_err(TreeError::failed(name, "create"))?;
        let to = to.as_ref().map(OwnedFd::as_fd);
        let inside = DirectoryPair { from: from.as_fd(), to, depth: at.depth + 1 };
        let sha256 = copy(self, inside).map_err(|error| error.below(name))?;
        self.context.totals.directories.fetch_add(1, Ordering::Relaxed);
        Ok(directory_line(sha256, name))
    }

    fn link(&self, at: DirectoryPair<'_>, name: &str) -> Result<String, TreeError> {
        let target = readlinkat(at.from, name, Vec::<u8>::new());
        let target = target.map_err(TreeError::failed(name, "read the link"))?;
        let target = check_target(&target, self.context.rule, at.depth.saturating_sub(1), name)?;
        if let Some(to) = at.to {
            symlinkat(target, to, name).map_err(TreeError::failed(name, "create"))?;
        }
        self.context.totals.links.fetch_add(1, Ordering::Relaxed);
        Ok(link_line(target, name))
    }
}

/// The entries of a directory that two threads copy.
struct CopyQueue<'a> {
    context: CopyContext<'a>,
    at: DirectoryPair<'a>,
    names: &'a NameStack,
    entries: &'a [(usize, FileType)],
    next: AtomicUsize,
}

impl CopyQueue<'_> {
    /// Copies one entry after the other until none is left. A refused entry empties the queue, and
    /// ends the copy of a later one in the other thread.
    fn take(&self, on_bytes: &mut dyn FnMut(u64)) -> CopiedLines {
        let (mut walk, mut lines) = (TreeCopy::new(self.context, on_bytes), Vec::new());
        loop {
            let position = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((index, kind)) = self.entries.get(position) else { return Ok(lines) };
            walk.context.position = position;
            match walk.entry(self.at, self.names.name(*index), *kind) {
                Ok(line) => lines.push((*index, line)),
                Err(error) => {
                    self.context.failed.fetch_min(position, Ordering::Relaxed);
                    self.next.store(self.entries.len(), Ordering::Relaxed);
                    return Err((position, error));
                }
            }
        }
    }
}

/// Returns the lines of two threads, or the error of the entry that comes first in the directory.
fn all_lines(lines: CopiedLines, more: CopiedLines) -> Result<Vec<IndexedLine>, TreeError> {
    match (lines, more) {
        (Ok(mut lines), Ok(more)) => {
            lines.extend(more);
            Ok(lines)
        }
        (Err((_, error)), Ok(_)) | (Ok(_), Err((_, error))) => Err(error),
        (Err((first, error)), Err((second, _))) if first < second => Err(error),
        (Err(_), Err((_, error))) => Err(error),
    }
}

fn only_directory(entries: &[(usize, FileType)]) -> Option<usize> {
    let mut directories = entries.iter().filter(|(_, kind)| *kind == FileType::Directory);
    let (index, _) = directories.next()?;
    directories.next().is_none().then_some(*index)
}

/// Returns the kind of an entry before it is opened: opening a device or a FIFO can have effects.
fn kind_of(directory: BorrowedFd<'_>, name: &CStr) -> Result<FileType, TreeError> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    let stat = stat.map_err(TreeError::failed(&name.to_string_lossy(), "stat"))?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

/// Returns the name of an entry whose path has `depth` components, if the tree may have it.
fn check_name<'n>(name: &'n CStr, depth: u32, limits: &TreeLimits) -> Result<&'n str, TreeError> {
    let path = || name.to_string_lossy().into_owned();
    let name = plain(name).ok_or_else(|| TreeError::Name { path: path() })?;
    let depth_max = limits.depth();
    match depth <= depth_max {
        true => Ok(name),
        false => Err(TreeError::TooDeep { path: path(), depth_max }),
    }
}

fn make_directory(at: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    let mode = Mode::from_raw_mode(DIRECTORY);
    mkdirat(at, name, mode)?;
    let directory = open_directory(at, name)?;
    // The umask has no effect on it.
    fchmod(&directory, mode)?;
    Ok(directory)
}
