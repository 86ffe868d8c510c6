//! `toolexec gc`: deletes expired data, by the retention of the configuration or of the options. It
//! must never run beside a daemon. A dry run lists exactly what would be deleted.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use daemon::config::Config;
use model::escape_line;
use serde_json::{Value, json};
use spool::retention::{
    ExpiredEntry, RemovalOutcome, RetentionBounds, RetentionKind, RetentionPolicy, dry_run,
};
use spool::{Spool, SpoolError, SpoolPaths};

use crate::args::files::{named_directory, require_owner};
use crate::args::{Format, StateOption};
use crate::clock::now;
use crate::failure::Failure;
use crate::output;

const GIVEN_BY_CONFIG: [&str; 5] =
    ["dir", "spool", "keep_results", "keep_archive", "keep_quarantine"];

#[derive(Args)]
#[command(after_help = "\
Example: toolexec gc --dry-run --config /etc/toolexec/toolexecd.yaml
         toolexec gc --keep-results days=365,count=100000 --keep-archive bytes=1000000000

Deletes results, archived and refused requests beyond the given bounds: by the age of the time in
their names, their number, or the bytes in their files, oldest first. BOUNDS is one or more of
days=N, count=N and bytes=N. Data without bounds is kept forever. So are results that are unsigned,
not in the log, still in progress or younger than an hour, and every ledger entry, log entry and
key. Deleted runs remain known: no request runs again.

A daemon does this by itself. No other process may use the spool meanwhile: stop the daemon first,
and run this as its user. With --dry-run nothing is changed, and the daemon may run.
Exit status: 0 everything was deleted; 3 otherwise.
With --format json, stdout is one object: {\"dry_run\",\"expired\":[{\"kind\",\"path\",\"result_id\",\"at\",
\"bytes\",\"limit\",\"error\"}],\"totals\":{\"results\":{\"count\",\"bytes\"},\"archive\":…,\"quarantine\":…}}.
\"error\" states why an item still exists.")]
pub(crate) struct GcCommand {
    /// List what would be deleted, without deleting it
    #[arg(long)]
    dry_run: bool,
    /// Use the spool and retention of this daemon configuration
    #[arg(long, value_name = "FILE", conflicts_with_all = GIVEN_BY_CONFIG)]
    config: Option<PathBuf>,
    /// Clean up the spool that belongs to the state directory [default: the state directory itself]
    #[arg(long, value_name = "DIR", requires = "dir")]
    spool: Option<PathBuf>,
    #[command(flatten)]
    state: StateOption,
    /// Limit results/ to these bounds [default: unlimited]
    #[arg(long, value_name = "BOUNDS")]
    keep_results: Option<BoundsOption>,
    /// Limit archive/ to these bounds [default: unlimited]
    #[arg(long, value_name = "BOUNDS")]
    keep_archive: Option<BoundsOption>,
    /// Limit quarantine/ to these bounds [default: unlimited]
    #[arg(long, value_name = "BOUNDS")]
    keep_quarantine: Option<BoundsOption>,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// Retention limits of an option: at least one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundsOption(pub(crate) RetentionBounds);

impl FromStr for BoundsOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut bounds = RetentionBounds::default();
        for word in text.split(',') {
            let (name, number) = word
                .split_once('=')
                .ok_or("not one or more of days=N, count=N and bytes=N, separated by commas")?;
            match name {
                "days" => put(name, number, &mut bounds.days)?,
                "count" => put(name, number, &mut bounds.count)?,
                "bytes" => put(name, number, &mut bounds.bytes)?,
                _ => return Err(format!("`{name}` is not one of days, count and bytes")),
            }
        }
        Ok(Self(bounds))
    }
}

fn put<N: FromStr>(name: &str, number: &str, place: &mut Option<N>) -> Result<(), String> {
    let read = number.parse().map_err(|_| format!("{name}: not a number of 1 or more"))?;
    match place.replace(read) {
        None => Ok(()),
        Some(_) => Err(format!("{name}: given twice")),
    }
}

struct RemovalRow {
    going: ExpiredEntry,
    left: Option<SpoolError>,
}

