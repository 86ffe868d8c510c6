//! A folder as an input: planned when it is opened, and copied without what its ignore files leave
//! out. It must never follow a link in the folder, nor state a digest of anything but its own copy.

mod copy;
mod model;
mod plan;
mod rules;

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use spool::folder_limits;
use trees::{LinkRule, TreeError, TreeSummary, digest_tree};

use self::model::{FolderPlan, LeftOutEntry};
use crate::failure::Failure;
use crate::output::figures::{count, size};

pub(crate) struct DraftFolder {
    top: OwnedFd,
    plan: FolderPlan,
}

impl DraftFolder {
    /// Opens a directory and plans its copy. A link to it is followed: the caller typed it.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = rustix::fs::open(path, flags, Mode::empty());
        let top = top.map_err(|errno| Failure::io(path)(errno.into()))?;
        let shown = path.display();
        let plan = plan::plan(top.as_fd());
        let plan = plan.map_err(|why| Failure::Message(format!("{shown}: {why}")))?;
        Ok(Self { top, plan })
    }

    /// The sizes of the planned files together.
    pub(super) fn bytes(&self) -> u64 {
        self.plan.bytes
    }

    /// The number of planned entries.
    pub(super) fn entries(&self) -> usize {
        self.plan.entries.len()
    }

    /// The levels of planned directories within the folder.
    pub(super) fn levels(&self) -> usize {
        self.plan.levels()
    }

    /// Copies the planned entries into an empty directory, and returns the digest of the copy.
    pub(super) fn copy(
        &self,
        to: BorrowedFd<'_>,
        bytes_max: u64,
    ) -> Result<TreeSummary, TreeError> {
        copy::copy(&self.plan, self.top.as_fd(), to, bytes_max)?;
        digest_tree(to, LinkRule::Inside, &folder_limits(bytes_max), &mut |_| {})
    }

    /// Returns what is copied and what is left out, such as
    /// `214 files, 1.8 MiB; left out: .git/, target/ (by .gitignore)`.
    pub(super) fn summary(&self) -> String {
        let FolderPlan { files, bytes, left_out, left_out_more, .. } = &self.plan;
        let copied = format!("{}, {}", count(*files, "file", "files"), size(*bytes));
        let mut names: Vec<String> = left_out.iter().map(LeftOutEntry::shown).collect();
        if *left_out_more > 0 {
            names.push(format!("{left_out_more} more"));
        }
        match names.is_empty() {
            true => copied,
            false => format!("{copied}; left out: {}", names.join(", ")),
        }
    }
}

/// Returns the name of a folder in a request: the last component of its real path, with `-` for
/// each character that a name cannot have.
pub(super) fn plain_name(path: &Path) -> Result<String, Failure> {
    let real = fs::canonicalize(path).map_err(Failure::io(path))?;
    let last = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = last.trim_start_matches('.').chars().map(plain).collect();
    match name.is_empty() {
        true => {
            let path = path.display();
            Err(Failure::Message(format!("{path}: has no name; help: write --input NAME=DIR")))
        }
        false => Ok(name),
    }
}
