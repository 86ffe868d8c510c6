//! The documents that can be signed: drafts, and published standing approvals. A draft was never
//! checked before: agents write there.

use std::fs;
use std::io;
use std::path::Path;

use model::{ResultId, Sha256, StandingId};
use policies::ActionTarget;
use spool::PublishedUses;
use validator::REQUEST_BYTES_MAX;

use crate::beneath::read_file;
use crate::page_error::PageError;
use crate::state::ConsoleState;

/// Limit of the names of a directory that are read, so that a drafter cannot fill the memory.
const NAMES_MAX: usize = 100_000;

impl ConsoleState {
    /// Reads a draft. Returns `None` if there is none of this name.
    pub(crate) fn draft(&self, target: &ActionTarget) -> Result<Option<Vec<u8>>, PageError> {
        let read = read_file(&self.drafts, &target.file_name(), REQUEST_BYTES_MAX);
        read.map_err(|error| unreadable("The draft", &error))
    }

    /// Reads a standing approval that the daemon published as usable.
    pub(crate) fn published_standing(&self, id: &StandingId) -> Result<Option<Vec<u8>>, PageError> {
        let read = read_file(&self.public, &format!("standing/{id}.md"), REQUEST_BYTES_MAX);
        read.map_err(|error| unreadable("The standing approval", &error))
    }

    /// Returns the published uses of a standing approval with this digest. Returns `None` while the
    /// daemon has not written them.
    pub(crate) fn published_uses(&self, id: &StandingId, sha256: &Sha256) -> Option<PublishedUses> {
        let path = format!("standing/{}", PublishedUses::file_name(id));
        let bytes = read_file(&self.public, &path, PublishedUses::BYTES_MAX).ok()??;
        PublishedUses::parse(&bytes).filter(|uses| uses.sha256 == sha256.to_string())
    }

    /// Returns the ids of the drafts, in no order.
    pub(crate) fn draft_targets(&self) -> Vec<ActionTarget> {
        targets_in(&self.part("drafts"))
    }

    /// Returns the ids of the published standing approvals, the newest first.
    pub(crate) fn published_standing_ids(&self) -> Vec<StandingId> {
        let targets = targets_in(&self.part("public/standing")).into_iter();
        let mut ids: Vec<StandingId> = targets
            .filter_map(|target| match target {
                ActionTarget::Standing(id) => Some(id),
                ActionTarget::Request(_) => None,
            })
            .collect();
        ids.sort_unstable();
        ids.reverse();
        ids
    }

    /// Returns the ids of the results, the oldest first.
    pub(crate) fn result_ids(&self) -> Result<Vec<ResultId>, PageError> {
        let names = records::result_names(&self.part("results"));
        let names = names.map_err(|error| unreadable("The list of results", &error))?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }
}

/// Returns the ids in the names of the documents of a directory; none if it cannot be listed.
fn targets_in(directory: &Path) -> Vec<ActionTarget> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(NAMES_MAX);
    entries
        .filter_map(|entry| entry.file_name().into_string().ok()?.strip_suffix(".md")?.parse().ok())
        .collect()
}

/// An object that cannot be read, without its path.
pub(crate) fn unreadable(what: &str, error: &io::Error) -> PageError {
    let help = "an operator can check the spool with `toolexec doctor --spool`";
    PageError::internal(format!("{what} cannot be read: {error}; help: {help}."))
}
