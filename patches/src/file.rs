//! One version of a file.

model::closed_set! {
    /// The kind of a file, with its mode in git.
    pub enum PatchedFileKind {
        /// A file without execute bits.
        Regular = "100644",
        /// A file with an execute bit.
        Executable = "100755",
        /// A symbolic link.
        Symlink = "120000",
    }
}

/// One version of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PatchedFile<'a> {
    /// The kind.
    pub kind: PatchedFileKind,
    /// The content; of a symbolic link, its target.
    pub bytes: &'a [u8],
}

impl PatchedFile<'_> {
    pub(crate) fn is_link(&self) -> bool {
        self.kind == PatchedFileKind::Symlink
    }

    /// Git shows such a file by its bytes and not by its lines.
    pub(crate) fn is_binary(&self) -> bool {
        self.bytes.contains(&0)
    }
}
