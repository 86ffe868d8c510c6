//! The text of a file's mode.

/// How a mode is shown.
pub(super) fn octal(mode: u32) -> String {
    format!("{mode:04o}")
}
