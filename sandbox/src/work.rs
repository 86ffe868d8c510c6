//! The writable copy of an input folder, from which a patch is made. The launcher resolves the
//! folder only beneath `/in`, in the sandbox. No text of a request may name any other path here.

use std::time::Duration;

/// The directory of the copy, below `/out`.
pub(crate) const WORK_DIRECTORY: &str = "work";

/// The most time that the launcher may take to copy the folder.
pub(crate) const COPY_TIME_MAX: Duration = Duration::from_secs(300);

/// The directory of git itself. Differences below it are left out, as git does.
pub(crate) const GIT_DIRECTORY: &[u8] = b".git";

/// The most differences between a folder and its copy. The output of a tool that makes more is
/// rejected.
pub const CHANGES_MAX: u32 = 10_000;

/// The size of the largest changed file, bytes. A larger one is rejected.
pub const WORK_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The most directories below each other, in the folder and in its copy.
pub const WORK_DEPTH_MAX: u32 = 64;

const COMPONENTS_MAX: usize = 8;
const COMPONENT_BYTES_MAX: usize = 255;

/// The path of an input folder below `/in`. Only the sandbox resolves it, beneath `/in` and without
/// following a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkFolder(String);

impl WorkFolder {
    /// The longest path, bytes: the components and the `/` between them.
    pub(crate) const BYTES_MAX: usize = COMPONENTS_MAX * (COMPONENT_BYTES_MAX + 1) - 1;

    /// Accepts a plain relative path: up to 8 components of `[A-Za-z0-9._-]`, none empty or
    /// beginning with a dot, each at most 255 bytes.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        let plain = |part: &str| {
            (1..=COMPONENT_BYTES_MAX).contains(&part.len())
                && !part.starts_with('.')
                && part.bytes().all(allowed)
        };
        let few = text.split('/').count() <= COMPONENTS_MAX;
        (few && text.split('/').all(plain)).then(|| Self(text.to_owned()))
    }

    /// Returns the path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns whether `git apply` refuses a path: one of its parts is a spelling of `.git`. A
/// backslash ends a part too, because git applies its rules for Windows on every system.
pub(crate) fn is_refused_by_git(path: &[u8]) -> bool {
    let spells_git = |part: &[u8]| is_spelling(part, GIT_DIRECTORY) || is_spelling(part, b"git~1");
    path.split(|byte| matches!(*byte, b'/' | b'\\')).any(spells_git)
}

/// Returns whether `git apply` refuses a link at this path, where it may accept a file.
pub(crate) fn is_link_refused_by_git(path: &[u8]) -> bool {
    path.rsplit(|byte| *byte == b'/').next().is_some_and(|name| is_spelling(name, b".gitmodules"))
}

/// Returns whether some file system takes a part of a path for this name: it ignores the case,
/// final dots and blanks, and the name of a stream after a colon.
fn is_spelling(part: &[u8], name: &[u8]) -> bool {
    let Some((head, rest)) = part.split_at_checked(name.len()) else { return false };
    let end = rest.iter().copied().find(|byte| !matches!(*byte, b'.' | b' '));
    head.eq_ignore_ascii_case(name) && matches!(end, None | Some(b':'))
}

/// The request for a patch: the folder to copy to `/out/work`, and the output that will hold the
/// differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkCopy {
    /// The folder.
    pub folder: WorkFolder,
    /// The path of the patch below `/out`. The daemon writes that file itself and rejects one of
    /// the tool there. Nothing else uses the path.
    pub patch: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_folders() {
        let longest = ["a".repeat(COMPONENT_BYTES_MAX).as_str(); COMPONENTS_MAX].join("/");
        assert_eq!(longest.len(), WorkFolder::BYTES_MAX);
        for plain in ["repo", "a/b_c/D-1.x", "a.", longest.as_str()] {
            assert_eq!(WorkFolder::new(plain).unwrap().as_str(), plain);
        }
        let long = "a".repeat(COMPONENT_BYTES_MAX + 1);
        let deep = ["a"; COMPONENTS_MAX + 1].join("/");
        for other in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", ".git", "a b", "é"] {
            assert_eq!(WorkFolder::new(other), None, "{other}");
        }
        assert_eq!((WorkFolder::new(&long), WorkFolder::new(&deep)), (None, None));
    }

    #[test]
    fn each_spelling_of_gits_directory_is_refused() {
        for refused in [
            ".git",
            ".GIT",
            "git~1",
            "Git~1",
            ".git. .",
            ".git:stream",
            "git~1 :x",
            "d/.giT/x",
            "d\\.git\\x",
            ".git\\x",
        ] {
            assert!(is_refused_by_git(refused.as_bytes()), "{refused}");
        }
        for other in [
            "",
            ".gitignore",
            ".gitx",
            ".git~1",
            "agit~1",
            "git",
            "git~2",
            ".github/x",
            "x.git",
            ".git.x",
            ".gi/t",
        ] {
            assert!(!is_refused_by_git(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_link_in_place_of_gitmodules_is_refused() {
        for refused in [".gitmodules", "d/.GitModules", ".gitmodules. "] {
            assert!(is_link_refused_by_git(refused.as_bytes()), "{refused}");
        }
        for other in ["", "gitmodules", ".gitmodules2", ".gitmodules/x", ".gitignore"] {
            assert!(!is_link_refused_by_git(other.as_bytes()), "{other}");
        }
    }
}
