//! `toolexec list`: what waits and what was run, by looking at the directories. Reads only; what a
//! record says of itself is shown, not believed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use spool::{Dropbox, Held, Waiting};

use crate::failure::Failure;
use crate::options::{Format, List};
use crate::output;

const PACKAGED_SPOOL: &str = "/var/spool/toolexec";

/// What is known of a request without having verified anything.
enum State {
    Waiting,
    /// Waiting for somebody's answer, by the daemon's word.
    Held(Held),
    /// The outcome that the record names.
    Done(String),
    Unreadable,
}

impl State {
    fn word(&self) -> &str {
        match self {
            Self::Waiting => "waiting",
            Self::Held(_) => "held",
            Self::Done(outcome) => outcome,
            Self::Unreadable => "unreadable",
        }
    }
}

/// One line of the list.
struct Row {
    request_id: String,
    state: State,
    result_id: Option<String>,
    created_utc: Option<String>,
    path: PathBuf,
}

pub(crate) fn list(asked: &List) -> Result<ExitCode, Failure> {
    let place = place(asked)?;
    let mut looks = vec![waiting(&place.join("approved"))];
    if !asked.waiting {
        looks.push(done(&place.join("results")));
    }
    let mut rows = Vec::new();
    let (mut seen, mut unseen) = (0, Vec::new());
    for look in looks {
        match look {
            Ok(found) => {
                seen += 1;
                rows.extend(found);
            }
            Err(failure) => unseen.push(failure),
        }
    }
    // Who may not see the one directory may still see the other; but an answer there must be.
    let last = if seen == 0 { unseen.pop() } else { None };
    for failure in &unseen {
        output::note(format_args!("{failure}; what is there is not listed"));
    }
    if let Some(failure) = last {
        return Err(failure);
    }
    for row in &rows {
        match asked.format {
            Format::Human => print_human(row)?,
            Format::Json => print_json(row)?,
        }
    }
    if rows.is_empty() && asked.format == Format::Human {
        output::line(format_args!("{}: nothing", place.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn place(asked: &List) -> Result<PathBuf, Failure> {
    if let Some(spool) = &asked.spool {
        return named(spool, "spool", "--spool", &["approved", "results"]);
    }
    let packaged = Path::new(PACKAGED_SPOOL);
    if asked.state.dir.is_none() && packaged.is_dir() {
        return Ok(packaged.to_owned());
    }
    let state = asked.state.path()?;
    match &asked.state.dir {
        Some(_) => named(&state, "state", "--state", &["results", "keys", "ledger"]),
        // Whoever has never run anything has no state, and that is no mistake.
        None => Ok(state),
    }
}

/// A directory that was typed: it must look like what it is said to be.
fn named(path: &Path, what: &str, option: &str, parts: &[&str]) -> Result<PathBuf, Failure> {
    let found = fs::metadata(path).map_err(Failure::io(path))?;
    if !found.is_dir() {
        return Err(Failure::Said(format!("{}: is no directory", path.display())));
    }
    for part in parts {
        let part = path.join(part);
        if part.try_exists().map_err(Failure::io(&part))? {
            return Ok(path.to_owned());
        }
    }
    Err(Failure::Said(format!(
        "{}: is no {what}: none of {}/ is in it; name one with {option}",
        path.display(),
        parts.join("/, ")
    )))
}

fn waiting(approved: &Path) -> Result<Vec<Row>, Failure> {
    if !approved.is_dir() {
        return Ok(Vec::new());
    }
    let mut held = spool::held_in(approved.parent().unwrap_or(approved));
    let row = |waiting: Waiting| {
        let name = waiting.name();
        Row {
            request_id: name.strip_suffix(".md").unwrap_or(name).to_owned(),
            state: held.remove(name).map_or(State::Waiting, State::Held),
            result_id: None,
            created_utc: None,
            path: approved.join(name),
        }
    };
    Ok(Dropbox::open(approved)?.waiting()?.into_iter().map(row).collect())
}

fn done(results: &Path) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    if !results.is_dir() {
        return Ok(rows);
    }
    for entry in fs::read_dir(results).map_err(Failure::io(results))? {
        let path = entry.map_err(Failure::io(results))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || !path.is_dir() {
            continue;
        }
        rows.push(match records::summary(&path) {
            Some(said) => Row {
                request_id: said.request_id,
                state: State::Done(said.outcome),
                result_id: Some(said.result_id),
                created_utc: Some(said.created_utc),
                path,
            },
            None => Row {
                request_id: "unknown".to_owned(),
                state: State::Unreadable,
                result_id: Some(name),
                created_utc: None,
                path,
            },
        });
    }
    rows.sort_by(|a, b| a.created_utc.cmp(&b.created_utc).then(a.path.cmp(&b.path)));
    Ok(rows)
}

fn print_human(row: &Row) -> Result<(), Failure> {
    let text = |text: &str| validator::escape_line(text);
    output::line(format_args!(
        "{:<20}  {:<17}  {}  {}",
        text(row.created_utc.as_deref().unwrap_or("-")),
        text(row.state.word()),
        text(&row.request_id),
        text(row.result_id.as_deref().unwrap_or("-")),
    ))?;
    let State::Held(held) = &row.state else { return Ok(()) };
    for waits in &held.waits_for {
        let (code, message) = (text(&waits.code), text(&waits.message));
        output::line(format_args!("    until {}: {code}: {message}", text(&held.until_utc)))?;
    }
    Ok(())
}

fn print_json(row: &Row) -> Result<(), Failure> {
    let held = match &row.state {
        State::Held(held) => Some(held),
        State::Waiting | State::Done(_) | State::Unreadable => None,
    };
    output::line(serde_json::json!({
        "request_id": row.request_id,
        "state": row.state.word(),
        "result_id": row.result_id,
        "created_utc": row.created_utc,
        "path": output::path(&row.path),
        "held": held,
    }))
}
