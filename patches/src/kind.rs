//! The meaning of each line of a patch, for colours. The content of a patch is untrusted: a line of
//! a file must never count as a header, or the reverse.

/// The beginnings of the lines before the hunks of a file.
const HEADERS: [&str; 8] = [
    "diff --git ",
    "index ",
    "--- ",
    "+++ ",
    "old mode ",
    "new mode ",
    "new file mode ",
    "deleted file mode ",
];

/// The meaning of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PatchLineKind {
    /// It names a file or a mode.
    Header,
    /// It begins a hunk.
    Hunk,
    /// The line was added.
    Added,
    /// The line was removed.
    Removed,
    /// An unchanged line, or data of a binary file.
    Plain,
}

/// Reads a patch line by line. In a hunk, the first character of a line decides.
#[derive(Default, Debug)]
pub struct PatchLineReader {
    /// The lines of the present hunk that did not come yet.
    before: u64,
    after: u64,
}

impl PatchLineReader {
    /// Returns the meaning of the next line, without its line end.
    pub fn kind_of(&mut self, line: &str) -> PatchLineKind {
        if self.before == 0 && self.after == 0 {
            return self.kind_outside(line);
        }
        match line.as_bytes().first() {
            Some(b'+') => {
                self.after = self.after.saturating_sub(1);
                PatchLineKind::Added
            }
            Some(b'-') => {
                self.before = self.before.saturating_sub(1);
                PatchLineKind::Removed
            }
            // `\ No newline at end of file` is not a line of a file.
            Some(b'\\') => PatchLineKind::Plain,
            _ => {
                self.before = self.before.saturating_sub(1);
                self.after = self.after.saturating_sub(1);
                PatchLineKind::Plain
            }
        }
    }

    fn kind_outside(&mut self, line: &str) -> PatchLineKind {
        if let Some(hunk) = Self::begin(line) {
            *self = hunk;
            return PatchLineKind::Hunk;
        }
        match HEADERS.iter().any(|header| line.starts_with(header)) {
            true => PatchLineKind::Header,
            false => PatchLineKind::Plain,
        }
    }

    /// Reads `@@ -1,2 +1,3 @@`.
    fn begin(line: &str) -> Option<Self> {
        let (before, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (after, _) = rest.split_once(" @@")?;
        // Without a number of lines, the hunk has one.
        let lines = |range: &str| range.split_once(',').map_or(Some(1), |(_, it)| it.parse().ok());
        Some(Self { before: lines(before)?, after: lines(after)? })
    }
}
