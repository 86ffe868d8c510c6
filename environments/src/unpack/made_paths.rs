//! The paths that one layer made. A whiteout hides what earlier layers made, never these.

use std::collections::HashSet;

/// Paths of one layer, each with the directories above it.
#[derive(Default)]
pub(super) struct MadePaths(HashSet<String>);

impl MadePaths {
    pub(super) fn add(&mut self, path: &str) {
        let mut rest = path;
        // A known path has its directories already.
        while !rest.is_empty() && self.0.insert(rest.to_owned()) {
            rest = rest.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.0.contains(path)
    }
}
