//! Plans the copy of a folder: walks through it by handle, asks its ignore files about each entry,
//! and refuses what a tree cannot have. It must never open a file, except an ignore file.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;
use spool::folder_limits;
use trees::{TreeError, TreeLimits};

use super::model::{FolderPlan, LeftOutEntry, PlannedEntry, PlannedKind};
use super::rules::FolderRules;

/// Left out at each level: its content differs from clone to clone.
const REPOSITORY: &CStr = c".git";

/// Returns whether a name at the top of the folder is that of a draft. A draft that is written into
/// its own folder must not change the digest of the next one.
fn is_draft(name: &CStr) -> bool {
    let Ok(name) = name.to_str() else { return false };
    match (name.get(..3), name.rsplit_once('.')) {
        (Some("TR-"), Some((_, end))) => matches!(end, "md" | "inputs"),
        (Some("SA-"), Some((_, end))) => end == "md",
        _ => false,
    }
}

/// Plans the copy of an open directory. The error names the path of an entry first.
pub(super) fn plan(top: BorrowedFd<'_>) -> Result<FolderPlan, String> {
    let rules = FolderRules::of(top)?;
    let limits = folder_limits(u64::MAX);
    let mut walk = FolderWalk { rules, limits, path: String::new(), plan: FolderPlan::default() };
    walk.directory(top, 1)?;
    Ok(walk.plan)
}

struct FolderWalk {
    rules: FolderRules,
    limits: TreeLimits,
    /// The path of the present entry.
    path: String,
    plan: FolderPlan,
}

impl FolderWalk {
    /// Plans the entries of a directory, whose paths have `depth` components.
    fn directory(&mut self, directory: BorrowedFd<'_>, depth: u32) -> Result<(), String> {
        self.rules.enter(directory, &self.path)?;
        let parent = self.path.len();
        for name in self.names(directory)? {
            self.enter(&name)?;
            self.entry(directory, &name, depth)?;
            self.path.truncate(parent);
        }
        self.rules.leave();
        Ok(())
    }

    /// Lists a directory in byte order. No directory may have more entries than the whole folder,
    /// not even if they are left out.
    fn names(&self, directory: BorrowedFd<'_>) -> Result<Vec<CString>, String> {
        let listed = Dir::read_from(directory).map_err(|errno| self.failed("list", errno))?;
        let entries_max = self.limits.entries_max;
        let mut names = Vec::new();
        for entry in listed {
            let entry = entry.map_err(|errno| self.failed("list", errno))?;
            if entry.file_name() == c"." || entry.file_name() == c".." {
                continue;
            }
            if u64::try_from(names.len()).is_ok_and(|listed| listed >= entries_max) {
                let path = self.path.clone();
                return Err(TreeError::TooManyEntries { path, entries_max }.to_string());
            }
            names.push(entry.file_name().to_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Appends a name to the path.
    fn enter(&mut self, name: &CStr) -> Result<(), String> {
        if !self.path.is_empty() {
            self.path.push('/');
        }
        self.path.push_str(&name.to_string_lossy());
        match name.to_str() {
            Ok(_) => Ok(()),
            Err(_) => Err(TreeError::Name { path: self.path.clone() }.to_string()),
        }
    }

    fn entry(&mut self, directory: BorrowedFd<'_>, name: &CStr, depth: u32) -> Result<(), String> {
        let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(|errno| self.failed("stat", errno))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if self.is_left_out(name, kind == FileType::Directory, depth) {
            return Ok(());
        }
        self.check_limits(depth)?;
        match kind {
            FileType::RegularFile => self.file(&stat),
            FileType::Symlink => {
                let target = readlinkat(directory, name, Vec::<u8>::new());
                let target = target.map_err(|errno| self.failed("read the link", errno))?;
                self.add(PlannedKind::Link(target));
            }
            FileType::Directory => {
                self.add(PlannedKind::Directory);
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
                let below = openat(directory, name, flags | OFlags::CLOEXEC, Mode::empty());
                let below = below.map_err(|errno| self.failed("open", errno))?;
                self.directory(below.as_fd(), depth + 1)?;
            }
            kind => {
                let path = self.path.clone();
                return Err(TreeError::FileKind { path, kind: kind_text(kind) }.to_string());
            }
        }
        Ok(())
    }

    /// Returns whether the present entry is left out, and notes it.
    fn is_left_out(&mut self, name: &CStr, is_directory: bool, depth: u32) -> bool {
        let rules = match name == REPOSITORY || depth == 1 && is_draft(name) {
            true => None,
            false => match self.rules.file_against(&self.path, is_directory) {
                Some(file) => Some(file),
                None => return false,
            },
        };
        let slash = if is_directory { "/" } else { "" };
        self.plan.leave_out(LeftOutEntry { path: format!("{}{slash}", self.path), rules });
        true
    }

    fn check_limits(&self, depth: u32) -> Result<(), String> {
        let TreeLimits { entries_max, depth_max, .. } = self.limits;
        let path = || self.path.clone();
        if depth > depth_max {
            return Err(TreeError::TooDeep { path: path(), depth_max }.to_string());
        }
        let planned = u64::try_from(self.plan.entries.len()).unwrap_or(u64::MAX);
        match planned < entries_max {
            true => Ok(()),
            false => Err(TreeError::TooManyEntries { path: path(), entries_max }.to_string()),
        }
    }

    fn file(&mut self, stat: &Stat) {
        self.add(PlannedKind::File);
        let bytes = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        self.plan.files += 1;
        self.plan.bytes = self.plan.bytes.saturating_add(bytes);
    }

    fn add(&mut self, kind: PlannedKind) {
        self.plan.entries.push(PlannedEntry { path: self.path.clone(), kind });
    }

    fn failed(&self, act: &'static str, errno: Errno) -> String {
        TreeError::Io { path: self.path.clone(), act, error: errno.into() }.to_string()
    }
}

fn kind_text(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_files_of_a_draft_are_left_out() {
        for name in [c"TR-1-a.md", c"TR-1-a.b.inputs", c"SA-1-a.md"] {
            assert!(is_draft(name), "{name:?}");
        }
        for name in [c"TR-1-a", c"TR-1-a.py", c"SA-1-a.inputs", c"a.md", c"tr-1-a.md", c"T", c""] {
            assert!(!is_draft(name), "{name:?}");
        }
    }
}
