//! The comparison of a work copy with its original, in the byte order of the names in each
//! directory. Only differences are sent. The original is beneath the read-only `/in`, so no act of
//! the tool can hide a difference, except below `.git`, of which no patch can have one.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use model::RejectReason;
use nix::sys::stat::FileStat;

use super::super::beneath::{DIRECTORY, FILE, kind_of, names_in, open_beneath};
use super::access::{difference_fault, file_fault, name_fault, open_own, version_fault};
use super::same_bytes::FileComparison;
use super::sender::EvidenceSender;
use super::tree_object::{ObjectPair, TreeObject, find};
use crate::plan::{Limits, WORK_DEPTH_MAX, WorkFolder};
use crate::work::{GIT_DIRECTORY, WORK_DIRECTORY};

/// The folder of which `/out/work` is a copy.
#[derive(Clone, Copy)]
pub(in crate::launch) struct WorkOriginal<'a> {
    /// `/in` of the sandbox.
    pub(in crate::launch) inputs: BorrowedFd<'a>,
    pub(in crate::launch) folder: &'a WorkFolder,
}

pub(super) struct WorkWalk<'a, 'e> {
    sender: &'a mut EvidenceSender<'e>,
    limits: &'a Limits,
    comparison: FileComparison,
    /// From the folder to the object at hand.
    path: Vec<u8>,
}

impl<'a, 'e> WorkWalk<'a, 'e> {
    pub(super) fn new(sender: &'a mut EvidenceSender<'e>, limits: &'a Limits) -> Self {
        Self { sender, limits, comparison: FileComparison::new(), path: Vec::new() }
    }

    /// Returns false if the walk had to stop before its end. `top` is `/out`.
    pub(super) fn walk(&mut self, top: &OwnedFd, original: WorkOriginal<'_>) -> io::Result<bool> {
        let folder = open_beneath(original.inputs, original.folder.as_str(), DIRECTORY)?;
        let name = CString::new(WORK_DIRECTORY).map_err(io::Error::other)?;
        let copy = match find(Some(top), &name)? {
            // The tool removed it, and with it all files.
            None => None,
            Some(found) => match self.open_copy(&found, &name, 0) {
                Ok(opened) => Some(opened),
                Err(reason) => {
                    self.sender.rejected(WORK_DIRECTORY.as_bytes(), reason)?;
                    return Ok(true);
                }
            },
        };
        self.directory(Some(&folder), copy.as_ref(), 0)
    }

    /// Opens a directory of the copy, at this depth below its top.
    fn open_copy(
        &self,
        found: &TreeObject<'_>,
        name: &CStr,
        depth: u32,
    ) -> Result<OwnedFd, RejectReason> {
        if found.is_other() {
            return Err(file_fault(&found.stat, self.limits).unwrap_or(RejectReason::Reserved));
        }
        if depth > WORK_DEPTH_MAX {
            return Err(RejectReason::TooDeep);
        }
        open_own(found.parent, name, DIRECTORY, 0o500, &found.stat).ok_or(RejectReason::Unreadable)
    }

