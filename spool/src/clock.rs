//! The last time that a spool knows of. It must never ask what time it is: whoever holds the two against each
//! other brings that.

use std::path::PathBuf;

use model::{ResultId, UtcTime};

use crate::error::SpoolError;
use crate::places::Spool;
use crate::retention::each_name;

/// The latest of the times when runs were begun and in the names of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastKnown {
    pub at: UtcTime,
    /// What says so: the ledger, or a result.
    pub path: PathBuf,
}

impl Spool {
    /// What was begun or told last, by its own word.
    ///
    /// # Errors
    /// The results cannot be listed.
    pub fn last_known(&self) -> Result<Option<LastKnown>, SpoolError> {
        let begun = self.last_begun();
        let mut last = begun.map(|at| LastKnown { at, path: self.state_dir().join("ledger") });
        each_name(self.results(), &mut |name| {
            let Ok(id) = name.parse::<ResultId>() else { return Ok(()) };
            if last.as_ref().is_none_or(|last| last.at < id.at()) {
                last = Some(LastKnown { at: id.at(), path: self.results().join(name) });
            }
            Ok(())
        })?;
        Ok(last)
    }
}
