//! Formatting of file modes.

/// Formats a mode as four octal digits.
pub(super) fn octal(mode: u32) -> String {
    format!("{mode:04o}")
}
