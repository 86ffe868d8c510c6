//! The bounded part of a line that a check examines.

use std::ops::Range;

/// Returns the finding around a literal at this range. It must examine a bounded number of bytes.
pub(super) type LiteralCheck = fn(&str, Range<usize>) -> Option<Range<usize>>;

pub(super) fn window_after(line: &str, from: usize, most: usize) -> &str {
    let mut end = line.len().min(from.saturating_add(most));
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(from..end).unwrap_or("")
}

/// Returns at most `most` bytes before here, or one character.
pub(super) fn window_before(line: &str, to: usize, most: usize) -> &str {
    let mut start = to.saturating_sub(most);
    while !line.is_char_boundary(start) {
        start -= 1;
    }
    line.get(start..to).unwrap_or("")
}
