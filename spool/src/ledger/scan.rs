//! Reads a ledger for inspection: takes no lock and cuts nothing off.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::Path;

use super::checksum::{self, LineChecksum, SealState};
use super::entry::LedgerEntry;
use super::head::LedgerHead;
use super::lines::{LedgerLines, NextLedgerLine};
use super::{HEAD_FILE, LedgerFault};
use crate::error::SpoolError;

type ParsedLedgerLine = Result<LedgerEntry, SpoolError>;

/// Passes every line to `act` with its number, an invalid one as an error, and compares the ledger
/// with its head. Returns the number of lines, or `None` without a ledger.
///
/// # Errors
/// An I/O error, or a fault of the ledger as a whole.
pub(crate) fn each_line(
    state: &Path,
    act: &mut dyn FnMut(usize, ParsedLedgerLine),
) -> Result<Option<usize>, SpoolError> {
    let path = &state.join("ledger");
    // Read the head first: the ledger may grow meanwhile, and the head with it.
    let head = LedgerHead::read(&state.join(HEAD_FILE))?;
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SpoolError::io(path, "open")(error)),
    };
    let mut lines = LedgerLines::from(&file, 0).map_err(SpoolError::io(path, "read"))?;
    let (mut read, mut above, mut count) = (LedgerHead::default(), SealState::None, 0);
    let mut is_head = head.is_none_or(|head| head == read);
    loop {
        let line = match lines.next().map_err(SpoolError::io(path, "read"))? {
            NextLedgerLine::Line(line) => line,
            NextLedgerLine::TooLong => {
                act(count + 1, Err(SpoolError::LedgerLine { path: path.clone(), line: count + 1 }));
                break;
            }
            // The line is being written, or was never finished.
            NextLedgerLine::Unfinished | NextLedgerLine::End => break,
        };
        count += 1;
        let opened = checksum::unseal(line, read.sum);
        let wrong = opened.seal == SealState::Wrong
            || (above, opened.seal) == (SealState::Good, SealState::None);
        if opened.seal != SealState::None {
            above = SealState::Good;
        }
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX).saturating_add(1);
        read = LedgerHead { bytes: read.bytes.saturating_add(length), sum: opened.sum };
        is_head |= head == Some(read);
        if wrong {
            act(count, Err(SpoolError::ledger(path, LedgerFault::Checksum { line: count })));
        }
        let parsed = LedgerEntry::parse(&opened.json);
        let bad = || SpoolError::LedgerLine { path: path.clone(), line: count };
        act(count, parsed.ok_or_else(bad));
    }
    let fault = match head {
        None if above == SealState::Good => LedgerFault::NoHead,
        Some(head) if !is_head && read.bytes < head.bytes => {
            LedgerFault::Truncated { bytes: read.bytes, head_bytes: head.bytes }
        }
        Some(head) if !is_head => LedgerFault::Different { head_bytes: head.bytes },
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
        Ok(LedgerEntry::Begun(intent)) if claims.contains(&intent.claim) => {
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
    act: &mut dyn FnMut(LedgerEntry),
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
///
/// # Errors
/// The file exists and cannot be read to its end.
pub(super) fn salvage(state: &Path) -> Result<(Vec<LedgerEntry>, usize), SpoolError> {
    let (mut entries, mut lost) = (Vec::new(), 0);
    let path = state.join("ledger");
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((entries, lost)),
        opened => opened.map_err(SpoolError::io(&path, "open"))?,
    };
    let mut lines = LedgerLines::from(&file, 0).map_err(SpoolError::io(&path, "read"))?;
    loop {
        match lines.next().map_err(SpoolError::io(&path, "read"))? {
            NextLedgerLine::End | NextLedgerLine::Unfinished => return Ok((entries, lost)),
            // Its rest follows as another line.
            NextLedgerLine::TooLong => lost += 1,
            NextLedgerLine::Line(line) => {
                match LedgerEntry::parse(&checksum::unseal(line, LineChecksum::default()).json) {
                    Some(entry) => entries.push(entry),
                    None => lost += 1,
                }
            }
        }
    }
}
