//! Removes stored input trees: the least recently used ones beyond the bounds, those that no run
//! may use, and what killed processes left. It must never remove a tree that a run takes.

use std::cmp::Reverse;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::facts::InputTreeFacts;
use super::{FACTS, InputTreeLimits, InputTreeStore};
use crate::beneath::remove_tree;
use crate::sync;

/// One stored tree. Its last use is the modification time of its directory.
struct KeptInputTree {
    path: PathBuf,
    used: SystemTime,
    /// `None` if they cannot be read.
    facts: Option<InputTreeFacts>,
}

impl InputTreeStore {
    /// Removes all trees, to free disk space.
    pub(crate) fn clear(&self) {
        match self.kept() {
            Ok(kept) => kept.iter().for_each(|one| self.remove(&one.path)),
            Err(error) => tracing::warn!("{}: empty: {error}", self.directory.display()),
        }
    }

    /// Removes trees that no run has used for too long or may use, and what killed processes left.
    pub(crate) fn expire(&self) {
        let removed = self.kept().and_then(|kept| {
            kept.iter().filter(|one| self.is_stale(one)).for_each(|one| self.remove(&one.path));
            self.remove_abandoned()
        });
        if let Err(error) = removed {
            tracing::warn!("{}: list: {error}", self.directory.display());
        }
    }

    fn is_stale(&self, kept: &KeptInputTree) -> bool {
        let is_usable = kept.facts.as_ref().is_some_and(|facts| self.is_of_this_boot(facts));
        // A time in the future means that the clock was set back; treat it as now.
        !is_usable || kept.used.elapsed().is_ok_and(|unused| unused > self.bounds.unused_max)
    }

    /// Removes the least recently used trees until one more fits. Unreadable ones go first.
    pub(super) fn make_room(&self, facts: &InputTreeFacts) -> io::Result<()> {
        let mut kept = self.kept()?;
        kept.sort_by_key(|one| Reverse((one.facts.is_some(), one.used)));
        while !self.bounds.allow(&kept, facts)
            && let Some(oldest) = kept.pop()
        {
            self.remove(&oldest.path);
        }
        Ok(())
    }

    fn remove_abandoned(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let path = entry.path();
            if is_hidden(&path) && entry.metadata().is_ok_and(|it| self.is_abandoned(&it)) {
                self.remove(&path);
            }
        }
        Ok(())
    }

    /// Removes a tree. It gets a hidden name first, so that no run takes it meanwhile.
    fn remove(&self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let gone = self.hidden("gone", &format!("{}-{}", name_before(&name), process::id()));
        // A killed process with the same id may have left it.
        remove_tree(&gone);
        match sync::rename_new(path, &gone) {
            Ok(()) => remove_tree(&gone),
            // Another process has taken or removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!("{}: remove: {error}", path.display()),
        }
    }

    /// Returns whether the process that hid a tree was killed. The rename changed the time.
    fn is_abandoned(&self, found: &Metadata) -> bool {
        let hidden = Duration::from_secs(u64::try_from(found.ctime()).unwrap_or(0));
        let age = UNIX_EPOCH.checked_add(hidden).and_then(|at| at.elapsed().ok());
        age.is_some_and(|age| age > self.bounds.hidden_max)
    }

    fn kept(&self) -> io::Result<Vec<KeptInputTree>> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            if is_hidden(&path) {
                continue;
            }
            let used = match fs::symlink_metadata(&path).and_then(|found| found.modified()) {
                Ok(used) => used,
                // Another process has taken it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let facts = InputTreeFacts::read(&path.join(FACTS)).ok();
            kept.push(KeptInputTree { path, used, facts });
        }
        Ok(kept)
    }
}

impl InputTreeLimits {
    /// Returns whether one more tree may be kept beside these.
    fn allow(&self, kept: &[KeptInputTree], more: &InputTreeFacts) -> bool {
        let facts = || kept.iter().filter_map(|one| one.facts.as_ref());
        let bytes = facts().fold(more.bytes, |sum, one| sum.saturating_add(one.bytes));
        let entries = facts().fold(more.entries, |sum, one| sum.saturating_add(one.entries));
        bytes <= self.bytes_max && entries <= self.entries_max && kept.len() < self.trees_max
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Returns the name that an entry had before a removal, which may have been killed.
fn name_before(name: &str) -> &str {
    let name = name.trim_start_matches('.');
    let of_removal = name.strip_prefix("gone-").and_then(|rest| rest.rsplit_once('-'));
    of_removal.map_or(name, |(name, _)| name)
}
