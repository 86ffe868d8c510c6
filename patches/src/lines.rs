//! The difference of two texts by lines. Its time is bounded, and its result is checked: a fault of
//! the library may make a patch longer, but never wrong.

use std::collections::HashMap;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::sides::TextSides;

/// The lines of both versions that are compared in one file.
const FILE_LINES_MAX: u64 = 20_000;
/// The sum of the squares of these numbers in one patch.
const PATCH_SQUARES_MAX: u64 = 1_000_000_000;

/// The comparisons that are left for a patch.
pub(crate) struct DiffBudget {
    squares_left: u64,
}

impl DiffBudget {
    pub(crate) fn new() -> Self {
        Self { squares_left: PATCH_SQUARES_MAX }
    }

    /// Takes the comparison of this many lines, if the budget allows it.
    fn take(&mut self, lines: usize) -> bool {
        let lines = u64::try_from(lines).unwrap_or(u64::MAX);
        let left = self.squares_left.checked_sub(lines.saturating_mul(lines));
        match left.filter(|_| lines <= FILE_LINES_MAX) {
            Some(left) => {
                self.squares_left = left;
                true
            }
            None => false,
        }
    }
}

/// Consecutive lines of one text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LineBlock<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) lines: usize,
}

impl<'a> LineBlock<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, lines: lines(bytes).count() }
    }
}

/// A part of the difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EditBlock<'a> {
    Equal(LineBlock<'a>),
    Changed { before: LineBlock<'a>, after: LineBlock<'a> },
}

/// Returns the lines of a text, each with its newline; the last one may have none.
pub(crate) fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Returns the difference between the sides. Its first and its last block are changes.
pub(crate) fn edit_blocks<'a>(
    sides: &TextSides<'a>,
    budget: &mut DiffBudget,
) -> Vec<EditBlock<'a>> {
    let (before, after) = (LineBlock::of(sides.before), LineBlock::of(sides.after));
    let is_comparable = before.lines > 0
        && after.lines > 0
        && budget.take(before.lines.saturating_add(after.lines));
    let script = if is_comparable { edit_script(before, after) } else { None };
    script.unwrap_or_else(|| vec![EditBlock::Changed { before, after }])
}

/// Compares line by line. Returns `None` if the answer of the library is not a difference of these
/// texts.
fn edit_script<'a>(before: LineBlock<'a>, after: LineBlock<'a>) -> Option<Vec<EditBlock<'a>>> {
    let mut numbers = HashMap::new();
    let old_numbers = numbered(before.bytes, &mut numbers);
    let new_numbers = numbered(after.bytes, &mut numbers);
    let mut old = NumberedText { rest: before.bytes, numbers: &old_numbers };
    let mut new = NumberedText { rest: after.bytes, numbers: &new_numbers };
    let mut blocks = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &old_numbers, &new_numbers) {
        let (old_block, old_part) = old.take(op.old_range().len())?;
        let (new_block, new_part) = new.take(op.new_range().len())?;
        let block = match op.tag() {
            DiffTag::Equal if old_part != new_part => return None,
            DiffTag::Equal => EditBlock::Equal(old_block),
            _ => EditBlock::Changed { before: old_block, after: new_block },
        };
        blocks.push(block);
    }
    let is_whole = old.numbers.is_empty() && new.numbers.is_empty();
    (is_whole && is_well_formed(&blocks)).then_some(blocks)
}

/// A hunk must not begin or end inside of equal lines, and each one must have a change.
fn is_well_formed(blocks: &[EditBlock<'_>]) -> bool {
    let is_equal = |block: &EditBlock<'_>| matches!(block, EditBlock::Equal(_));
    let ends = [blocks.first(), blocks.last()];
    ends.iter().all(|end| end.is_some_and(|block| !is_equal(block)))
        && !blocks.windows(2).any(|pair| pair.iter().all(is_equal))
}

/// Numbers the lines of a text. Equal lines of both texts have the same number, so that the length
/// of a line counts only once.
fn numbered<'a>(text: &'a [u8], numbers: &mut HashMap<&'a [u8], u32>) -> Vec<u32> {
    let number = |line| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(line).or_insert(next)
    };
    lines(text).map(number).collect()
}

