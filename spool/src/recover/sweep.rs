//! Removes slots and unfinished results without a claim. It must never touch an object that a live
//! process uses or that is promised to an existing claim.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;

use model::ResultId;

use crate::beneath::remove_tree;
use crate::error::SpoolError;
use crate::lock::{FileLock, LockMode};
use crate::paths::Spool;
use crate::state::{ClaimFiles, PathPresence, RecoveryAction, next_action};

impl Spool {
    pub(super) fn sweep_slots(&self) -> Result<(), SpoolError> {
        for name in names(&self.staging())? {
            let slot = self.staging().join(&name);
            let of_claim = PathPresence::of(&self.work().join(&name)) == PathPresence::Present;
            let state = ClaimFiles { slot: PathPresence::Present, ..ClaimFiles::NOTHING };
            if !of_claim && next_action(&state) == RecoveryAction::RemoveSlot {
                remove_tree(&slot);
            }
        }
        Ok(())
    }

    /// Removes hidden results of earlier processes that no existing claim needs.
    pub(super) fn sweep_hidden(&self, kept: &HashSet<ResultId>) -> Result<(), SpoolError> {
        for name in names(self.results())? {
            let path = self.results().join(&name);
            let Some(id) = name.strip_prefix(".new-") else { continue };
            if kept.iter().any(|kept| kept.as_str() == id) || self.may_be_incomplete(&path) {
                continue;
            }
            // A locked directory is being collected; a missing one was published.
            if let Ok(directory) = File::open(&path)
                && let Ok(_held) = FileLock::try_lock(directory, LockMode::Exclusive)
            {
                remove_tree(&path);
            }
        }
        Ok(())
    }
}

pub(super) fn names(directory: &Path) -> Result<Vec<String>, SpoolError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(SpoolError::io(directory, "list"))? {
        let entry = entry.map_err(SpoolError::io(directory, "list"))?;
        if let Ok(name) = entry.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
