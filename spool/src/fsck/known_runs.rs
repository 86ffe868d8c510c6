//! Reads the ledger and retention's marks without a lock. An invalid line is reported, and reading
//! continues. An unfinished last line is ignored: it is being written, or was never finished.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::model::{SpoolFinding, SpoolProblem, SpoolReport};
use crate::error::SpoolError;
use crate::ledger::{LedgerEntry, LedgerFault, each_line};
use crate::state::{RemovalMarksError, removed_results};

/// The results that the ledger promised, by claim.
type ByClaim = HashMap<String, String>;

pub(super) struct KnownRuns {
    pub(super) claims: ByClaim,
    /// The ids of results that were promised to runs.
    pub(super) ids: HashSet<String>,
    pub(super) removed: HashSet<String>,
    pub(super) lines: Vec<PromisedRun>,
}

pub(super) struct PromisedRun {
    pub(super) claim: String,
    pub(super) result_id: String,
    pub(super) results: PathBuf,
}

impl KnownRuns {
    pub(super) fn read(state: &Path, report: &mut SpoolReport) -> Self {
        let mut known = Self {
            claims: ByClaim::new(),
            ids: HashSet::new(),
            removed: HashSet::new(),
            lines: Vec::new(),
        };
        let mut find = |path: &Path, trouble| {
            report.findings.push(SpoolFinding { path: path.to_owned(), problem: trouble });
        };
        let lines = known.read_ledger(state, &mut find);
        match removed_results(state) {
            Ok(removed) => known.removed = removed,
            Err(RemovalMarksError::Line(path, line)) => {
                find(&path, SpoolProblem::InvalidRemovalLine { line })
            }
            Err(RemovalMarksError::Read(path, error)) => {
                find(&path, SpoolProblem::Unreadable(error.to_string()));
            }
        }
        report.ledger_lines = lines;
        known
    }

    fn read_ledger(
        &mut self,
        state: &Path,
        find: &mut dyn FnMut(&Path, SpoolProblem),
    ) -> Option<usize> {
        let (mut wrong, mut lines) = (Vec::new(), 0);
        let read = each_line(state, &mut |number, read| {
            lines = number;
            match read {
                Ok(entry) => self.take_in(entry),
                Err(error) => wrong.push(error),
            }
        });
        let count = match read {
            Ok(None) => {
                find(&state.join("ledger"), SpoolProblem::NoLedger);
                None
            }
            Ok(count) => count,
            Err(error) => {
                let is_read = matches!(
                    &error,
                    SpoolError::Ledger { fault, .. } if *fault != LedgerFault::HeadUnreadable
                );
                wrong.push(error);
                is_read.then_some(lines)
            }
        };
        for error in wrong {
            let path = error.path().to_owned();
            find(
                &path,
                match error {
                    SpoolError::LedgerLine { line, .. } => SpoolProblem::LedgerLine { line },
                    SpoolError::Ledger { fault, .. } => SpoolProblem::Ledger(fault),
                    SpoolError::Io { error, .. } => SpoolProblem::Unreadable(error.to_string()),
                    error => SpoolProblem::Unreadable(error.problem()),
                },
            );
        }
        count
    }

    fn take_in(&mut self, entry: LedgerEntry) {
        let Some((result_id, results)) = entry.promised() else { return };
        let (result_id, results) = (result_id.to_owned(), results.clone());
        self.ids.insert(result_id.clone());
        // An adopted run has no claim, and its result was not promised.
        let LedgerEntry::Begun(intent) = entry else { return };
        self.claims.insert(intent.claim.clone(), result_id.clone());
        self.lines.push(PromisedRun { claim: intent.claim, result_id, results });
    }
}
