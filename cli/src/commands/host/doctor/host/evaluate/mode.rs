//! Formatting of file modes.

pub(super) fn octal(mode: u32) -> String {
    format!("{mode:04o}")
}
