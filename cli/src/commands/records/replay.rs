//! `toolexec replay`: repeats the run of a record and reports every file that differs. It must
//! never replay a record that does not verify, or run under another policy than the record's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Args;
use model::{EnvironmentReference, Sha256, UtcTime, escape_line};
use records::{ReplayedRecord, RunOutputFile};
use serde_json::{Value, json};
use spool::ReplaySource;
use validator::{Draft, OwnerUid, REQUEST_BYTES_MAX};

use crate::args::environment::{find_in, store_of};
use crate::args::files::{named_directory, read_document};
use crate::args::{Format, HostOptions};
use crate::commands::run::embedded::{
    open_host, start_progress, stop_catching_signals, verify_record, watch_signals,
};
use crate::failure::Failure;
use crate::output;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec replay results/TS-20260209-161030Z-TR-20260209-160501Z-python-stats \\
           --inputs TR-20260209-160501Z-python-stats.inputs

Repeats the run under the same policy, evaluated at the time of the original run, and compares the
outputs byte by byte. The record must verify first. A replay uses up no approval, and its record
names the original. An environment that the run used must be in the state directory too.
Exit status: 0 the outputs are equal; 1 they differ, or a record does not verify; 2 request
refused; 3 sandbox setup failed or the outcome is unknown.")]
pub(crate) struct ReplayCommand {
    /// Replay the record in this result directory
    #[arg(value_name = "RESULT_DIR")]
    result: PathBuf,
    /// Read input files from this directory, required if the request has any
    #[arg(long, value_name = "DIR")]
    inputs: Option<PathBuf>,
    /// Trust the result keys in this file [default: the key of the state directory]
    #[arg(long, value_name = "FILE")]
    result_keys: Option<PathBuf>,
    #[command(flatten)]
    host: HostOptions,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

struct RunDifference {
    field: String,
    recorded: String,
    replayed: String,
}

pub(in crate::commands) fn replay(args: &ReplayCommand) -> Result<ExitCode, Failure> {
    let inputs = args.inputs.as_deref().map(|dir| named_directory("--inputs", dir)).transpose()?;
    let original = named_directory("RESULT", &args.result)?;
    let trusted = args.result_keys.as_deref();
    let Some(good) = super::verify::verified(&original, trusted, &args.host.state)? else {
        return Ok(ExitCode::from(1));
    };
    let Some(was) = good.replayed_record() else {
        return Err(Failure::Message(format!(
            "{}: no record; help: name a complete result",
            original.display()
        )));
    };
    let Some(started) = was.started else {
        let why = format!("its outcome is {}: nothing ran; help: name a run", was.outcome);
        return Ok(report_refusal(&was, &why));
    };
    if was.inputs_total > 0 && inputs.is_none() {
        let why = "the record does not contain the input files of its run; help: name their \
                   directory with --inputs";
        return Ok(report_refusal(&was, why));
    }
    let host = open_host(&args.host)?;
    let policy = host.policy();
    if policy.sha256().to_string() != was.policy_sha256 {
        let why = format!(
            "it ran under policy {} with sha256 {}, not under {} with {}; help: name that policy \
             with --policy",
            escape_line(&was.policy_name),
            was.policy_sha256,
            policy.name(),
            policy.sha256()
        );
        return Ok(report_refusal(&was, &why));
    }
    let request = original.join("request").join(format!("{}.md", was.request_id));
    if let Some(named) = environment_of(&request, &was, started)
        && let Some(why) = missing_environment(&named, &args.host)?
    {
        return Ok(report_refusal(&was, &why));
    }
    let interrupted = watch_signals()?;
    let replay = daemon::ReplayTarget {
        request: &request,
        request_sha256: was.request_sha256,
        inputs: inputs.as_deref(),
        original: ReplaySource { result_id: was.result_id.clone(), sha256: was.record_sha256 },
        at: started,
    };
    let uid = rustix::process::geteuid().as_raw();
    let live = start_progress(&host, None)?;
    let recorded = host.replay(replay, uid, &mut || interrupted.load(Ordering::Relaxed));
    drop(live);
    stop_catching_signals(&interrupted);
    let recorded = recorded?;
    crate::commands::run::embedded::report_problems(&request, b"", &recorded);
    let record = recorded.receipt.path().to_owned();
    let Some(is) = verify_record(&host, &record).and_then(|verified| verified.replayed_record())
    else {
        return Ok(ExitCode::from(1));
    };
    let differences = compare(&was, &is);
    print_comparison(args.format, &was, &is, &record, &differences)?;
    Ok(exit_code(&is, differences.is_empty()))
}

/// Returns the environment that the recorded request names.
fn environment_of(
    request: &Path,
    was: &ReplayedRecord,
    started: UtcTime,
) -> Option<EnvironmentReference> {
    // A request that cannot be read or has another digest is reported by the replay itself.
    let bytes = read_document(request, REQUEST_BYTES_MAX).ok()?;
    let recorded = Some(bytes).filter(|it| Sha256::of(it) == was.request_sha256)?;
    let draft = Draft::new(recorded, &format!("{}.md", was.request_id), OwnerUid::new(0)).ok()?;
    draft.read_recorded(started).ok()?.environment().cloned()
}

/// Returns the reason why a replay is impossible if its host does not have the environment.
fn missing_environment(
    named: &EnvironmentReference,
    host: &HostOptions,
) -> Result<Option<String>, Failure> {
    let store = store_of(&host.state)?;
    let found = find_in(&store, &format!("sha256:{}", named.sha256));
    let found = found.map_err(|error| Failure::Message(error.to_string()))?;
    let store = store.display();
    Ok(found.is_none().then(|| {
        format!(
            "it ran with environment {named}, which is not in {store}; help: run `toolexec env \
             export` where it is, then `toolexec env import` here"
        )
    }))
}

fn report_refusal(was: &ReplayedRecord, why: &str) -> ExitCode {
    output::note(format_args!("{}: not replayed: {why}", was.result_id));
    ExitCode::from(2)
}

/// Returns 0 for equal bytes and 1 for different ones; 2 and 3 have the meaning of `run`.
fn exit_code(is: &ReplayedRecord, same: bool) -> ExitCode {
    ExitCode::from(match is.outcome.as_str() {
        "refused" => 2,
        "setup_error" | "indeterminate" => 3,
        _ if same => 0,
        _ => 1,
    })
}

fn compare(was: &ReplayedRecord, is: &ReplayedRecord) -> Vec<RunDifference> {
    let row = |field: &str, recorded: &str, replayed: &str| RunDifference {
        field: field.to_owned(),
        recorded: recorded.to_owned(),
        replayed: replayed.to_owned(),
    };
    let facts = [
        row("outcome", &was.outcome, &is.outcome),
        row("exit code", &was.exit_code.to_string(), &is.exit_code.to_string()),
    ];
    let by_path = |left: &[RunOutputFile]| -> BTreeMap<String, String> {
        left.iter().map(|file| (file.path.clone(), describe(file))).collect()
    };
    let (before, now) = (by_path(&was.files), by_path(&is.files));
    let paths: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let of = |files: &BTreeMap<String, String>, path: &String| {
        files.get(path).map_or_else(|| "missing".to_owned(), Clone::clone)
    };
    let files = paths.into_iter().map(|path| row(path, &of(&before, path), &of(&now, path)));
    facts.into_iter().chain(files).filter(|row| row.recorded != row.replayed).collect()
}

fn describe(file: &RunOutputFile) -> String {
    match &file.mode {
        Some(mode) => format!("{} mode {mode}", file.sha256),
        None => file.sha256.clone(),
    }
}

fn print_comparison(
    format: Format,
    was: &ReplayedRecord,
    is: &ReplayedRecord,
    record: &Path,
    differences: &[RunDifference],
) -> Result<(), Failure> {
    if format == Format::Json {
        let rows: Vec<Value> = differences
            .iter()
            .map(|row| json!({ "field": row.field, "recorded": row.recorded, "replayed": row.replayed }))
            .collect();
        return output::line(json!({
            "replay_of": was.result_id.as_str(),
            "result_id": is.result_id.as_str(),
            "outcome": is.outcome,
            "exit_code": is.exit_code,
            "record": output::path(record),
            "verified": true,
            "reproducible": differences.is_empty(),
            "differences": rows,
        }));
    }
    output::line(format_args!("replay of  {}", was.result_id))?;
    output::line(format_args!("outcome    {}", is.outcome))?;
    output::line(format_args!("record     {}", record.display()))?;
    output::line("verified   yes")?;
    if differences.is_empty() {
        let count = is.files.len();
        return output::line(format_args!("reproduced yes: {count} files are identical"));
    }
    output::line("reproduced no:")?;
    for RunDifference { field, recorded, replayed } in differences {
        output::line(format_args!("  {}: was {recorded}, is {replayed}", escape_line(field)))?;
    }
    Ok(())
}
