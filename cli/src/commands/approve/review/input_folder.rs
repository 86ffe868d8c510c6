//! A folder as an input: its digest, its totals and its first paths. Nothing of it is kept or shown
//! but names.

use std::io::ErrorKind;
use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use spool::{SubmissionFiles, folder_limits, folder_violation};
use trees::{LinkRule, TreeError, TreeSummary, digest_tree};
use validator::{Code, Input, Violation, reveal_line};

use super::page::ReviewPage;
use crate::failure::Failure;
use crate::output::figures::count;

/// The number of files that a review names.
const NAMED_MAX: usize = 20;

pub(crate) struct InputFolder {
    pub(crate) tree: TreeSummary,
    /// The paths of the first files, in byte order of the names of each directory.
    pub(crate) first: Vec<String>,
}

impl InputFolder {
    /// Returns the number of files with its noun.
    pub(crate) fn files(&self) -> String {
        count(self.tree.files, "file", "files")
    }

    /// Returns the number of files that the review does not name.
    pub(super) fn files_more(&self) -> u64 {
        let named = u64::try_from(self.first.len()).unwrap_or(u64::MAX);
        self.tree.files.saturating_sub(named)
    }

    /// Prints the section of the folder. `is_named` says that the command refers to it.
    pub(super) fn print(&self, page: &mut ReviewPage, is_named: bool) {
        let directories = count(self.tree.directories, "directory", "directories");
        let links = count(self.tree.links, "link", "links");
        let totals = format!("{}, {directories}, {links}", self.files());
        match is_named {
            true => page.line(format_args!(
                "! {totals}: texts not shown, and the COMMAND NAMES IT: this review cannot show \
                 what would run"
            )),
            false => page.line(format_args!("  {totals}: texts not shown")),
        }
        for path in &self.first {
            page.line(format_args!("  {}", reveal_line(path)));
        }
        if self.files_more() > 0 {
            let more = count(self.files_more(), "file", "files");
            page.line(format_args!("  … {more} more, not named"));
        }
    }
}

/// Computes the digest of a folder of at most `bytes_left` bytes.
pub(super) fn hash_folder(
    submission: &SubmissionFiles,
    input: &Input,
    bytes_left: u64,
) -> Result<Result<InputFolder, Violation>, Failure> {
    let path = submission.inputs().join(input.path());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (name, shown) = (input.name(), path.display());
    let top = match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(top) => top,
        Err(Errno::NOENT) => {
            let message = format!("input {name}: {shown}: does not exist");
            return Ok(Err(Violation::error(Code::InputsMissing, message)));
        }
        Err(Errno::NOTDIR | Errno::LOOP) => {
            let message = format!("input {name}: {shown}: is not a directory, or is a link");
            return Ok(Err(Violation::error(Code::SpoolFileKind, message)));
        }
        Err(errno) => return Err(Failure::io(&path)(errno.into())),
    };
    let mut first = Vec::new();
    let tree =
        digest_tree(top.as_fd(), LinkRule::Inside, &folder_limits(bytes_left), &mut |file| {
            if first.len() < NAMED_MAX {
                first.push(file.path.to_owned());
            }
        });
    match tree {
        Ok(tree) => Ok(Ok(InputFolder { tree, first })),
        Err(TreeError::Io { path: below, error, .. }) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::io(&path.join(below))(error))
        }
        // The path is below the folder. An entry may also have been removed while it was read.
        Err(error) => Ok(Err(folder_violation(name, &error))),
    }
}
