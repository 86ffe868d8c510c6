//! The changed lines of a text, with the lines around them. A hunk must always state the number of
//! its lines, or a reader would take the rest for something else.

use std::io::Write;

use crate::error::PatchError;
use crate::lines::{DiffBudget, EditBlock, LineBlock, edit_blocks, first_lines, last_lines, lines};
use crate::output::BoundedOutput;
use crate::sides::TextSides;

/// The equal lines before and after a change.
const CONTEXT: usize = 3;
const NO_NEWLINE: &[u8] = b"\n\\ No newline at end of file\n";

/// Writes the hunks of two versions, which must differ.
pub(crate) fn write_hunks<W: Write>(
    out: &mut BoundedOutput<W>,
    before: &[u8],
    after: &[u8],
    budget: &mut DiffBudget,
) -> Result<(), PatchError> {
    let sides = TextSides::of(before, after);
    let context = last_lines(sides.head, CONTEXT);
    let skipped = lines(sides.head).count().saturating_sub(context.lines);
    let mut hunk = Hunk::after(skipped, skipped);
    hunk.context(context);
    for block in edit_blocks(&sides, budget) {
        match block {
            EditBlock::Changed { before, after } => hunk.change(before, after),
            EditBlock::Equal(equal) if equal.lines <= 2 * CONTEXT => hunk.context(equal),
            EditBlock::Equal(equal) => {
                hunk.context(first_lines(equal.bytes, CONTEXT));
                hunk.write(out)?;
                hunk = hunk.next(equal.lines.saturating_sub(2 * CONTEXT));
                hunk.context(last_lines(equal.bytes, CONTEXT));
            }
        }
    }
    hunk.context(first_lines(sides.tail, CONTEXT));
    hunk.write(out)
}

struct Hunk<'a> {
    before: HunkRange,
    after: HunkRange,
    /// The first character of each line, and the lines.
    parts: Vec<(&'static [u8], &'a [u8])>,
}

/// The lines of one version in a hunk.
#[derive(Clone, Copy)]
struct HunkRange {
    /// The lines before the hunk.
    skipped: usize,
    count: usize,
}

impl HunkRange {
    fn end(self) -> usize {
        self.skipped.saturating_add(self.count)
    }

    /// An empty range has the number of the line before it.
    fn text(self) -> String {
        let first = self.skipped.saturating_add(usize::from(self.count > 0));
        match self.count {
            1 => first.to_string(),
            count => format!("{first},{count}"),
        }
    }
}

impl<'a> Hunk<'a> {
    /// Begins a hunk after this many lines of both versions.
    fn after(before: usize, after: usize) -> Self {
        let range = |skipped| HunkRange { skipped, count: 0 };
        Self { before: range(before), after: range(after), parts: Vec::new() }
    }

    /// Begins the next hunk after this many equal lines.
    fn next(&self, skipped: usize) -> Self {
        let [before, after] = [self.before, self.after].map(|it| it.end().saturating_add(skipped));
        Self::after(before, after)
    }

    fn context(&mut self, block: LineBlock<'a>) {
        self.before.count += block.lines;
        self.after.count += block.lines;
        self.parts.push((b" ", block.bytes));
    }

    fn change(&mut self, before: LineBlock<'a>, after: LineBlock<'a>) {
        self.before.count += before.lines;
        self.after.count += after.lines;
        self.parts.extend([(b"-".as_slice(), before.bytes), (b"+".as_slice(), after.bytes)]);
    }

    fn write<W: Write>(&self, out: &mut BoundedOutput<W>) -> Result<(), PatchError> {
        out.line(&format!("@@ -{} +{} @@", self.before.text(), self.after.text()))?;
        for (sign, bytes) in &self.parts {
            for line in lines(bytes) {
                out.write(sign)?;
                out.write(line)?;
            }
            if bytes.last().is_some_and(|last| *last != b'\n') {
                out.write(NO_NEWLINE)?;
            }
        }
        Ok(())
    }
}
