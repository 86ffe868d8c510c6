//! What ledger and retention's marks say, read without a lock and without stopping at a bad line: each is
//! told. An unfinished last line is being written, or never was.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{ByClaim, Finding, Survey, Trouble};
use crate::ledger::Intent;
use crate::state::{RemovedError, removed_in};

/// What is known of every request that was begun.
pub(super) struct Known {
    pub(super) claims: ByClaim,
    /// Ids of results that were promised to runs.
    pub(super) ids: HashSet<String>,
    pub(super) removed: HashSet<String>,
    pub(super) lines: Vec<Line>,
}

/// What one line of the ledger leads to.
pub(super) struct Line {
    pub(super) claim: String,
    pub(super) result_id: String,
    pub(super) results: PathBuf,
}

impl Known {
    pub(super) fn read(state: &Path, survey: &mut Survey) -> Self {
        let mut known = Self {
            claims: ByClaim::new(),
            ids: HashSet::new(),
            removed: HashSet::new(),
            lines: Vec::new(),
        };
        let ledger = state.join("ledger");
        let mut find = |path: &Path, trouble| {
            survey.findings.push(Finding { path: path.to_owned(), trouble });
        };
        let lines = known.read_ledger(&ledger, &mut find);
        match removed_in(state) {
            Ok(removed) => known.removed = removed,
            Err(RemovedError::Line(path, line)) => find(&path, Trouble::RemovedLine { line }),
            Err(RemovedError::Read(path, error)) => {
                find(&path, Trouble::Unreadable(error.to_string()));
            }
        }
        survey.ledger_lines = lines;
        known
    }

    fn read_ledger(&mut self, path: &Path, find: &mut dyn FnMut(&Path, Trouble)) -> Option<usize> {
        let mut reader = match File::open(path) {
            Ok(file) => BufReader::new(file),
            Err(error) => {
                let trouble = match error.kind() {
                    io::ErrorKind::NotFound => Trouble::NoLedger,
                    _ => Trouble::Unreadable(error.to_string()),
                };
                find(path, trouble);
                return None;
            }
        };
        let mut count = 0;
        loop {
            let mut line = Vec::new();
            if let Err(error) = reader.read_until(b'\n', &mut line) {
                find(path, Trouble::Unreadable(error.to_string()));
                return None;
            }
            if line.pop() != Some(b'\n') {
                return Some(count);
            }
            count += 1;
            match serde_json::from_slice::<Intent>(&line) {
                Ok(intent) => {
                    self.ids.insert(intent.result_id.clone());
                    self.claims.insert(intent.claim.clone(), intent.result_id.clone());
                    let Intent { claim, result_id, results, .. } = intent;
                    self.lines.push(Line { claim, result_id, results });
                }
                Err(_) => find(path, Trouble::LedgerLine { line: count }),
            }
        }
    }
}