pub(in crate::commands) fn gc(args: &GcCommand) -> Result<ExitCode, Failure> {
    let (places, keep) = places_and_keep(args)?;
    require_state(&places)?;
    let mut unfinished = Vec::new();
    let rows: Vec<RemovalRow> = if args.dry_run {
        let going = dry_run(&places, &keep, now())?;
        going.into_iter().map(|going| RemovalRow { going, left: None }).collect()
    } else {
        require_owner(&places.state)?;
        // Held to the end: no request is claimed or recorded meanwhile.
        let spool = Spool::open_for_daemon(&places)?;
        let removal = spool.remove_expired(&keep, now(), usize::MAX, &|| false)?;
        let row = |(going, gone)| match gone {
            RemovalOutcome::Removed => RemovalRow { going, left: None },
            RemovalOutcome::Failed(error) => RemovalRow { going, left: Some(error) },
        };
        unfinished = removal.unfinished;
        removal.outcomes.into_iter().map(row).collect()
    };
    match args.format {
        Format::Human => print_report(args, &places, &keep, &rows)?,
        Format::Json => output::line(as_json(args, &rows))?,
    }
    unfinished.extend(rows.into_iter().filter_map(|row| row.left));
    for error in &unfinished {
        output::note(format_args!("left for the next time: {error}"));
    }
    Ok(ExitCode::from(if unfinished.is_empty() { 0 } else { 3 }))
}

fn places_and_keep(args: &GcCommand) -> Result<(SpoolPaths, RetentionPolicy), Failure> {
    if let Some(file) = &args.config {
        let Config { state, spool, log, retention: keep, .. } = Config::read(file)?;
        return Ok((SpoolPaths { results: spool.join("results"), state, spool, log }, keep));
    }
    let state = args.state.path()?;
    let spool = match &args.spool {
        Some(spool) => named_directory("--spool", spool)?,
        None => state.clone(),
    };
    let [results, archive, quarantine] =
        [args.keep_results, args.keep_archive, args.keep_quarantine]
            .map(|typed| typed.map(|typed| typed.0).unwrap_or_default());
    let keep = RetentionPolicy { results, archive, quarantine };
    if keep.is_unbounded() {
        return Err(Failure::Message(
            "gc: no bounds; help: name a configuration with --config, or bounds such as \
             --keep-results days=365"
                .to_owned(),
        ));
    }
    let (results, log) = (spool.join("results"), spool.join("log"));
    Ok((SpoolPaths { results, log, state, spool }, keep))
}

/// Checks that state and spool exist, so that a mistyped path is neither created nor locked.
fn require_state(places: &SpoolPaths) -> Result<(), Failure> {
    let parts = [(places.state.join("ledger"), "state"), (places.spool.join("work"), "spool")];
    for (path, what) in parts {
        match fs::metadata(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let path = path.display();
                return Err(Failure::Message(format!(
                    "{path}: does not exist; help: check the path of the {what}"
                )));
            }
            Err(error) => return Err(Failure::io(&path)(error)),
        }
    }
    Ok(())
}

fn totals(rows: &[RemovalRow], kind: RetentionKind) -> (u64, u64) {
    let gone = rows.iter().filter(|row| row.left.is_none() && row.going.kind == kind);
    gone.fold((0, 0), |(count, bytes), row| (count + 1, bytes + row.going.bytes))
}

fn print_report(
    args: &GcCommand,
    places: &SpoolPaths,
    keep: &RetentionPolicy,
    rows: &[RemovalRow],
) -> Result<(), Failure> {
    for RemovalRow { going, .. } in rows.iter().filter(|row| row.left.is_none()) {
        let ExpiredEntry { kind, result_id, at, bytes, bound: why, .. } = going;
        let (kind, why) = (kind.as_str(), why.as_str());
        output::line(format_args!(
            "{at}  {why:<5}  {bytes:>10}  {kind}/{}",
            escape_line(result_id)
        ))?;
    }
    let action = if args.dry_run { "would be removed" } else { "removed" };
    let of_kinds = RetentionKind::ALL.iter().copied().map(|kind| {
        let (count, bytes) = totals(rows, kind);
        format!("{count} of {}/ ({bytes} bytes)", kind.as_str())
    });
    let spool = escape_line(&places.spool.display().to_string());
    output::line(format_args!("{spool}: {action}: {}", of_kinds.collect::<Vec<_>>().join(", ")))?;
    if keep.is_unbounded() {
        output::note("retention: not configured, so nothing is deleted");
    }
    Ok(())
}

fn as_json(args: &GcCommand, rows: &[RemovalRow]) -> Value {
    let going = rows.iter().map(|RemovalRow { going, left }| {
        json!({
            "kind": going.kind.as_str(),
            "path": output::path(&going.path),
            "result_id": going.result_id,
            "at": going.at.to_string(),
            "bytes": going.bytes,
            "limit": going.bound.as_str(),
            "error": left.as_ref().map(ToString::to_string),
        })
    });
    let totals = RetentionKind::ALL.iter().copied().map(|kind| {
        let (count, bytes) = totals(rows, kind);
        (kind.as_str().to_owned(), json!({ "count": count, "bytes": bytes }))
    });
    json!({
        "dry_run": args.dry_run,
        "expired": going.collect::<Vec<_>>(),
        "totals": totals.collect::<serde_json::Map<_, _>>(),
    })
}
