//! `toolexec wait`: waits for the records of requests. Only a published result ends the wait.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::{ArgGroup, Args};
use model::{RequestId, UtcTime, escape_line};
use serde_json::json;
use spool::{held_requests, running_requests, waiting_requests};

use super::change_watcher::ChangeWatcher;
use super::daemon::DaemonView;
use super::fleet_wait;
use super::place::PlaceOptions;
use super::reason;
use super::resolve_id::{ResolvedId, resolve};
use super::results::{
    PublishedResult, exit_code_of, final_record, never_ran, records_among, result_names,
};
use super::rows::queue;
use crate::args::{FleetOption, Format};
use crate::clock;
use crate::failure::Failure;
use crate::output;
use crate::output::progress::{self, OutputFollower, ProgressLine, ProgressThread};

#[derive(Args)]
#[command(
    group = ArgGroup::new("waited_place").args(["spool", "dir", "fleet"]),
    group = ArgGroup::new("followed_place").args(["follow", "fleet"]),
    after_help = "\
Example: toolexec wait TR-20260209-160501Z-python-stats --timeout 600
         toolexec wait TR-20260209-160501Z-python-stats --fleet postgres://alice@db/toolexec

Waits until each request has its record. If a request has several records (it was submitted
again), the record of its run counts. Prints a line for each request as it ends. Nothing is
verified. If stderr is a terminal, it shows the progress. --follow adds the output of the named
request's tool, on stderr, each line escaped and prefixed with `| ` (stdout) or `! ` (stderr).
With --fleet, each id must be complete; a request also ends when its host is declared lost.
Exit status, the highest of all requests: 0 the outcome is ok; 1 the tool failed; 2 refused, or no
such request; 3 sandbox setup failed, the outcome is unknown, or the time is over."
)]
pub(crate) struct WaitCommand {
    /// Wait for these requests, by id or a unique part of it
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Show the tool's output while it runs, for one request
    #[arg(long)]
    follow: bool,
    /// Stop waiting after this number of seconds [default: unlimited]
    #[arg(long, value_name = "SEC")]
    timeout: Option<u64>,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    fleet: FleetOption,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// inotify is only a hint; the directories are read this often without one.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Under load every file causes a hint. One read handles those of this period.
const REST: Duration = Duration::from_millis(50);

/// The ids of standing approvals begin so.
const STANDING_PREFIX: &str = "SA-";

enum WaitEnd {
    Record(PublishedResult),
    NoSuch,
    /// The request existed and disappeared without a record.
    Withdrawn,
    TimeOver,
}

pub(in crate::commands) fn wait(args: &WaitCommand) -> Result<ExitCode, Failure> {
    if let Some(client) = args.fleet.client()? {
        return fleet_wait::wait(&args.ids, args.timeout, args.format, &client);
    }
    let place = args.place.path()?;
    let until = args.timeout.and_then(|sec| Instant::now().checked_add(Duration::from_secs(sec)));
    let hints = ChangeWatcher::of(&place, &["approved", "results"]);
    let mut worst = 0;
    let mut waiting = Vec::new();
    let first = queue(&place, &DaemonView::of(&place));
    if let Some(id) = args.ids.iter().find(|id| id.starts_with(STANDING_PREFIX)) {
        let help = "see `toolexec standing list`";
        let id = escape_line(id);
        return Err(Failure::Message(format!(
            "{id}: a standing approval has no record; help: {help}"
        )));
    }
    for typed in &args.ids {
        match resolve(&place, &first, typed)? {
            ResolvedId::Request(id) => waiting.push(id),
            ResolvedId::Result(name) => {
                let published = PublishedResult::at(place.join("results").join(name));
                worst = worst.max(print_end(args.format, typed, &WaitEnd::Record(published))?);
            }
            // A caller who may not list submissions may still wait for a complete id.
            ResolvedId::Unknown
                if !first.unreadable.is_empty() && typed.parse::<RequestId>().is_ok() =>
            {
                waiting.push(typed.clone());
            }
            ResolvedId::Unknown => {
                worst = worst.max(print_end(args.format, typed, &WaitEnd::NoSuch)?);
                if args.format == Format::Human {
                    let (id, option) = (escape_line(typed), args.place.option());
                    let help = format!("list the requests with `toolexec list{option}`");
                    output::note(format_args!("{id}: no such request; help: {help}"));
                }
            }
        }
    }
    if args.follow && waiting.len() > 1 {
        return Err(Failure::Message("--follow: several requests; help: name one".into()));
    }
    let known = Arc::new(Mutex::new(waiting.clone()));
    let live = start_progress(&place, args.follow.then(|| waiting.first()).flatten(), &known)?;
    loop {
        let mut still = Vec::new();
        for (id, end) in check_ends(&place, waiting)? {
            match end {
                Some(end) => {
                    worst = worst.max(live.suspend(|| print_end(args.format, &id, &end))?);
                }
                None => still.push(id),
            }
        }
        waiting = still;
        known.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&waiting);
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if waiting.is_empty() {
            return Ok(ExitCode::from(worst));
        }
        if left == Some(Duration::ZERO) {
            let code = live.suspend(|| print_time_over(args, &place, &waiting))?;
            return Ok(ExitCode::from(worst.max(code)));
        }
        std::thread::sleep(left.map_or(REST, |left| left.min(REST)));
        hints.wait(left.map_or(POLL_INTERVAL, |left| left.min(POLL_INTERVAL)), None);
    }
}

