//! The limits of a walk through a tree.

/// The levels that no walk exceeds: each one holds a descriptor and a part of the stack.
const DEPTH_MOST: u32 = 256;

/// The limits of a tree. A tree beyond one of them is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeLimits {
    /// Files, directories and links at all levels, without the top directory.
    pub entries_max: u64,
    /// The sizes of all files together. A stamp does not check them.
    pub bytes_max: u64,
    /// The components of the longest path; values over 256 mean 256.
    pub depth_max: u32,
}

impl TreeLimits {
    pub(crate) fn depth(&self) -> u32 {
        self.depth_max.min(DEPTH_MOST)
    }
}