    fn directory(
        &mut self,
        original: Option<&OwnedFd>,
        copy: Option<&OwnedFd>,
        depth: u32,
    ) -> io::Result<bool> {
        let mut names = Vec::new();
        for side in [original, copy].into_iter().flatten() {
            names.extend(names_in(side)?);
        }
        names.retain(|name| name.to_bytes() != GIT_DIRECTORY);
        names.sort();
        names.dedup();
        for name in names {
            let before = self.path.len();
            if before > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(name.to_bytes());
            let goes_on = self.entry(original, copy, &name, depth)?;
            self.path.truncate(before);
            if !goes_on || self.sender.has_too_many_rejections() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn entry(
        &mut self,
        original: Option<&OwnedFd>,
        copy: Option<&OwnedFd>,
        name: &CStr,
        depth: u32,
    ) -> io::Result<bool> {
        let original = find(original, name)?;
        let Ok(copy) = find(copy, name) else {
            return self.reject(RejectReason::Unreadable);
        };
        let files = ObjectPair {
            original: original.filter(TreeObject::is_other),
            copy: copy.filter(TreeObject::is_other),
        };
        let directories = ObjectPair {
            original: original.filter(TreeObject::is_directory),
            copy: copy.filter(TreeObject::is_directory),
        };
        let goes_on = self.files(files, name)?;
        // Below a file that the patch cannot remove, git cannot make another one.
        let is_blocked = directories.copy.is_some() && self.stays(files.original);
        Ok(goes_on && (is_blocked || self.directories(directories, name, depth + 1)?))
    }

    /// Returns whether a patch cannot remove this original.
    fn stays(&self, original: Option<TreeObject<'_>>) -> bool {
        let fault = |found: TreeObject<'_>| difference_fault(&self.work_path(), Some(&found.stat));
        original.and_then(fault).is_some()
    }

    /// Compares what is below the name on either side.
    fn directories(&mut self, pair: ObjectPair<'_>, name: &CStr, depth: u32) -> io::Result<bool> {
        if pair.original.is_none() && pair.copy.is_none() {
            return Ok(true);
        }
        let copy = match pair.copy.map(|found| self.open_new(&found, pair, name, depth)) {
            Some(Err(reason)) => return self.reject(reason),
            Some(Ok(opened)) => Some(opened),
            None => None,
        };
        let original = match pair.original {
            Some(found) => Some(open_beneath(found.parent, name, DIRECTORY)?),
            None => None,
        };
        self.directory(original.as_ref(), copy.as_ref(), depth)
    }

    /// Opens a directory of the copy. The name of one with an original is not checked.
    fn open_new(
        &self,
        found: &TreeObject<'_>,
        pair: ObjectPair<'_>,
        name: &CStr,
        depth: u32,
    ) -> Result<OwnedFd, RejectReason> {
        match name_fault(&self.work_path()) {
            Some(reason) if pair.original.is_none() => Err(reason),
            _ => self.open_copy(found, name, depth),
        }
    }

    /// Sends the difference between two files or links, if any.
    fn files(&mut self, pair: ObjectPair<'_>, name: &CStr) -> io::Result<bool> {
        let is_absent = pair.original.is_none() && pair.copy.is_none();
        if is_absent || self.comparison.is_unchanged(pair, name)? {
            return Ok(true);
        }
        let original = pair.original.as_ref().map(|found| &found.stat);
        if let Some(reason) = difference_fault(&self.work_path(), original) {
            return self.reject(reason);
        }
        let Some(copy) = pair.copy else { return self.remove() };
        let opened = match version_fault(&copy.stat, self.limits) {
            Some(reason) => Err(reason),
            None => {
                open_own(copy.parent, name, FILE, 0o400, &copy.stat).ok_or(RejectReason::Unreadable)
            }
        };
        match opened {
            Ok(file) => self.change(&file, &copy.stat),
            Err(reason) => {
                let kind = kind_of(&copy.stat);
                let same_kind = |original: TreeObject<'_>| kind_of(&original.stat) == kind;
                let goes_on = pair.original.is_none_or(same_kind) || self.remove()?;
                Ok(goes_on && self.reject(reason)?)
            }
        }
    }

    fn change(&mut self, file: &OwnedFd, stat: &FileStat) -> io::Result<bool> {
        if !self.sender.count_change() {
            return self.stop();
        }
        self.sender.changed(&self.path, stat.st_mode & 0o7777, file)?;
        Ok(true)
    }

    fn remove(&mut self) -> io::Result<bool> {
        if !self.sender.count_change() {
            return self.stop();
        }
        self.sender.removed(&self.path)?;
        Ok(true)
    }

    /// Ends the walk, because there are too many differences.
    fn stop(&mut self) -> io::Result<bool> {
        self.sender.rejected(WORK_DIRECTORY.as_bytes(), RejectReason::TooMany)?;
        Ok(false)
    }

    fn reject(&mut self, reason: RejectReason) -> io::Result<bool> {
        let path = self.work_path();
        self.sender.rejected(&path, reason)?;
        Ok(true)
    }

    /// Returns the path below `/out`.
    fn work_path(&self) -> Vec<u8> {
        [WORK_DIRECTORY.as_bytes(), b"/", &self.path].concat()
    }
}
