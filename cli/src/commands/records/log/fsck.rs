//! `toolexec log fsck`: recomputes the whole log, and compares log and records. It must never
//! change a file, and never trust a record's claim about its position in the log.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use model::{ResultId, escape_line};
use records::log::{LogClaim, LogFsckReport as Checked, LogReconciliation, fsck as check};
use serde_json::json;
use spool::state::{RemovalMarksError, each_removal_mark};

use super::open::{LogCommandError, LogOptions, OpenedLog};
use super::prove::{bundle_in, claim_of};
use crate::args::Format;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec log fsck --results ~/.local/state/toolexec/results

Reads every entry and tile and recomputes the tree. With --results: every record there must be in
the log at its index, and every record of the log must be there. A missing one is looked up again
after a second, because a run may end meanwhile. `toolexec verify` checks the signatures of
records. Records deleted by retention are counted separately: they are marked in `removed` of the
state directory, which is read for the log of --state, or named with --removed.
Exit status: 0 no problems; 1 something is wrong or missing; 3 usage or internal error.")]
pub(crate) struct LogFsckCommand {
    #[command(flatten)]
    place: LogOptions,
    /// Compare the log with the results in this directory; can be repeated
    #[arg(long, value_name = "TREE")]
    results: Vec<PathBuf>,
    /// Read the deletions by retention from this file
    /// [default: `removed` in the log's own state directory]
    #[arg(long, value_name = "FILE")]
    removed: Option<PathBuf>,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}

/// Limit of listed items per kind, for people. All are counted.
const LISTED_MAX: usize = 20;

/// The time within which a logged record appears among the results.
const PUBLISHED_WITHIN: Duration = Duration::from_secs(1);

#[derive(Default)]
struct LogClaims {
    by_index: HashMap<u64, LogClaim>,
    paths: HashMap<u64, PathBuf>,
    faults: Vec<String>,
}

pub(super) fn fsck(args: &LogFsckCommand) -> Result<ExitCode, LogCommandError> {
    // Read the claims before the log's head, so that every claimed entry exists.
    let mut claims = LogClaims::of(&args.results)?;
    let mut opened = OpenedLog::at(&args.place)?;
    let checked = opened.checked(check(&opened.directory, &opened.key))?;
    let mut faults: Vec<String> = checked.faults.iter().map(ToString::to_string).collect();
    // Entries of a damaged log cannot account for records.
    let whole = faults.is_empty();
    let (mut accounts, mut removed_count) = (None, 0);
    if whole && !args.results.is_empty() {
        let mut found = opened.checked(opened.view.reconcile(&claims.by_index))?;
        if !found.unclaimed.is_empty() {
            // Records are logged before they are published, so some may not be visible yet.
            std::thread::sleep(PUBLISHED_WITHIN);
            let seen = opened.view.head().size();
            claims = LogClaims::of(&args.results)?;
            opened = OpenedLog::at(&args.place)?;
            found = opened.checked(opened.view.reconcile(&claims.by_index))?;
            let all = found.unclaimed.len();
            found.unclaimed.retain(|index| *index < seen);
            found.records -= u64::try_from(all - found.unclaimed.len()).unwrap_or(0);
        }
        let marked = removed(args)?;
        found.unclaimed.retain(|index| {
            let is_marked = marked.contains(index);
            removed_count += u64::from(is_marked);
            !is_marked
        });
        faults.append(&mut claims.faults);
        faults.extend(found.wrong.iter().map(|index| {
            let path = claims.paths.get(index).map_or(Path::new(""), |path| path);
            format!("{}: not entry {index} of the log", path.display())
        }));
        accounts = Some(found);
    }
    let missing = accounts.as_ref().map_or(0, |it| it.unclaimed.len());
    let fine = faults.is_empty() && missing == 0;
    match args.format {
        Format::Human => print_human(&opened, &checked, accounts.as_ref(), removed_count, &faults)?,
        Format::Json => {
            print_json(&opened, (fine, &checked), accounts.as_ref(), removed_count, &faults)?;
        }
    }
    Ok(ExitCode::from(u8::from(!fine)))
}

/// A removal mark proves nothing: a process that can mark can also delete.
fn removed(args: &LogFsckCommand) -> Result<HashSet<u64>, Failure> {
    let of_state = args.place.log.is_none() && args.place.spool.is_none();
    let path = match &args.removed {
        Some(path) => path.clone(),
        None if of_state => args.place.state.path()?.join("removed"),
        None => return Ok(HashSet::new()),
    };
    let mut marked = HashSet::new();
    match each_removal_mark(&path, &mut |one| marked.extend(one.log_index)) {
        Err(RemovalMarksError::Read(_, error))
            if args.removed.is_none() && error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::Message(error.to_string())),
        Ok(()) => {}
    }
    Ok(marked)
}

