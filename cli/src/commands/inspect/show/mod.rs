//! `toolexec show`: prints the state of a request and the statements of its files, not verified.

mod page;
mod patch;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use model::{UtcTime, escape_line};
use serde_json::{Value, json};

use super::daemon::DaemonView;
use super::list::{held_lines, json_of};
use super::place::PlaceOptions;
use super::reason;
use super::resolve_id::{ResolvedId, resolve};
use super::results::{PublishedResult, final_record, records_among, request_of, result_names};
use super::rows::{QueueRow, QueueState, queue};
use crate::args::Format;
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(
    group = ArgGroup::new("of_record").args(["html", "patch"]),
    after_help = "\
Example: toolexec show TR-20260209-160501Z-python-stats
         toolexec show --patch TR-20260209-160501Z-python-stats

Prints the state of a request, its history so far, and the statements of its records, which are not
verified here (`toolexec verify` does that). A unique part of an id is sufficient.
Exit status: 0 shown; 2 no such request; 3 the id is ambiguous, or nothing can be read.

--html renders one page for the record of a request, the last one if there are several. The page
loads nothing, runs nothing, and shows untrusted data only as text. It states whether the record
verifies; the page itself proves nothing. It is written to stdout or to a new FILE; an existing
file is never replaced. Exit status: 0 verified, or no key is known; 1 not verified (the page is
still written); 2 and 3 as above.
  toolexec show results/TS-20260209-161030Z-TR-20260209-160501Z-python-stats --html record.html

--patch prints the patch that the request asked for. The record must verify with a known key;
--result-keys names the keys of another host. A pipe or a file gets the exact bytes, for `git
apply`. On a terminal, control characters are shown by number. Exit status: 0 printed, or no
changes; 1 not verified, or no key is known; 2 no such request, or no patch; 3 as above."
)]
pub(crate) struct ShowCommand {
    /// Show this request, result, or result directory
    #[arg(value_name = "ID|RESULT_DIR")]
    id: String,
    /// Write the record as one HTML page to a new FILE, or to stdout
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    html: Option<PathBuf>,
    /// Print the patch of the record, the last one if there are several
    #[arg(long)]
    patch: bool,
    /// Verify the record of the page or the patch with the result keys in this file
    /// [default: the key of the state directory]
    #[arg(long = "result-keys", value_name = "FILE", requires = "of_record")]
    allowed_signers: Option<PathBuf>,
    #[command(flatten)]
    place: PlaceOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human", conflicts_with_all = ["html", "patch"])]
    format: Format,
}

/// Limit of listed files per result. A run may leave very many.
const FILES_SHOWN: usize = 200;

struct ShownRequest {
    request_id: String,
    rows: Vec<QueueRow>,
    submitted_utc: Option<String>,
    records: Vec<PublishedResult>,
    unreadable: Vec<Failure>,
    admission_stopped: Option<String>,
}

