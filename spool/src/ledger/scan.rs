//! A look at a ledger from outside, for whoever only looks: no lock is taken, and nothing is cut off.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::Path;

use super::intent::Intent;
use super::lines::{Lines, Next};
use crate::error::SpoolError;

/// Which results were promised to these claims. Without a ledger, none was.
pub(crate) fn results_of(
    path: &Path,
    claims: &HashSet<String>,
) -> Result<HashSet<String>, SpoolError> {
    let mut results = HashSet::new();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(results),
        Err(error) => return Err(SpoolError::io(path, "open")(error)),
    };
    let mut lines = Lines::from(&file, 0).map_err(SpoolError::io(path, "read"))?;
    for number in 1.. {
        let wrong = || SpoolError::LedgerLine { path: path.to_owned(), line: number };
        match lines.next().map_err(SpoolError::io(path, "read"))? {
            Next::Line(line) => {
                let intent: Intent = serde_json::from_slice(line).map_err(|_| wrong())?;
                if claims.contains(&intent.claim) {
                    results.insert(intent.result_id);
                }
            }
            Next::TooLong => return Err(wrong()),
            // It is being written, or never was.
            Next::Unfinished | Next::End => break,
        }
    }
    Ok(results)
}
