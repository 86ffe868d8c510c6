//! The latest time that a spool knows. Never reads the clock: the caller compares the two times.

use std::path::PathBuf;

use model::{ResultId, UtcTime};

use crate::error::SpoolError;
use crate::paths::Spool;
use crate::retention::each_name;

/// The latest of the times of begun runs and of the times in the names of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatestTime {
    /// The latest time.
    pub at: UtcTime,
    /// The source of that time: the ledger or a result.
    pub path: PathBuf,
}

impl Spool {
    /// Returns the time of the latest begun run or published result, as recorded.
    ///
    /// # Errors
    /// The results cannot be listed.
    pub fn latest_time(&self) -> Result<Option<LatestTime>, SpoolError> {
        let begun = self.last_begun();
        let mut last = begun.map(|at| LatestTime { at, path: self.state_dir().join("ledger") });
        each_name(self.results(), &mut |name| {
            let Ok(id) = name.parse::<ResultId>() else { return Ok(()) };
            if last.as_ref().is_none_or(|last| last.at < id.at()) {
                last = Some(LatestTime { at: id.at(), path: self.results().join(name) });
            }
            Ok(())
        })?;
        Ok(last)
    }
}
