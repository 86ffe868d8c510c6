//! `toolexec status`: shows daemon and queue status.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use model::{UtcTime, escape_line};
use serde_json::{Value, json};
use spool::{RunningRequest, RunningStep};

use super::daemon::DaemonView;
use super::list::{held_lines, json_of, reason_line};
use super::place::spool_at;
use super::rows::{QueueRow, QueueState, last, queue};
use crate::args::Format;
use crate::failure::Failure;
use crate::{clock, output};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec status --spool /var/spool/toolexec

Shows whether the daemon is alive, by its lock rather than its status file; then queued requests,
requests in flight with their time limits, the latest outcomes and the free space.
Exit status: 0 the daemon serves and admits requests; 1 it does not, or that cannot be determined;
3 not a spool, or a usage error.")]
pub(crate) struct StatusCommand {
    /// Show this spool
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    spool: PathBuf,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

const LAST_ROWS: usize = 5;
/// Limit of shown requests per state.
const SHOWN_ROWS: usize = 20;
const MIB: u64 = 1 << 20;
/// The digits of the policy's digest that suffice for people.
const DIGITS_SHOWN: usize = 12;

pub(in crate::commands) fn status(args: &StatusCommand) -> Result<ExitCode, Failure> {
    let place = spool_at(&args.spool)?;
    let view = StatusView::of(&place);
    match args.format {
        Format::Human => output::text(&view.human())?,
        Format::Json => output::line(view.json(&place))?,
    }
    Ok(ExitCode::from(u8::from(!view.daemon.admits())))
}

/// A snapshot of a spool, as consistent as directory reads can be.
pub(super) struct StatusView {
    pub(super) daemon: DaemonView,
    pub(super) rows: Vec<QueueRow>,
    last: Vec<QueueRow>,
    unreadable: Vec<Failure>,
    free_bytes: Option<u64>,
    at: UtcTime,
}

impl StatusView {
    pub(super) fn of(place: &Path) -> Self {
        let daemon = DaemonView::of(place);
        let queue = queue(place, &daemon);
        let found = rustix::fs::statvfs(place).ok();
        Self {
            daemon,
            rows: queue.rows,
            unreadable: queue.unreadable,
            // A caller who may not list results sees the error in the queue.
            last: last(place, LAST_ROWS).unwrap_or_default(),
            free_bytes: found.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)),
            at: clock::now(),
        }
    }

    fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts: BTreeMap<&str, usize> =
            QueueState::unfinished().map(|name| (name, 0)).collect();
        for row in &self.rows {
            *counts.entry(row.state.as_str()).or_default() += 1;
        }
        counts
    }

    fn in_flight(&self) -> impl Iterator<Item = (&QueueRow, &RunningRequest)> {
        self.rows.iter().filter_map(|row| match &row.state {
            QueueState::InFlight(running) | QueueState::Interrupted(running) => {
                Some((row, running))
            }
            _ => None,
        })
    }

    fn elapsed_sec(&self, since_utc: &str) -> i64 {
        let since = since_utc.parse::<UtcTime>().map_or(self.at.unix(), UtcTime::unix);
        self.at.unix().saturating_sub(since).max(0)
    }

    pub(super) fn json(&self, place: &Path) -> Value {
        let with_time = |(row, running): (&QueueRow, &RunningRequest)| {
            let mut row = json_of(row);
            row["elapsed_sec"] = self.elapsed_sec(&running.step_since_utc).into();
            row
        };
        json!({
            "spool": output::path(place),
            "at_utc": self.at.to_string(),
            "daemon": self.daemon.json(),
            "queue": self.counts(),
            "running": self.in_flight().map(with_time).collect::<Vec<_>>(),
            "last": self.last.iter().map(json_of).collect::<Vec<_>>(),
            "free_bytes": self.free_bytes,
            "unreadable": self.unreadable.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }

    pub(super) fn human(&self) -> String {
        let mut lines = vec![format!("daemon       {}", self.daemon.sentence())];
        if let Some(why) = self.daemon.admission_stopped() {
            lines.push(format!("admission    stopped: {}", escape_line(why)));
        }
        if let Some((name, sha256)) = self.daemon.policy() {
            let digits = sha256.get(..DIGITS_SHOWN).unwrap_or(sha256);
            lines.push(format!("policy       {}, sha256 {digits}…", escape_line(name)));
        }
        lines.push(format!("queue        {}", self.counts_text()));
        for failure in &self.unreadable {
            lines.push(format!("not read     {}", escape_line(&failure.problem())));
        }
        if let Some(bytes) = self.free_bytes {
            lines.push(format!("free         {} MiB", bytes / MIB));
        }
        self.in_flight().take(SHOWN_ROWS).for_each(|(row, running)| {
            lines.push(format!("{:<13}{}", row.state.as_str(), self.running_line(row, running)));
        });
        for row in
            self.rows.iter().filter(|row| matches!(row.state, QueueState::Held(_))).take(SHOWN_ROWS)
        {
            lines.push(format!("held         {}", escape_line(&row.request_id)));
            lines.extend(held_lines(&row.state).iter().map(|line| format!("             {line}")));
        }
        for row in &self.last {
            let created = row.created_utc.as_deref().unwrap_or("-");
            let (word, id) = (row.state.as_str(), &row.request_id);
            lines.push(escape_line(&format!("ended        {created}  {word:<17}  {id}")));
            lines.extend(reason_line(row).map(|line| format!("             {line}")));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    /// Returns the counts that are not zero, or `nothing`.
    fn counts_text(&self) -> String {
        let counts = self.counts();
        let count = |name: &str| counts.get(name).copied().unwrap_or_default();
        let words: Vec<String> = QueueState::unfinished()
            .filter(|name| count(name) > 0)
            .map(|name| format!("{} {name}", count(name)))
            .collect();
        if words.is_empty() { "empty".to_owned() } else { words.join(", ") }
    }

    fn running_line(&self, row: &QueueRow, running: &RunningRequest) -> String {
        let elapsed = self.elapsed_sec(&running.step_since_utc);
        let mut text = match (&row.state, running.step, running.time_sec_max) {
            (QueueState::Interrupted(_), step, _) => {
                format!("was {step} since {}", running.step_since_utc)
            }
            (_, RunningStep::Running, Some(most)) => format!("{elapsed} s of {most} s"),
            _ => format!("{elapsed} s"),
        };
        if let Some(bytes) = running.memory_bytes_max {
            text.push_str(&format!(", {} MiB", bytes / MIB));
        }
        if let Some(submitter) = &running.submitter {
            text.push_str(&format!(", submitted by {submitter}"));
        }
        escape_line(&format!("{}  {text}", row.request_id))
    }
}
