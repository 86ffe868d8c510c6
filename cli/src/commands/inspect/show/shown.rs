//! A request with its records, as text and as JSON. Nothing in it is verified.

use std::fs;
use std::path::{Path, PathBuf};

use model::escape_line;
use serde_json::{Value, json};
use spool::{HoldReason, RunningStep};
use validator::RuleDoc;

use crate::commands::inspect::list::{held_lines, json_of};
use crate::commands::inspect::reason;
use crate::commands::inspect::results::{PublishedResult, request_of};
use crate::commands::inspect::rows::{QueueRow, QueueState};
use crate::failure::Failure;
use crate::output;

/// Limit of listed files per result. A run may leave very many.
const FILES_SHOWN: usize = 200;

/// A request, with the statements of its files.
pub(super) struct ShownRequest {
    pub(super) request_id: String,
    pub(super) rows: Vec<QueueRow>,
    pub(super) submitted_utc: Option<String>,
    pub(super) records: Vec<PublishedResult>,
    pub(super) unreadable: Vec<Failure>,
    pub(super) admission_stopped: Option<String>,
}

/// Reads the result in a directory, of any spool.
pub(super) fn one_result(path: &Path) -> Result<ShownRequest, Failure> {
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

    pub(super) fn human(&self) -> String {
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
                let line = escape_line(&format!("{:<11}{since}", step.as_str()));
                lines.extend((step != RunningStep::Claimed).then_some(line));
            }
            if matches!(row.state, QueueState::Interrupted(_)) {
                lines.push("           the daemon died; its next start records the end".to_owned());
            }
            lines.extend(held_with_help(&row.state));
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

    pub(super) fn json(&self) -> Value {
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

/// Returns the conditions that a held request waits for, each with the remedy of its code.
fn held_with_help(state: &QueueState) -> Vec<String> {
    let QueueState::Held(held) = state else { return Vec::new() };
    let with_help = |(line, reason): (String, &HoldReason)| {
        let help = remedy_of(&reason.code).map(|remedy| format!("           help: {remedy}"));
        [format!("held       {line}")].into_iter().chain(help)
    };
    held_lines(state).into_iter().zip(&held.waits_for).flat_map(with_help).collect()
}

/// Returns the documented remedy of a code, in the form of a message.
fn remedy_of(code: &str) -> Option<String> {
    let remedy = RuleDoc::named(code)?.remedy();
    let (first, rest) = remedy.trim_end_matches('.').split_at_checked(1)?;
    Some(format!("{}{rest}", first.to_ascii_lowercase()))
}

fn record_lines(record: &PublishedResult) -> Vec<String> {
    let path = escape_line(&output::path(&record.path));
    let mut lines = vec![format!("record     {path}")];
    lines.extend(statement_lines(record));
    lines.push(format!(
        "  not verified here: run toolexec verify {path}, with the keys of its host in --result-keys"
    ));
    lines
}

/// Returns the statements of a record and its files.
pub(super) fn statement_lines(record: &PublishedResult) -> Vec<String> {
    let mut lines = Vec::new();
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
    lines
}

pub(super) fn record_json(record: &PublishedResult) -> Value {
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
