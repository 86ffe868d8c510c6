//! `toolexec list`: what waits and what was run, by looking at the directories. Reads only; what a
//! record says of itself is shown, not believed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use spool::Dropbox;

use crate::failure::Failure;
use crate::options::{Format, List};

const PACKAGED_SPOOL: &str = "/var/spool/toolexec";

/// One line of the list.
struct Row {
    request_id: String,
    /// `waiting`, or the outcome that the record names.
    state: String,
    result_id: Option<String>,
    created_utc: Option<String>,
    path: PathBuf,
}

pub(crate) fn list(asked: &List) -> Result<ExitCode, Failure> {
    let place = place(asked)?;
    let mut rows = Vec::new();
    let approved = place.join("approved");
    if approved.is_dir() {
        rows.extend(waiting(&approved)?);
    }
    let results = place.join("results");
    if !asked.waiting && results.is_dir() {
        rows.extend(done(&results)?);
    }
    for row in &rows {
        match asked.format {
            Format::Human => print_human(row),
            Format::Json => print_json(row),
        }
    }
    if rows.is_empty() && asked.format == Format::Human {
        println!("{}: nothing", place.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn place(asked: &List) -> Result<PathBuf, Failure> {
    if let Some(spool) = &asked.spool {
        if !spool.is_dir() {
            return Err(Failure::Said(format!("{}: no such directory", spool.display())));
        }
        return Ok(spool.clone());
    }
    let packaged = Path::new(PACKAGED_SPOOL);
    if asked.state.dir.is_none() && packaged.is_dir() {
        return Ok(packaged.to_owned());
    }
    asked.state.path()
}

fn waiting(approved: &Path) -> Result<Vec<Row>, Failure> {
    let names = Dropbox::open(approved)?.waiting()?;
    let row = |name: String| Row {
        request_id: name.strip_suffix(".md").unwrap_or(&name).to_owned(),
        state: "waiting".to_owned(),
        result_id: None,
        created_utc: None,
        path: approved.join(&name),
    };
    Ok(names.into_iter().map(row).collect())
}

fn done(results: &Path) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for entry in fs::read_dir(results).map_err(Failure::io(results))? {
        let path = entry.map_err(Failure::io(results))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || !path.is_dir() {
            continue;
        }
        rows.push(match records::summary(&path) {
            Some(said) => Row {
                request_id: said.request_id,
                state: said.outcome,
                result_id: Some(said.result_id),
                created_utc: Some(said.created_utc),
                path,
            },
            None => Row {
                request_id: "unknown".to_owned(),
                state: "unreadable".to_owned(),
                result_id: Some(name),
                created_utc: None,
                path,
            },
        });
    }
    rows.sort_by(|a, b| a.created_utc.cmp(&b.created_utc).then(a.path.cmp(&b.path)));
    Ok(rows)
}

fn print_human(row: &Row) {
    let text = |text: &str| validator::escape_line(text);
    println!(
        "{:<20}  {:<17}  {}  {}",
        text(row.created_utc.as_deref().unwrap_or("-")),
        text(&row.state),
        text(&row.request_id),
        text(row.result_id.as_deref().unwrap_or("-")),
    );
}

fn print_json(row: &Row) {
    let object = serde_json::json!({
        "request_id": row.request_id,
        "state": row.state,
        "result_id": row.result_id,
        "created_utc": row.created_utc,
        "path": row.path,
    });
    println!("{object}");
}
