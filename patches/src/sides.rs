//! Two versions of a text without their common head and tail. All parts end where lines end, except
//! at the end of a text.

/// The parts of two versions that differ.
pub(crate) struct TextSides<'a> {
    /// The common beginning.
    pub(crate) head: &'a [u8],
    /// The part of the earlier version that differs.
    pub(crate) before: &'a [u8],
    /// The part of the later version that differs.
    pub(crate) after: &'a [u8],
    /// The common end.
    pub(crate) tail: &'a [u8],
}

impl<'a> TextSides<'a> {
    pub(crate) fn of(before: &'a [u8], after: &'a [u8]) -> Self {
        let common = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        let shared = before.get(..common).unwrap_or_default();
        let head = shared.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (head, before) = before.split_at_checked(head).unwrap_or_default();
        let after = after.get(head.len()..).unwrap_or_default();
        let tail = common_tail(before, after);
        let split = |text: &'a [u8]| text.split_at_checked(text.len().checked_sub(tail)?);
        let (before, tail) = split(before).unwrap_or_default();
        let (after, _) = split(after).unwrap_or_default();
        Self { head, before, after, tail }
    }
}

/// Returns the length of the common lines at the end.
fn common_tail(before: &[u8], after: &[u8]) -> usize {
    let pairs = before.iter().rev().zip(after.iter().rev());
    let common = pairs.take_while(|(a, b)| a == b).count();
    let begins_line = |text: &[u8]| match text.len().checked_sub(common + 1) {
        Some(last) => text.get(last) == Some(&b'\n'),
        None => true,
    };
    if begins_line(before) && begins_line(after) {
        return common;
    }
    let shared = before.len().checked_sub(common).and_then(|at| before.get(at..));
    let first = shared.and_then(|shared| shared.iter().position(|byte| *byte == b'\n'));
    first.map_or(0, |at| common.saturating_sub(at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, wanted: [&str; 4]) {
        let TextSides { head, before, after, tail } =
            TextSides::of(before.as_bytes(), after.as_bytes());
        let found = [head, before, after, tail].map(|part| std::str::from_utf8(part).unwrap());
        assert_eq!(found, wanted);
    }

    #[test]
    fn sides_are_split_between_lines() {
        check("a\nb\nc\n", "a\nx\nc\n", ["a\n", "b\n", "x\n", "c\n"]);
        check("a\nb\n", "a\nx\nb\n", ["a\n", "", "x\n", "b\n"]);
        check("a\nx\nb\n", "a\nb\n", ["a\n", "x\n", "", "b\n"]);
        check("a\na\n", "a\na\na\n", ["a\na\n", "", "a\n", ""]);
        check("", "a\n", ["", "", "a\n", ""]);
        check("xb\nc\n", "yb\nc\n", ["", "xb\n", "yb\n", "c\n"]);
        check("b\nc\n", "ab\nc\n", ["", "b\n", "ab\n", "c\n"]);
    }

    #[test]
    fn a_missing_newline_at_the_end_is_a_difference() {
        check("a\nb", "a\nb\n", ["a\n", "b", "b\n", ""]);
        check("a", "a\n", ["", "a", "a\n", ""]);
        check("a\n", "a\nb", ["a\n", "", "b", ""]);
        check("x\nb", "y\nb", ["", "x\n", "y\n", "b"]);
        check("ab", "b", ["", "ab", "b", ""]);
    }
}
