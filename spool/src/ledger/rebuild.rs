//! Rebuilds a ledger by an operator's order, from its readable lines and from every run that
//! results, archived requests, claims, retention's marks and the marks of uses show. The order
//! itself becomes a line. The old file must never be discarded: it stays next to the new one.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use model::{ResultId, UtcTime};

use super::HEAD_FILE;
use super::checksum::{self, LineChecksum};
use super::completeness::{archived_intent, intents_in_work, missing_from_readable_lines};
use super::entry::{AdoptedRun, LedgerEntry, LedgerNote, RebuildNote};
use super::head::{HeadFile, LedgerHead};
use super::scan::salvage;
use super::standing::StandingUseNote;
use super::use_marks;
use crate::error::SpoolError;
use crate::paths::{SpoolPaths, lock_exclusively};
use crate::state::removed_results;
use crate::sync;

/// The operator's order, with its time and author.
#[derive(Clone, Debug)]
pub struct LedgerOrder {
    /// The time of the order.
    pub at: UtcTime,
    /// The uid of the operator.
    pub by_uid: u32,
    /// The operator's user name, if known.
    pub by: Option<String>,
}

/// The request facts in the record of a run.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The id of the request.
    pub request_id: String,
    /// The digest of the request.
    pub request_sha256: String,
    /// The digest of the standing approval that the run used, with the number of the use.
    pub standing: Option<(String, u64)>,
}

/// The result of rebuilding a ledger.
#[derive(Debug)]
pub struct RebuildSummary {
    /// The number of readable lines.
    pub kept: usize,
    /// The number of unreadable lines.
    pub lost: usize,
    /// The number of runs that were added.
    pub added: usize,
    /// The path of the old file, if there was one.
    pub old: Option<PathBuf>,
}

/// Rebuilds the ledger of a state that no process uses. `facts` reads the record of a published
/// result, and returns `None` if the run was not begun.
///
/// # Errors
/// The state is in use, or an I/O error. The order can be repeated then.
pub fn rebuild_ledger(
    places: &SpoolPaths,
    facts: &mut dyn FnMut(&Path) -> Option<RunFacts>,
    order: LedgerOrder,
) -> Result<RebuildSummary, SpoolError> {
    let _locks = lock_exclusively(places)?;
    let (mut entries, lost) = salvage(&places.state)?;
    let kept = entries.len();
    entries.extend(missing_entries(places, facts, &entries)?);
    let added = entries.iter().skip(kept).filter(|entry| entry.promised().is_some()).count();
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let LedgerOrder { at, by_uid, by } = order;
    let (kept_lines, added_lines) = (count(kept), count(added));
    let ordered =
        RebuildNote { at: at.to_string(), by_uid, by, kept: kept_lines, added: added_lines };
    entries.push(LedgerEntry::Noted(LedgerNote::Ordered(ordered)));
    let path = places.state.join("ledger");
    let new = places.state.join("ledger.new");
    let head = write(&new, &entries).map_err(SpoolError::io(&new, "write the ledger"))?;
    let old = keep_old(&path, at)?;
    // Neither file admits a request until the head is in place too.
    sync::rename_over(&new, &path).map_err(SpoolError::io(&path, "rename into place"))?;
    HeadFile::make(&places.state.join(HEAD_FILE), head)?;
    Ok(RebuildSummary { kept, lost, added, old })
}

fn missing_entries(
    places: &SpoolPaths,
    facts: &mut dyn FnMut(&Path) -> Option<RunFacts>,
    known: &[LedgerEntry],
) -> Result<Vec<LedgerEntry>, SpoolError> {
    let mut uses = use_marks::read(&places.state)?;
    let mut entries = Vec::new();
    let mut runs = missing_from_readable_lines(places, &mut |path| facts(path).is_some())?;
    for (_, intent) in intents_in_work(places)? {
        if runs.remove(&intent.claim).is_some() {
            // It may be published too, and is one run all the same.
            runs.remove(&intent.result_id);
            entries.push(LedgerEntry::Begun(Box::new(intent)));
        }
    }
    for id in runs.into_keys() {
        if let Some(intent) = archived_intent(places, &id) {
            entries.push(LedgerEntry::Begun(Box::new(intent)));
            continue;
        }
        let facts = facts(&places.results.join(&id));
        uses.extend(facts.as_ref().and_then(|facts| recorded_use(facts, &id)));
        entries.extend(adopted_entry(places, facts, &id));
    }
    entries.extend(removed_runs(places, known, &entries)?);
    let uses = missing_uses(uses, known.iter().chain(&entries));
    entries.extend(uses);
    Ok(entries)
}