pub(in crate::commands) fn show(args: &ShowCommand) -> Result<ExitCode, Failure> {
    let Some(one) = find(args)? else {
        let (id, place) = (escape_line(&args.id), args.place.path()?);
        output::note(format_args!(
            "{id}: no such request or result in {}; help: list them with `toolexec list{}`",
            place.display(),
            args.place.option(),
        ));
        return Ok(ExitCode::from(2));
    };
    if args.html.is_some() || args.patch {
        return show_record(args, one);
    }
    match args.format {
        Format::Human => output::text(&one.human())?,
        Format::Json => output::line(one.json())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of the record, or prints its patch.
fn show_record(args: &ShowCommand, one: ShownRequest) -> Result<ExitCode, Failure> {
    let Some(record) = final_record(one.records) else {
        let id = escape_line(&args.id);
        output::note(format_args!("{id}: no record yet; help: run `toolexec wait {id}`"));
        return Ok(ExitCode::from(2));
    };
    let (keys, state) = (args.allowed_signers.as_deref(), &args.place.state);
    match &args.html {
        Some(to) => page::write(&record.path, to, keys, state),
        None => patch::print(&record.path, keys, state),
    }
}

fn find(args: &ShowCommand) -> Result<Option<ShownRequest>, Failure> {
    if args.id.contains('/') {
        return one_result(Path::new(&args.id)).map(Some);
    }
    let place = args.place.path()?;
    find_in(&place, &args.id)
}

/// Returns the text of `show` for an id or a result directory.
pub(crate) fn text_of(place: &Path, meant: &str) -> Result<Option<String>, Failure> {
    let one = match meant.contains('/') {
        true => Some(one_result(Path::new(meant))?),
        false => find_in(place, meant)?,
    };
    Ok(one.map(|one| one.human()))
}

fn find_in(place: &Path, typed: &str) -> Result<Option<ShownRequest>, Failure> {
    let daemon = DaemonView::of(place);
    let queue = queue(place, &daemon);
    let id = match resolve(place, &queue, typed)? {
        ResolvedId::Unknown => return Ok(None),
        ResolvedId::Result(name) => return one_result(&place.join("results").join(name)).map(Some),
        ResolvedId::Request(id) => id,
    };
    let rows: Vec<QueueRow> = queue.rows.into_iter().filter(|row| row.request_id == id).collect();
    let dropped = rows.iter().find_map(|row| fs::symlink_metadata(&row.path).ok());
    Ok(Some(ShownRequest {
        records: records_among(place, &result_names(place)?, &id),
        // A user cannot set the ctime of a file.
        submitted_utc: dropped.map(|found| UtcTime::from_unix(found.ctime()).to_string()),
        request_id: id,
        rows,
        unreadable: queue.unreadable,
        admission_stopped: daemon.admission_stopped().map(str::to_owned),
    }))
}

/// Reads the result in a directory, of any spool.
fn one_result(path: &Path) -> Result<ShownRequest, Failure> {
    let path = fs::canonicalize(path).map_err(Failure::io(path))?;
    let published = PublishedResult::at(path.clone());
    let request_id = match &published.summary {
        Some(summary) => summary.request_id.clone(),
        None => {
            let name = published.name();
            let of_name = request_of(&name).map(str::to_owned);
            let shown = path.display();
            of_name.ok_or_else(|| {
                let help = "name a directory such as results/TS-…";
                Failure::Message(format!("{shown}: not a result directory; help: {help}"))
            })?
        }
    };
    let (rows, unseen, records) = (Vec::new(), Vec::new(), vec![published]);
    let (submitted_utc, admission_stopped) = (None, None);
    Ok(ShownRequest {
        request_id,
        rows,
        submitted_utc,
        records,
        unreadable: unseen,
        admission_stopped,
    })
}

impl ShownRequest {
    /// Returns the state. Pending work takes precedence over earlier records.
    fn state(&self) -> &str {
        let of_row = self.rows.first().map(|row| &row.state);
        match (of_row, self.records.last()) {
            (Some(QueueState::Recorded) | None, Some(record)) => record.as_str(),
            (Some(state), _) => state.as_str(),
            (None, None) => "unknown",
        }
    }

    fn human(&self) -> String {
        let mut lines = vec![
            format!("request    {}", escape_line(&self.request_id)),
            format!("state      {}", escape_line(self.state())),
        ];
        for row in &self.rows {
            lines.push(format!("file       {}", escape_line(&output::path(&row.path))));
            if row.state == QueueState::Recorded && !self.records.is_empty() {
                lines.push("           has a record; to be removed, or submitted again".into());
            }
            if let QueueState::InFlight(running) | QueueState::Interrupted(running) = &row.state {
                lines.push(escape_line(&format!("claimed    {}", running.since_utc)));
                let (step, since) = (running.step, &running.step_since_utc);
                lines.push(escape_line(&format!("{:<11}{since}", step.as_str())));
            }
            if matches!(row.state, QueueState::Interrupted(_)) {
                lines.push("           the daemon died; its next start records the end".to_owned());
            }
            lines.extend(held_lines(&row.state).iter().map(|line| format!("held       {line}")));
            if let (QueueState::Waiting, Some(why)) = (&row.state, &self.admission_stopped) {
                lines.push("admission  stopped".to_owned());
                lines.extend(reason::lines(why).iter().map(|line| format!("           {line}")));
            }
        }
        if let Some(dropped) = &self.submitted_utc {
            lines.push(format!("submitted  {dropped}"));
        }
        for failure in &self.unreadable {
            lines.push(format!("not read   {}", escape_line(&failure.problem())));
        }
        for record in &self.records {
            lines.extend(record_lines(record));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn json(&self) -> Value {
        json!({
            "request_id": self.request_id,
            "state": self.state(),
            "waiting": self.rows.iter().map(json_of).collect::<Vec<_>>(),
            "submitted_utc": self.submitted_utc,
            "admission_stopped": self.admission_stopped,
            "records": self.records.iter().map(record_json).collect::<Vec<_>>(),
            "verified": false,
            "unreadable": self.unreadable.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

fn record_lines(record: &PublishedResult) -> Vec<String> {
    let path = escape_line(&output::path(&record.path));
    let mut lines = vec![format!("record     {path}")];
    match &record.summary {
        Some(summary) => {
            let (outcome, code) = (&summary.outcome, summary.exit_code);
            let text =
                format!("  outcome  {outcome}, exit code {code}, at {}", summary.created_utc);
            lines.push(escape_line(&text));
            let why = record.reason().map_or_else(Vec::new, reason::lines);
            lines.extend(why.into_iter().map(|line| format!("  reason   {line}")));
        }
        None => lines.push("  outcome  cannot be read".to_owned()),
    }
    let files = files_of(&record.path);
    for (name, bytes) in files.iter().take(FILES_SHOWN) {
        lines.push(format!("  {bytes:>9}  {}", escape_line(name)));
    }
    if let Some(more) = files.len().checked_sub(FILES_SHOWN).filter(|more| *more > 0) {
        lines.push(format!("  … and {more} more"));
    }
    lines.push(format!(
        "  not verified here: run toolexec verify {path}, with the keys of its host in --result-keys"
    ));
    lines
}

fn record_json(record: &PublishedResult) -> Value {
    let files = files_of(&record.path);
    let summary = record.summary.as_ref();
    json!({
        "result_id": record.name(),
        "record": output::path(&record.path),
        "outcome": summary.map(|summary| &summary.outcome),
        "exit_code": summary.map(|summary| summary.exit_code),
        "reason": record.reason(),
        "created_utc": summary.map(|summary| &summary.created_utc),
        "files": files.iter().map(|(name, bytes)| json!({"path": name, "bytes": bytes})).collect::<Vec<_>>(),
    })
}

/// Returns names and sizes, by name. Directories that cannot be listed are left out.
fn files_of(result: &Path) -> Vec<(String, u64)> {
    let mut files = Vec::new();
    let mut directories: Vec<PathBuf> = vec![result.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                directories.push(entry.path());
            } else {
                let path = entry.path();
                let name = path.strip_prefix(result).unwrap_or(&path);
                files.push((output::path(name), found.len()));
            }
        }
    }
    files.sort();
    files
}
