//! The plan of a folder: what is copied, and what is left out. It must never have an entry that
//! is behind a link.

use std::ffi::CString;

use model::escape_line;

/// The number of left-out entries that are named.
const NAMED_MAX: usize = 5;

#[derive(Default)]
pub(super) struct FolderPlan {
    /// The entries that are copied, each directory before its content.
    pub(super) entries: Vec<PlannedEntry>,
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// The first entries that are left out.
    pub(super) left_out: Vec<LeftOutEntry>,
    /// The number of those that are not named.
    pub(super) left_out_more: u64,
}

impl FolderPlan {
    /// Returns the levels of directories within the folder.
    pub(super) fn levels(&self) -> usize {
        let directories =
            self.entries.iter().filter(|entry| matches!(entry.kind, PlannedKind::Directory));
        directories.map(|entry| entry.path.split('/').count()).max().unwrap_or(0)
    }

    pub(super) fn leave_out(&mut self, entry: LeftOutEntry) {
        match self.left_out.len() < NAMED_MAX {
            true => self.left_out.push(entry),
            false => self.left_out_more += 1,
        }
    }
}

pub(super) struct PlannedEntry {
    /// The path below the folder.
    pub(super) path: String,
    pub(super) kind: PlannedKind,
}

pub(super) enum PlannedKind {
    Directory,
    File,
    /// A link with its target.
    Link(CString),
}

/// An entry that is not copied.
pub(super) struct LeftOutEntry {
    /// The path below the folder; that of a directory ends in `/`.
    pub(super) path: String,
    /// The ignore file that leaves it out; `.git` and a draft need none.
    pub(super) rules: Option<String>,
}

impl LeftOutEntry {
    /// Returns the entry for a message, such as `target/ (by .gitignore)`.
    pub(super) fn shown(&self) -> String {
        let path = escape_line(&self.path);
        match &self.rules {
            Some(rules) => format!("{path} (by {})", escape_line(rules)),
            None => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_are_levels() {
        let mut plan = FolderPlan::default();
        assert_eq!(plan.levels(), 0);
        for (path, kind) in [
            ("a", PlannedKind::Directory),
            ("a/b", PlannedKind::Directory),
            ("a/b/c", PlannedKind::File),
        ] {
            plan.entries.push(PlannedEntry { path: path.to_owned(), kind });
        }
        assert_eq!(plan.levels(), 2);
    }
}
