//! The writable copy of an input folder, from which a patch is made. The launcher resolves the
//! folder only beneath `/in`, in the sandbox. No text of a request may name any other path here.

/// The directory of the copy, below `/out`.
pub(crate) const WORK_DIRECTORY: &str = "work";

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
}