/// Returns the entries of the runs whose results retention has removed.
fn removed_runs(
    places: &SpoolPaths,
    known: &[LedgerEntry],
    added: &[LedgerEntry],
) -> Result<Vec<LedgerEntry>, SpoolError> {
    let mut removed: Vec<String> = removed_results(&places.state)
        .map_err(|error| {
            SpoolError::io(&places.state.join("removed"), "read")(io::Error::other(error))
        })?
        .into_iter()
        .collect();
    removed.sort();
    let is_known = |id: &String| {
        known.iter().chain(added).any(|entry| entry.promised().is_some_and(|it| it.0 == id))
    };
    removed.retain(|id| !is_known(id));
    Ok(removed.iter().filter_map(|id| adopted_entry(places, None, id)).collect())
}

/// Returns the uses of standing approvals that no line counts, in the order of their numbers. A use
/// with a mark and a record is counted once, by its mark.
fn missing_uses<'e>(
    mut uses: Vec<StandingUseNote>,
    entries: impl Iterator<Item = &'e LedgerEntry>,
) -> Vec<LedgerEntry> {
    let mut counted: HashSet<String> =
        entries.filter_map(LedgerEntry::counted_use).map(str::to_owned).collect();
    uses.retain(|used| counted.insert(used.result_id.clone()));
    uses.sort_by_key(|used| used.number);
    let noted = |used| LedgerEntry::Noted(LedgerNote::StandingUsed(used));
    uses.into_iter().map(noted).collect()
}

/// Returns the use that the record of a run states. Without its number, it would be counted before
/// the marks, which have higher numbers.
fn recorded_use(facts: &RunFacts, id: &str) -> Option<StandingUseNote> {
    let (sha256, number) = facts.standing.clone()?;
    let at = id.parse::<ResultId>().ok()?.at().to_string();
    Some(StandingUseNote { sha256, number, at, result_id: id.to_owned() })
}

/// Returns the entry of a run known by its record, or only by the name of its result. Its use has
/// an entry of its own.
fn adopted_entry(places: &SpoolPaths, facts: Option<RunFacts>, id: &str) -> Option<LedgerEntry> {
    let named = id.parse::<ResultId>().ok()?.request_id()?.to_string();
    let (request_id, request_sha256) = match facts {
        Some(facts) => (facts.request_id, Some(facts.request_sha256)),
        None => (named, None),
    };
    let (result_id, results) = (id.to_owned(), places.results.clone());
    let run = AdoptedRun { request_id, request_sha256, result_id, results, standing_sha256: None };
    Some(LedgerEntry::Noted(LedgerNote::Adopted(run)))
}

/// Writes a whole ledger. It is durable when this returns.
fn write(path: &Path, entries: &[LedgerEntry]) -> io::Result<LedgerHead> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let mut out = io::BufWriter::new(file);
    let mut head = LedgerHead { bytes: 0, sum: LineChecksum::default() };
    for entry in entries {
        let (line, sum) = checksum::seal(serde_json::to_vec(entry)?, head.sum);
        out.write_all(&line)?;
        let bytes = head.bytes.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
        head = LedgerHead { bytes, sum };
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(head)
}

fn keep_old(path: &Path, at: UtcTime) -> Result<Option<PathBuf>, SpoolError> {
    let old = path.with_extension(format!("replaced-{}", at.unix()));
    match fs::hard_link(path, &old) {
        Ok(()) => Ok(Some(old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SpoolError::io(&old, "keep the old ledger")(error)),
    }
}
