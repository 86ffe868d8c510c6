//! Places the entries of one layer in the tree.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, linkat, openat, symlinkat};
use rustix::io::Errno;

use super::entry_path::EntryPath;
use super::headers::{LayerEntry, LayerEntryKind};
use super::made_paths::MadePaths;
use super::meter::UnpackMeter;
use super::tree::{UnpackedTree, stat_at};
use super::whiteout::{HiddenPart, hidden_part, hide};
use crate::error::UnpackError;
use crate::fault::EntryFault;

const BUFFER_BYTES: usize = 64 * 1024;
/// The kernel's limit is 4096 with the NUL.
const TARGET_BYTES_MAX: usize = 4095;

/// Places the entries of one layer.
pub(super) struct LayerWriter<'w, 't> {
    label: &'w str,
    tree: &'w mut UnpackedTree<'t>,
    meter: &'w UnpackMeter,
    progress: &'w mut dyn FnMut(u64),
    made: MadePaths,
    /// The directories whose entries of earlier layers are all hidden.
    opaque: HashSet<String>,
    buffer: Vec<u8>,
}

impl<'w, 't> LayerWriter<'w, 't> {
    pub(super) fn new(
        label: &'w str,
        tree: &'w mut UnpackedTree<'t>,
        meter: &'w UnpackMeter,
        progress: &'w mut dyn FnMut(u64),
    ) -> Self {
        let (made, opaque) = (MadePaths::default(), HashSet::new());
        let buffer = vec![0; BUFFER_BYTES];
        Self { label, tree, meter, progress, made, opaque, buffer }
    }

    pub(super) fn count_entry(&mut self) -> Result<(), UnpackError> {
        (self.progress)(self.meter.unpacked());
        self.meter.count_entry()
    }

    pub(super) fn place(
        &mut self,
        entry: &LayerEntry,
        content: &mut impl Read,
    ) -> Result<(), UnpackError> {
        let path = EntryPath::parse(&entry.name, self.meter.limits())?;
        if path.is_top() {
            return match entry.kind {
                LayerEntryKind::Directory => Ok(()),
                _ => Err(UnpackError::entry(&entry.name, EntryFault::EmptyName)),
            };
        }
        if let Some(part) = hidden_part(&path)? {
            return match entry.kind {
                LayerEntryKind::File => self.hide(&path, &part),
                _ => Err(path.refused(EntryFault::WhiteoutKind)),
            };
        }
        match entry.kind {
            LayerEntryKind::File => self.place_file(entry, &path, content)?,
            LayerEntryKind::Directory => self.tree.place_directory(&path)?,
            LayerEntryKind::Symlink => self.place_symlink(entry, &path)?,
            LayerEntryKind::HardLink => self.place_hard_link(entry, &path)?,
            // Base images carry a few; the sandbox has a `/dev` of its own.
            _ if path.as_str().starts_with("dev/") => return Ok(()),
            LayerEntryKind::Device => return Err(path.refused(EntryFault::Device)),
            LayerEntryKind::Fifo => return Err(path.refused(EntryFault::Fifo)),
        }
        self.made.add(path.as_str());
        Ok(())
    }

    /// Hides entries of earlier layers. Each opaque whiteout reads its directory, so one layer must
    /// not have two of one directory.
    fn hide(&mut self, path: &EntryPath, part: &HiddenPart) -> Result<(), UnpackError> {
        if *part == HiddenPart::All && !self.opaque.insert(path.parent().to_owned()) {
            return Err(path.refused(EntryFault::SecondWhiteout));
        }
        hide(self.tree, path, part, &self.made)
    }

    fn place_file(
        &mut self,
        entry: &LayerEntry,
        path: &EntryPath,
        content: &mut impl Read,
    ) -> Result<(), UnpackError> {
        let parent = self.tree.parent_of(path)?;
        self.tree.clear(&parent, path)?;
        // No other bit of the mode: set-user-ID and set-group-ID are dropped.
        let mode = Mode::from_raw_mode(if entry.executable { 0o755 } else { 0o644 });
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let created = openat(&*parent, path.last(), flags, mode);
        let file = File::from(created.map_err(UnpackError::errno(path.shown(), "create"))?);
        self.copy(content, &file, entry.size, path)
    }

    fn copy(
        &mut self,
        content: &mut impl Read,
        mut file: &File,
        size: u64,
        path: &EntryPath,
    ) -> Result<(), UnpackError> {
        let mut copied = 0;
        while copied < size {
            let read = content.read(&mut self.buffer);
            let read = read.map_err(|error| UnpackError::stream(self.label, error))?;
            if read == 0 {
                let detail = format!("it ends in {}", path.shown());
                return Err(UnpackError::damaged(self.label, &detail));
            }
            let bytes = self.buffer.get(..read).unwrap_or_default();
            file.write_all(bytes).map_err(UnpackError::io(path.shown(), "write"))?;
            copied += u64::try_from(read).unwrap_or(u64::MAX);
            (self.progress)(self.meter.unpacked());
        }
        Ok(())
    }

    /// Makes the link as it is. Nothing here follows it; the digest of the tree checks its target.
    fn place_symlink(&mut self, entry: &LayerEntry, path: &EntryPath) -> Result<(), UnpackError> {
        let target = std::str::from_utf8(&entry.target).ok().filter(|target| {
            !target.is_empty()
                && target.len() <= TARGET_BYTES_MAX
                && !target.chars().any(char::is_control)
        });
        let target = target.ok_or_else(|| path.refused(EntryFault::Target))?;
        let parent = self.tree.parent_of(path)?;
        self.tree.clear(&parent, path)?;
        let linked = symlinkat(target, &*parent, path.last());
        linked.map_err(UnpackError::errno(path.shown(), "create"))
    }

    /// Links to a file that exists already, whose path has no link in it.
    fn place_hard_link(&mut self, entry: &LayerEntry, path: &EntryPath) -> Result<(), UnpackError> {
        let refuse = |fault| path.refused(fault);
        let target = EntryPath::parse(&entry.target, self.meter.limits())
            .map_err(|_| refuse(EntryFault::LinkOutside))?;
        if target == *path {
            return Err(refuse(EntryFault::LinkItself));
        }
        let directory = self.tree.resolve(target.parent(), OFlags::PATH);
        let directory = directory.map_err(|errno| match errno {
            Errno::LOOP => refuse(EntryFault::LinkThroughLink),
            Errno::NOENT | Errno::NOTDIR => refuse(EntryFault::LinkAbsent),
            errno => UnpackError::errno(path.shown(), "open the target of")(errno),
        })?;
        let found = match target.is_top() {
            true => return Err(refuse(EntryFault::LinkKind)),
            false => stat_at(&directory, &target)?.ok_or_else(|| refuse(EntryFault::LinkAbsent))?,
        };
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(refuse(EntryFault::LinkKind));
        }
        self.meter.count_linked(u64::try_from(found.st_size).unwrap_or(u64::MAX))?;
        let parent = self.tree.parent_of(path)?;
        self.tree.clear(&parent, path)?;
        let linked = linkat(&directory, target.last(), &*parent, path.last(), AtFlags::empty());
        linked.map_err(|errno| match errno {
            // The link replaced a directory that held its target.
            Errno::NOENT => refuse(EntryFault::LinkAbsent),
            errno => UnpackError::errno(path.shown(), "link")(errno),
        })
    }
}
