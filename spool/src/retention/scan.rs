//! Finds the expired entries. Changes nothing and takes no lock.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use model::{ClaimId, ResultId, UtcTime};

use super::plan::{FLOOR_SEC, OldestEntries, RetentionEntry};
use super::size::bytes_in;
use super::{ExpiredEntry, RetentionKind, RetentionPolicy};
use crate::claim::read_noted_result;
use crate::error::SpoolError;
use crate::ledger::results_of;
use crate::paths::{Spool, SpoolPaths};

/// The results that are promised to existing claims.
type PromisedResults = HashSet<String>;

/// Returns all entries that are expired now. Safe while a daemon is running.
///
/// # Errors
/// A directory or file cannot be read.
pub fn dry_run(
    places: &SpoolPaths,
    keep: &RetentionPolicy,
    now: UtcTime,
) -> Result<Vec<ExpiredEntry>, SpoolError> {
    let work = places.spool.join("work");
    let claims = names(&work)?;
    let mut promised = noted_results(&work, &claims)?;
    if !claims.is_empty() {
        let claims: HashSet<String> = claims.into_iter().collect();
        promised.extend(results_of(&places.state, &claims)?);
    }
    find_expired(places, keep, now, &promised, usize::MAX)
}

impl Spool {
    pub(super) fn expired_entries(
        &self,
        keep: &RetentionPolicy,
        now: UtcTime,
        most: usize,
    ) -> Result<Vec<ExpiredEntry>, SpoolError> {
        let work = self.work();
        let claims = names(&work)?;
        let mut promised = noted_results(&work, &claims)?;
        for claim in claims.iter().filter_map(|name| ClaimId::from_name(name)) {
            let intent = self.ledger().intent_of(&claim)?;
            promised.extend(intent.map(|intent| intent.result_id));
        }
        find_expired(self.paths(), keep, now, &promised, most)
    }
}

fn find_expired(
    places: &SpoolPaths,
    keep: &RetentionPolicy,
    now: UtcTime,
    promised: &PromisedResults,
    most: usize,
) -> Result<Vec<ExpiredEntry>, SpoolError> {
    let mut all = Vec::new();
    for &kind in RetentionKind::ALL {
        let bounds = kind.bounds(keep);
        if bounds.is_unbounded() {
            continue;
        }
        let directory = kind.directory(places);
        let mut oldest = OldestEntries::new(most, now);
        each_name(&directory, &mut |name| {
            let Some(at) = name.parse().ok().as_ref().map(ResultId::at) else { return Ok(()) };
            let path = directory.join(&name);
            // The size is only needed now if it is bounded.
            let bytes = if bounds.bytes.is_some() { bytes_in(&path) } else { 0 };
            oldest.offer(RetentionEntry { at, name, bytes }, |entry| {
                !promised.contains(&entry.name)
                    && is_complete(kind, &path, &entry.name)
                    && is_settled(&path, now)
            });
            Ok(())
        })?;
        for (RetentionEntry { at, name, bytes }, why) in oldest.expired(bounds) {
            let path = directory.join(&name);
            let bytes = if bounds.bytes.is_some() { bytes } else { bytes_in(&path) };
            all.push(ExpiredEntry { kind, path, result_id: name, at, bytes, bound: why });
        }
    }
    Ok(all)
}

/// Returns whether an entry is complete: a result has its record, signature, bundle and log proof.
fn is_complete(kind: RetentionKind, path: &Path, id: &str) -> bool {
    let is_file = |name: String| fs::symlink_metadata(path.join(name)).is_ok_and(|it| it.is_file());
    let is_directory = fs::symlink_metadata(path).is_ok_and(|it| it.is_dir());
    let endings: &[&str] = match kind {
        RetentionKind::Results => &[".md", ".md.sig", ".bundle.json", ".tlog-proof"],
        RetentionKind::Archive | RetentionKind::Quarantine => &[],
    };
    is_directory && endings.iter().all(|ending| is_file(format!("{id}{ending}")))
}

/// Returns whether an entry was last changed before the floor: its name has the start of the run.
fn is_settled(path: &Path, now: UtcTime) -> bool {
    let found = fs::symlink_metadata(path).map(|found| found.mtime());
    found.is_ok_and(|changed_sec| changed_sec <= now.unix().saturating_sub(FLOOR_SEC))
}

/// Returns the results that the notes of refused claims promise.
fn noted_results(work: &Path, claims: &[String]) -> Result<PromisedResults, SpoolError> {
    let mut promised = PromisedResults::new();
    for claim in claims {
        let id = read_noted_result(&work.join(claim))?;
        promised.extend(id.map(|id| id.to_string()));
    }
    Ok(promised)
}

fn names(directory: &Path) -> Result<Vec<String>, SpoolError> {
    let mut names = Vec::new();
    each_name(directory, &mut |name| {
        names.push(name);
        Ok(())
    })?;
    Ok(names)
}

/// Passes every UTF-8 name in a directory to `act`. A missing directory counts as empty.
pub(crate) fn each_name(
    directory: &Path,
    act: &mut dyn FnMut(String) -> Result<(), SpoolError>,
) -> Result<(), SpoolError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(SpoolError::io(directory, "list")(error)),
    };
    for entry in entries {
        let entry = entry.map_err(SpoolError::io(directory, "list"))?;
        if let Ok(name) = entry.file_name().into_string() {
            act(name)?;
        }
    }
    Ok(())
}