/// Prints the requests that still have no record, and returns their exit status.
fn print_time_over(args: &WaitCommand, place: &Path, waiting: &[String]) -> Result<u8, Failure> {
    if let Some(why) = DaemonView::of(place).admission_stopped() {
        output::note(format_args!("admission is stopped: {}", escape_line(why)));
    }
    let mut worst = 0;
    for id in waiting {
        worst = worst.max(print_end(args.format, id, &WaitEnd::TimeOver)?);
    }
    if args.format == Format::Human {
        let option = args.place.option();
        output::note(format_args!(
            "the time is over; help: read the reasons with `toolexec list --waiting{option}`"
        ));
    }
    Ok(worst)
}

/// Starts the progress display. It ends when the value is dropped.
fn start_progress(
    place: &Path,
    followed: Option<&String>,
    waiting: &Arc<Mutex<Vec<String>>>,
) -> Result<ProgressThread, Failure> {
    let (place, waiting): (PathBuf, _) = (place.to_owned(), Arc::clone(waiting));
    let mut followed = followed.map(|id| OutputFollower::new(&place.join("results"), id));
    ProgressThread::begin(followed.is_some(), move |progress_line, moment| {
        if let Some(followed) = &mut followed {
            progress_line.lines(&followed.lines(moment));
        }
        let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        draw(progress_line, &place, &waiting);
    })
}

/// Draws the request that is furthest, and the number of others.
fn draw(progress_line: &mut ProgressLine, place: &Path, waiting: &[String]) {
    let in_flight = running_requests(place);
    let running = waiting.iter().filter_map(|id| in_flight.get(id)).max_by_key(|it| it.step);
    let more = match waiting.len().saturating_sub(1) {
        0 => String::new(),
        more => format!("  and {more} more"),
    };
    if let Some(running) = running {
        let numbers = progress::running_figures(running, clock::now());
        return progress_line.state(running.step.as_str(), &format!("{numbers}{more}"));
    }
    let held = held_requests(place);
    let of_first = waiting.iter().find_map(|id| held.get(&format!("{id}.md")));
    match (of_first.and_then(|held| held.waits_for.first()), waiting.is_empty()) {
        (_, true) => {}
        (Some(waits), _) => {
            progress_line.state("held", &escape_line(&format!("for {}{more}", waits.code)))
        }
        (None, _) => progress_line.state("waiting", &format!("for the daemon{more}")),
    }
}

