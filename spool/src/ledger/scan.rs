//! Reads a ledger for inspection: takes no lock and cuts nothing off.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::Path;

use super::entry::Entry;
use super::head::Head;
use super::lines::{Lines, Next};
use super::seal::{self, Seal, Sum};
use super::{HEAD, LedgerFault};
use crate::error::SpoolError;

/// A parsed line, or the problem with it.
type Read = Result<Entry, SpoolError>;

/// Reads every line of the ledger in a state directory, with its number, and compares the ledger
/// with its head. An invalid line is passed to `act` as an error, and reading continues. Returns
/// the number of lines, or `None` without a ledger.
///
/// # Errors
/// An I/O error, or a fault of the ledger as a whole.
pub(crate) fn each_line(
    state: &Path,
    act: &mut dyn FnMut(usize, Read),
) -> Result<Option<usize>, SpoolError> {
    let path = &state.join("ledger");
    // Read the head first: the ledger may grow meanwhile, and the head with it.
    let head = Head::read(&state.join(HEAD))?;
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SpoolError::io(path, "open")(error)),
    };
    let mut lines = Lines::from(&file, 0).map_err(SpoolError::io(path, "read"))?;
    let (mut read, mut above, mut count) = (Head::default(), Seal::None, 0);
    let mut is_head = head.is_none_or(|head| head == read);
    loop {
        let line = match lines.next().map_err(SpoolError::io(path, "read"))? {
            Next::Line(line) => line,
            Next::TooLong => {
                act(count + 1, Err(SpoolError::LedgerLine { path: path.clone(), line: count + 1 }));
                break;
            }
            // The line is being written, or was never finished.
            Next::Unfinished | Next::End => break,
        };
        count += 1;
        let opened = seal::open(line, read.sum);
        let wrong = opened.seal == Seal::Wrong || (above, opened.seal) == (Seal::Good, Seal::None);
        if opened.seal != Seal::None {
            above = Seal::Good;
        }
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX).saturating_add(1);
        read = Head { bytes: read.bytes.saturating_add(length), sum: opened.sum };
        is_head |= head == Some(read);
        if wrong {
            act(count, Err(SpoolError::ledger(path, LedgerFault::Sum { line: count })));
        }
        let parsed = Entry::parse(&opened.json);
        let bad = || SpoolError::LedgerLine { path: path.clone(), line: count };
        act(count, parsed.ok_or_else(bad));
    }
    let fault = match head {
        None if above == Seal::Good => LedgerFault::NoHead,
        Some(head) if !is_head && read.bytes < head.bytes => {
            LedgerFault::Shorter { bytes: read.bytes, head_bytes: head.bytes }
        }
        Some(head) if !is_head => LedgerFault::Another { head_bytes: head.bytes },
        _ => return Ok(Some(count)),
    };
    Err(SpoolError::ledger(path, fault))
}

/// Returns the results that were promised to these claims. Without a ledger there are none.
pub(crate) fn results_of(
    state: &Path,
    claims: &HashSet<String>,
) -> Result<HashSet<String>, SpoolError> {
    let (mut results, mut wrong) = (HashSet::new(), None);
    each_line(state, &mut |_, read| match read {
        Ok(Entry::Begun(intent)) if claims.contains(&intent.claim) => {
            results.insert(intent.result_id);
        }
        Ok(_) => {}
        Err(error) => wrong = Some(error),
    })?;
    wrong.map_or(Ok(results), Err)
}

/// Passes every entry to `act`, in the order of the lines.
///
/// # Errors
/// An I/O error, or the first problem of the ledger.
pub(crate) fn entries(
    state: &Path,
    act: &mut dyn FnMut(Entry),
) -> Result<Option<usize>, SpoolError> {
    let mut wrong = None;
    let count = each_line(state, &mut |_, read| match read {
        Ok(entry) => act(entry),
        Err(error) => wrong = wrong.take().or(Some(error)),
    });
    match wrong {
        Some(error) => Err(error),
        None => count,
    }
}

/// Returns the readable lines of a ledger that may be damaged, and the number of unreadable lines.
pub(super) fn salvage(state: &Path) -> (Vec<Entry>, usize) {
    let (mut entries, mut lost) = (Vec::new(), 0);
    let path = state.join("ledger");
    let Ok(file) = File::open(&path) else { return (entries, lost) };
    let Ok(mut lines) = Lines::from(&file, 0) else { return (entries, lost) };
    while let Ok(Next::Line(line)) = lines.next() {
        match Entry::parse(&seal::open(line, Sum::default()).json) {
            Some(entry) => entries.push(entry),
            None => lost += 1,
        }
    }
    (entries, lost)
}
