//! Reads the lines of a ledger in order, or one by its offset. It must never hold more than one
//! line, nor one longer than any that is written.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// Longer lines are invalid. A request, its hosts and two paths fit many times.
pub(super) const LINE_BYTES_MAX: usize = 1024 * 1024;
/// Most lines are shorter.
const LINE_BYTES_USUAL: usize = 1024;

pub(super) enum NextLedgerLine<'a> {
    /// A line without its line feed.
    Line(&'a [u8]),
    /// An append that never ended.
    Unfinished,
    TooLong,
    End,
}

pub(super) struct LedgerLines<'a> {
    reader: BufReader<&'a File>,
    line: Vec<u8>,
}

impl<'a> LedgerLines<'a> {
    pub(super) fn from(file: &'a File, offset: u64) -> io::Result<Self> {
        let mut reader = BufReader::with_capacity(64 * 1024, file);
        reader.seek(SeekFrom::Start(offset))?;
        Ok(Self { reader, line: Vec::new() })
    }

    pub(super) fn next(&mut self) -> io::Result<NextLedgerLine<'_>> {
        self.line.clear();
        let most = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let read = (&mut self.reader).take(most).read_until(b'\n', &mut self.line)?;
        Ok(match self.line.split_last() {
            None => NextLedgerLine::End,
            Some((b'\n', line)) => NextLedgerLine::Line(line),
            Some(_) if read < LINE_BYTES_MAX => NextLedgerLine::Unfinished,
            Some(_) => NextLedgerLine::TooLong,
        })
    }
}

/// Returns the line at this offset without its line feed, or `None` if no valid line ends there.
pub(super) fn line_at(file: &File, offset: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::with_capacity(LINE_BYTES_USUAL);
    let mut part = [0; LINE_BYTES_USUAL];
    while line.len() < LINE_BYTES_MAX {
        let at = offset.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
        let read = match file.read_at(&mut part, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => part.get(..read?).unwrap_or_default(),
        };
        if read.is_empty() {
            return Ok(None);
        }
        if let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            line.extend(&read[..end]);
            return Ok(Some(line));
        }
        line.extend(read);
    }
    Ok(None)
}
