//! Finds the expired entries. Changes nothing and takes no lock.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use model::{ClaimId, ResultId, UtcTime};

use super::plan::{Entry, FLOOR_SEC, Oldest};
use super::{Going, Keep, Kind};
use crate::claim::noted_result;
use crate::error::SpoolError;
use crate::ledger::results_of;
use crate::places::{Places, Spool};

/// The results that are promised to existing claims.
type Promised = HashSet<String>;

/// Returns all entries that are expired now. Safe while a daemon is running.
///
/// # Errors
/// A directory or file cannot be read.
pub fn dry_run(places: &Places, keep: &Keep, now: UtcTime) -> Result<Vec<Going>, SpoolError> {
    let work = places.spool.join("work");
    let claims = names(&work)?;
    let mut promised = noted(&work, &claims)?;
    if !claims.is_empty() {
        let claims: HashSet<String> = claims.into_iter().collect();
        promised.extend(results_of(&places.state, &claims)?);
    }
    going(places, keep, now, &promised, usize::MAX)
}

impl Spool {
    /// Returns the first expired entries, at most `most` of each kind.
    pub(super) fn going(
        &self,
        keep: &Keep,
        now: UtcTime,
        most: usize,
    ) -> Result<Vec<Going>, SpoolError> {
        let work = self.work();
        let claims = names(&work)?;
        let mut promised = noted(&work, &claims)?;
        for claim in claims.iter().filter_map(|name| ClaimId::from_name(name)) {
            let intent = self.ledger().intent_of(&claim)?;
            promised.extend(intent.map(|intent| intent.result_id));
        }
        going(self.places(), keep, now, &promised, most)
    }
}

fn going(
    places: &Places,
    keep: &Keep,
    now: UtcTime,
    promised: &Promised,
    most: usize,
) -> Result<Vec<Going>, SpoolError> {
    let mut all = Vec::new();
    for &kind in Kind::ALL {
        let bounds = kind.bounds(keep);
        if bounds.is_boundless() {
            continue;
        }
        let directory = kind.directory(places);
        let mut oldest = Oldest::new(most, now);
        each_name(&directory, &mut |name| {
            let Some(at) = name.parse().ok().as_ref().map(ResultId::at) else { return Ok(()) };
            let path = directory.join(&name);
            // The size is only needed now if it is bounded.
            let bytes = if bounds.bytes.is_some() { bytes_in(&path)? } else { 0 };
            oldest.offer(Entry { at, name, bytes }, |entry| {
                !promised.contains(&entry.name)
                    && is_complete(kind, &path, &entry.name)
                    && has_rested(&path, now)
            });
            Ok(())
        })?;
        for (Entry { at, name, bytes }, why) in oldest.going(bounds) {
            let path = directory.join(&name);
            let bytes = if bounds.bytes.is_some() { bytes } else { bytes_in(&path)? };
            all.push(Going { kind, path, result_id: name, at, bytes, why });
        }
    }
    Ok(all)
}

/// Returns whether an entry is complete: a result has its record, signature, bundle and log proof.
fn is_complete(kind: Kind, path: &Path, id: &str) -> bool {
    let is_file = |name: String| fs::symlink_metadata(path.join(name)).is_ok_and(|it| it.is_file());
    let is_directory = fs::symlink_metadata(path).is_ok_and(|it| it.is_dir());
    let endings: &[&str] = match kind {
        Kind::Results => &[".md", ".md.sig", ".bundle.json", ".tlog-proof"],
        Kind::Archive | Kind::Quarantine => &[],
    };
    is_directory && endings.iter().all(|ending| is_file(format!("{id}{ending}")))
}

/// Returns whether an entry was last changed before the floor. The time in its name is the start of
/// the run, which may be long.
fn has_rested(path: &Path, now: UtcTime) -> bool {
    let found = fs::symlink_metadata(path).map(|found| found.mtime());
    found.is_ok_and(|changed_sec| changed_sec <= now.unix().saturating_sub(FLOOR_SEC))
}

/// Returns the size of the files in an entry. Files that are removed meanwhile count as 0.
fn bytes_in(path: &Path) -> Result<u64, SpoolError> {
    let mut bytes: u64 = 0;
    let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if gone(&error) || error.kind() == io::ErrorKind::NotADirectory => return Ok(0),
        Err(error) => return Err(SpoolError::io(path, "list")(error)),
    };
    for entry in entries {
        let entry = entry.map_err(SpoolError::io(path, "list"))?;
        let found = match entry.metadata() {
            Ok(found) => found,
            Err(error) if gone(&error) => continue,
            Err(error) => return Err(SpoolError::io(&entry.path(), "stat")(error)),
        };
        let more = if found.is_dir() { bytes_in(&entry.path())? } else { found.len() };
        bytes = bytes.saturating_add(more);
    }
    Ok(bytes)
}

/// Returns the results that the notes of refused claims promise.
fn noted(work: &Path, claims: &[String]) -> Result<Promised, SpoolError> {
    let mut promised = Promised::new();
    for claim in claims {
        let id = noted_result(&work.join(claim))?;
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