/// A text of which lines are taken from the front.
struct NumberedText<'a, 'n> {
    rest: &'a [u8],
    numbers: &'n [u32],
}

impl<'a, 'n> NumberedText<'a, 'n> {
    fn take(&mut self, count: usize) -> Option<(LineBlock<'a>, &'n [u32])> {
        let (part, numbers) = self.numbers.split_at_checked(count)?;
        let (bytes, rest) = self.rest.split_at_checked(length_of(lines(self.rest), count))?;
        (self.numbers, self.rest) = (numbers, rest);
        Some((LineBlock { bytes, lines: count }, part))
    }
}

/// Returns at most this many lines from the beginning.
pub(crate) fn first_lines(text: &[u8], count: usize) -> LineBlock<'_> {
    LineBlock::of(text.get(..length_of(lines(text), count)).unwrap_or_default())
}

/// Returns at most this many lines from the end.
pub(crate) fn last_lines(text: &[u8], count: usize) -> LineBlock<'_> {
    let length = length_of(lines(text).rev(), count);
    let from = text.len().saturating_sub(length);
    LineBlock::of(text.get(from..).unwrap_or_default())
}

fn length_of<'a>(lines: impl Iterator<Item = &'a [u8]>, count: usize) -> usize {
    lines.take(count).map(<[u8]>::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks<'a>(before: &'a str, after: &'a str) -> Option<Vec<EditBlock<'a>>> {
        let sides = TextSides::of(before.as_bytes(), after.as_bytes());
        edit_script(LineBlock::of(sides.before), LineBlock::of(sides.after))
    }

    fn changed<'a>(before: &'a str, after: &'a str) -> EditBlock<'a> {
        EditBlock::Changed {
            before: LineBlock::of(before.as_bytes()),
            after: LineBlock::of(after.as_bytes()),
        }
    }

    #[test]
    fn equal_lines_stay_between_changes() {
        let equal = EditBlock::Equal(LineBlock::of(b"b\nc\n"));
        let wanted = vec![changed("a\n", "x\n"), equal, changed("d\n", "y\n")];
        assert_eq!(blocks("a\nb\nc\nd\n", "x\nb\nc\ny\n"), Some(wanted));
        assert_eq!(blocks("a\n", "b\n"), Some(vec![changed("a\n", "b\n")]));
    }

    /// Each answer of the library is a difference, so none is replaced by the whole text.
    #[test]
    fn each_script_is_a_difference() {
        let mut state: u64 = 1;
        let mut text = || {
            let mut text = String::new();
            for _ in 0..40 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = usize::try_from(state >> 33).unwrap() % 5;
                text.push_str(["a\n", "b\n", "c\n", "\n", "d\n"][at]);
            }
            text
        };
        for _ in 0..2_000 {
            let (before, after) = (text(), text());
            let sides = TextSides::of(before.as_bytes(), after.as_bytes());
            if !sides.before.is_empty() && !sides.after.is_empty() {
                assert!(blocks(&before, &after).is_some(), "{before:?} {after:?}");
            }
        }
    }

    #[test]
    fn the_budget_bounds_a_file_and_a_patch() {
        let mut budget = DiffBudget::new();
        assert!(!budget.take(20_001));
        assert!((0..2).all(|_| budget.take(20_000)));
        assert!(!budget.take(20_000));
        assert!((0..2).all(|_| budget.take(10_000)));
        assert!(!budget.take(1));
        assert!(budget.take(0));
    }

    #[test]
    fn lines_are_taken_from_both_ends() {
        let text = b"a\nb\nc";
        assert_eq!(first_lines(text, 2), LineBlock::of(b"a\nb\n"));
        assert_eq!(last_lines(text, 2), LineBlock::of(b"b\nc"));
        assert_eq!(first_lines(text, 9).lines, 3);
        assert_eq!(last_lines(b"", 3).lines, 0);
    }
}