/// The request's file in `approved/`, read before anything else.
enum SubmittedFile {
    Missing,
    /// The file's ctime in seconds. `None` if the caller may not read it.
    Present(Option<i64>),
}

impl SubmittedFile {
    fn of(place: &Path, id: &str) -> Self {
        match place.join("approved").join(format!("{id}.md")).symlink_metadata() {
            Ok(found) => Self::Present(Some(found.ctime())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Missing,
            Err(_) => Self::Present(None),
        }
    }

    /// The file of a recorded request that could not be removed is older than the record.
    fn is_newer_than(&self, record: &PublishedResult) -> bool {
        let made =
            record.summary.as_ref().and_then(|summary| summary.created_utc.parse::<UtcTime>().ok());
        match self {
            Self::Present(Some(dropped)) => made.is_some_and(|made| *dropped > made.unix()),
            Self::Present(None) | Self::Missing => false,
        }
    }
}

/// Reads the files and the requests in flight before the records. The daemon publishes in the
/// opposite order, so a request that is found nowhere has no record.
fn check_ends(
    place: &Path,
    waiting: Vec<String>,
) -> Result<Vec<(String, Option<WaitEnd>)>, Failure> {
    let originals: Vec<_> = waiting.iter().map(|id| SubmittedFile::of(place, id)).collect();
    let (in_flight, held, in_line) =
        (running_requests(place), held_requests(place), waiting_requests(place));
    let names = result_names(place)?;
    let is_reported = |id: &str| {
        let file = format!("{id}.md");
        let listed = in_flight.contains_key(id)
            || held.contains_key(&file)
            || in_line.iter().any(|one| one.file == file);
        listed && !DaemonView::of(place).is_dead()
    };
    let end =
        |id: &str, original: &SubmittedFile| match final_record(records_among(place, &names, id)) {
            // It may be submitted again. The old record is then not its end.
            Some(record)
                if never_ran(record.as_str())
                    && (original.is_newer_than(&record) || is_reported(id)) =>
            {
                None
            }
            Some(record) => Some(WaitEnd::Record(record)),
            None => {
                let is_gone = matches!(original, SubmittedFile::Missing);
                (is_gone && !in_flight.contains_key(id)).then_some(WaitEnd::Withdrawn)
            }
        };
    let looked = waiting.into_iter().zip(originals);
    Ok(looked.map(|(id, original)| (end(&id, &original), id)).map(|(end, id)| (id, end)).collect())
}

/// Prints the end and returns its exit status, which is that of `run`.
fn print_end(format: Format, id: &str, end: &WaitEnd) -> Result<u8, Failure> {
    let (word, code) = match end {
        WaitEnd::Record(record) => {
            let word = record.as_str();
            (word, exit_code_of(word))
        }
        WaitEnd::NoSuch => ("no such request", 2),
        WaitEnd::Withdrawn => ("gone without a record", 2),
        WaitEnd::TimeOver => ("has no record yet", 3),
    };
    let record = match end {
        WaitEnd::Record(record) => Some(record),
        _ => None,
    };
    match format {
        Format::Human => {
            let path = record.map_or_else(String::new, |it| format!("  {}", it.path.display()));
            output::line(escape_line(&format!("{id}  {word}{path}")))?;
            for line in
                record.and_then(|record| record.reason()).map_or_else(Vec::new, reason::lines)
            {
                output::line(format_args!("    {line}"))?;
            }
        }
        Format::Json => {
            let summary = record.and_then(|record| record.summary.as_ref());
            output::line(json!({
                "request_id": id,
                "state": word,
                "outcome": summary.map(|summary| &summary.outcome),
                "exit_code": summary.map(|summary| summary.exit_code),
                "reason": record.and_then(|record| record.reason()),
                "record": record.map(|record| output::path(&record.path)),
                "verified": false,
            }))?;
        }
    }
    Ok(code)
}
