//! `toolexec run`: an embedded run on the daemon's code path, with the caller as the approver.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use daemon::{BackendScope, Daemon, DaemonError, RecordedRequest};
use model::Outcome;
use records::VerifiedRecord;
use spool::SpoolError;
use validator::REQUEST_BYTES_MAX;

use super::embedded::{
    open_host_for, report_problems, start_progress, stop_catching_signals, verify_record,
    watch_signals,
};
use crate::args::files::{named_directory, read_document};
use crate::args::{Format, HostOptions};
use crate::failure::Failure;
use crate::output::progress::OutputFollower;
use crate::output::{self, human};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec run TR-20260209-160501Z-python-stats.md --results ./results

You are the approver: read the request first. If stderr is a terminal, it shows the progress of
hashing, and time, CPU and memory beside their limits. --follow adds the tool's output, on stderr,
each line escaped and prefixed with `| ` (stdout) or `! ` (stderr).
Exit status: 0 success; 1 the tool failed or its record does not verify; 2 request refused; 3
sandbox setup failed or the outcome is unknown.
With --format json, the last line of stdout is one object: {\"result_id\",\"outcome\",\"exit_code\",
\"record\",\"verified\"}.")]
pub(crate) struct RunCommand {
    /// Run this request, a Markdown file with front matter
    #[arg(value_name = "REQUEST.md")]
    request: PathBuf,
    /// Read input files from this directory [default: <stem>.inputs/ beside the request]
    #[arg(long, value_name = "DIR")]
    inputs: Option<PathBuf>,
    #[command(flatten)]
    host: HostOptions,
    /// Show the tool's output while it runs
    #[arg(long)]
    follow: bool,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

pub(in crate::commands) fn run(args: &RunCommand) -> Result<ExitCode, Failure> {
    // Report usage errors before creating a state. The run reads and hashes the file itself.
    let request = match read_document(&args.request, REQUEST_BYTES_MAX) {
        Err(Failure::TooLarge(..)) => Vec::new(),
        request => request?,
    };
    let inputs = args.inputs.as_deref().map(|dir| named_directory("--inputs", dir)).transpose()?;
    let (host, tried) = open_host_for(&args.host, &args.request, &request)?;
    let interrupted = watch_signals()?;
    prove_accelerators(&host, &tried, &interrupted);
    let results = args.host.results_of()?;
    let followed = args.follow.then(|| OutputFollower::new(&results, &id_of(&args.request)));
    let live = start_progress(&host, followed)?;
    let recorded = host.run_file(
        &args.request,
        inputs.as_deref(),
        rustix::process::geteuid().as_raw(),
        &mut || interrupted.load(Ordering::Relaxed),
    );
    drop(live);
    stop_catching_signals(&interrupted);
    let recorded = match recorded {
        Ok(recorded) => recorded,
        Err(DaemonError::Spool(SpoolError::TooLarge { path, bytes_max }))
            if path == args.request =>
        {
            human::print_to_stderr(&args.request, b"", &[human::too_large(bytes_max)]);
            return Ok(ExitCode::from(2));
        }
        Err(error) => return Err(error.into()),
    };
    report_problems(&args.request, &request, &recorded);
    let verified = verify_record(&host, recorded.receipt.path());
    match args.format {
        Format::Human => print_human(&recorded, verified.as_ref())?,
        Format::Json => print_json(&recorded, verified.is_some())?,
    }
    Ok(exit_code(recorded.outcome, verified.is_some()))
}

/// Boots a guest if nothing else shows which accelerator works. An interrupt ends it.
fn prove_accelerators(host: &Daemon, backends: &BackendScope, interrupted: &AtomicBool) {
    if host.has_untried_accelerator(backends) {
        output::note("booting a guest, to learn which accelerator of the policy works here");
        host.prove_accelerators(backends, &|| interrupted.load(Ordering::Relaxed));
    }
}

fn id_of(request: &Path) -> String {
    request.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn print_human(
    recorded: &RecordedRequest,
    verified: Option<&VerifiedRecord>,
) -> Result<(), Failure> {
    output::line(format_args!("outcome    {}", recorded.outcome))?;
    output::line(format_args!("exit code  {}", recorded.exit_code))?;
    output::line(format_args!("record     {}", recorded.receipt.path().display()))?;
    match verified {
        Some(verified) => output::line(format_args!(
            "verified   {} files re-hashed, signed by {} {}",
            verified.files_rehashed(),
            verified.signer_principal(),
            verified.signer_fingerprint()
        )),
        None => output::line("verified   no"),
    }
}

fn print_json(recorded: &RecordedRequest, verified: bool) -> Result<(), Failure> {
    output::line(serde_json::json!({
        "result_id": recorded.receipt.result_id().as_str(),
        "outcome": recorded.outcome.as_str(),
        "exit_code": recorded.exit_code,
        "record": output::path(recorded.receipt.path()),
        "verified": verified,
    }))
}

/// Returns 0 for `ok` with a verified record, 1 for any other end of the run, 2 for `refused`, and
/// 3 if nothing ran or the outcome is unknown.
pub(super) fn exit_code(outcome: Outcome, verified: bool) -> ExitCode {
    ExitCode::from(match outcome {
        Outcome::Ok if verified => 0,
        Outcome::Refused => 2,
        Outcome::SetupError | Outcome::Indeterminate => 3,
        _ => 1,
    })
}