impl LogClaims {
    fn of(trees: &[PathBuf]) -> Result<Self, Failure> {
        let mut claims = Self::default();
        for tree in trees {
            claims.gather(tree)?;
        }
        Ok(claims)
    }

    fn gather(&mut self, tree: &Path) -> Result<(), Failure> {
        let mut results = Vec::new();
        for entry in fs::read_dir(tree).map_err(Failure::io(tree))? {
            let path = entry.map_err(Failure::io(tree))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A hidden result is still being collected.
            if !name.starts_with('.') && path.is_dir() {
                results.push((path, name.parse::<ResultId>().is_ok()));
            }
        }
        results.sort();
        for (directory, named) in results {
            match bundle_in(&directory) {
                Ok(bundle) => self.claim(bundle),
                // Other directories without a bundle are ignored.
                Err(_) if !named => {}
                Err(failure) => self.faults.push(failure.problem()),
            }
        }
        Ok(())
    }

    fn claim(&mut self, bundle: PathBuf) {
        let claim = match claim_of(&bundle) {
            Ok(claim) => claim,
            Err(LogCommandError::CheckFailed(why)) => return self.faults.push(why),
            Err(LogCommandError::Failure(why)) => return self.faults.push(why.problem()),
        };
        let index = claim.index();
        if let Some(other) = self.paths.get(&index) {
            return self.faults.push(format!(
                "{}: claims to be entry {index}, as {} does",
                bundle.display(),
                other.display()
            ));
        }
        self.by_index.insert(index, claim);
        self.paths.insert(index, bundle);
    }
}

fn print_human(
    opened: &OpenedLog,
    checked: &Checked,
    accounts: Option<&LogReconciliation>,
    removed: u64,
    faults: &[String],
) -> Result<(), Failure> {
    let head = opened.view.head();
    let found = if checked.faults.is_empty() {
        "every entry and tile matches the signed tree"
    } else {
        "DAMAGED"
    };
    output::line(format_args!("{}: {} entries: {found}", opened.key.origin(), head.size()))?;
    let other = checked.not_checked.len();
    output::line(format_args!("files      {} checked, {other} not checked", checked.checked))?;
    for file in checked.not_checked.iter().take(LISTED_MAX) {
        output::line(format_args!("  not checked: {}", escape_line(&file.to_string())))?;
    }
    more(other)?;
    if let Some(it) = accounts {
        let there = it.records - u64::try_from(it.unclaimed.len()).unwrap_or(0) - removed;
        output::line(format_args!(
            "records    {} in the log, {there} of them here\nheartbeats {}\nnew keys   {}\nunknown    {}",
            it.records,
            it.heartbeats,
            it.key_changes,
            it.unknown.len()
        ))?;
        if removed > 0 {
            output::line(format_args!("removed    {removed} by retention"))?;
        }
        list("  no record here for entry", &it.unclaimed)?;
        list("  unknown kind of entry", &it.unknown)?;
    }
    for fault in faults {
        output::line(format_args!("  {}", escape_line(fault)))?;
    }
    Ok(())
}

fn list(what: &str, entries: &[u64]) -> Result<(), Failure> {
    for index in entries.iter().take(LISTED_MAX) {
        output::line(format_args!("{what} {index}"))?;
    }
    more(entries.len())
}

fn more(all: usize) -> Result<(), Failure> {
    match all.saturating_sub(LISTED_MAX) {
        0 => Ok(()),
        more => output::line(format_args!("  and {more} more (--format json lists all)")),
    }
}

fn print_json(
    opened: &OpenedLog,
    (fine, checked): (bool, &Checked),
    accounts: Option<&LogReconciliation>,
    removed: u64,
    faults: &[String],
) -> Result<(), Failure> {
    let head = opened.view.head();
    output::line(json!({
        "ok": fine,
        "origin": opened.key.origin().as_str(),
        "size": head.size(),
        "root": head.root().to_string(),
        "faults": faults,
        "files_checked": checked.checked,
        "not_checked": checked
            .not_checked
            .iter()
            .map(|file| json!({ "path": file.path, "reason": file.why }))
            .collect::<Vec<_>>(),
        "accounts": accounts.map(|it| json!({
            "records": it.records,
            "heartbeats": it.heartbeats,
            "key_changes": it.key_changes,
            "unknown": it.unknown,
            "unclaimed": it.unclaimed,
            "removed": removed,
        })),
    }))
}
