//! The limits of an image.

/// The limits of one image. All of its layers count together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnpackLimits {
    /// Headers in the layers, and directories that no header of a layer makes.
    pub entries_max: u64,
    /// Bytes of the layers as they unpack, and of each file again for each hard link to it.
    pub bytes_max: u64,
    /// Bytes of one path.
    pub path_bytes_max: usize,
    /// Parts of one path.
    pub depth_max: u32,
    /// Unpacked bytes for each packed byte. It counts only beyond 64 MiB, because small texts
    /// pack well.
    pub ratio_max: u64,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self {
            entries_max: 500_000,
            bytes_max: 16 * 1024 * 1024 * 1024,
            path_bytes_max: 1024,
            depth_max: 64,
            ratio_max: 100,
        }
    }
}
