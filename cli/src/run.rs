//! `toolexec run`: the embedded one-shot. The same code path as the daemon's, with the person who
//! typed the command as the approver.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use daemon::{
    Halt, Host, HostParts, Owners, Permissions, RecordLog, Told, TrustFiles, TrustStore,
    find_egress, find_launcher, open_keys,
};

use model::Outcome;
use records::log::LogPlace;
use records::{KeySource, Trust, Verified};
use sandbox::client::Reach;
use spool::{Places, Spool, SpoolError};
use validator::REQUEST_BYTES_MAX;

use crate::args::files::{named_directory, read_document};
use crate::args::policy::named_or_embedded;
use crate::args::{Format, HostOptions};
use crate::clock;
use crate::failure::Failure;
use crate::options::Run;
use crate::output;
use crate::output::human;
use crate::output::live::{self, Followed, Live};

pub(crate) fn run(asked: &Run) -> Result<ExitCode, Failure> {
    // What was typed wrongly is told before a state is made or anything is claimed. Its lines are
    // shown below violations only; what is run is read, and hashed, once and elsewhere.
    let request = match read_document(&asked.request, REQUEST_BYTES_MAX) {
        Err(Failure::TooLarge(..)) => Vec::new(),
        request => request?,
    };
    let inputs = asked.inputs.as_deref().map(|dir| named_directory("--inputs", dir)).transpose()?;
    let host = open_host(&asked.host)?;
    let interrupted = watch_signals()?;
    let results = asked.host.results_of()?;
    let followed = asked.follow.then(|| Followed::new(&results, &id_of(&asked.request)));
    let live = live_of(&host, followed)?;
    let told = host.run_file(
        &asked.request,
        inputs.as_deref(),
        rustix::process::geteuid().as_raw(),
        &mut || interrupted.load(Ordering::Relaxed),
    );
    drop(live);
    nothing_left_to_cancel(&interrupted);
    let told = match told {
        Ok(told) => told,
        Err(Halt::Spool(SpoolError::TooLarge { path, bytes_max })) if path == asked.request => {
            human::aside(&asked.request, b"", &[human::too_large(bytes_max)]);
            return Ok(ExitCode::from(2));
        }
        Err(halt) => return Err(halt.into()),
    };
    report_trouble(&asked.request, &request, &told);
    let verified = verified(&host, told.receipt.path());
    match asked.format {
        Format::Human => print_human(&told, verified.as_ref())?,
        Format::Json => print_json(&told, verified.is_some())?,
    }
    Ok(exit_code(told.outcome, verified.is_some()))
}

/// Shows how the run goes on, for as long as this lives.
pub(crate) fn live_of(host: &Host, mut followed: Option<Followed>) -> Result<Live, Failure> {
    let watching = host.watching();
    Live::begin(followed.is_some(), move |pen, moment| {
        if let Some(followed) = &mut followed {
            pen.lines(&followed.lines(moment));
        }
        for running in watching.in_flight() {
            pen.state(running.step.as_str(), &live::of_running(&running, clock::now()));
        }
    })
}

/// The id that a request's file has by its name.
fn id_of(request: &Path) -> String {
    request.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Looks at the record as any reader would; what is wrong with it goes to stderr.
pub(crate) fn verified(host: &Host, record: &Path) -> Option<Verified> {
    let logs = vec![host.log().key().clone()];
    let trust = Trust::from_key(&host.key().public()).with_logs(logs);
    match records::verify(record, &trust) {
        Ok(verified) => Some(verified),
        Err(faults) => {
            output::note(format_args!("{}: the record does not verify", record.display()));
            for fault in faults {
                output::note(fault);
            }
            None
        }
    }
}

/// The host of embedded runs, with every story of an earlier run told to its end.
pub(crate) fn open_host(asked: &HostOptions) -> Result<Host, Failure> {
    let state = asked.state.path()?;
    let policy = named_or_embedded(asked.policy.as_deref())?;
    let trust = TrustStore::open(
        TrustFiles {
            allowed_signers: asked.allowed_signers.clone(),
            revoked: asked.revoked.clone(),
            ais: asked.ais_trust.clone(),
        },
        Owners::Anybodys,
    )?;
    let program = find_launcher()?;
    let results = asked.results_of()?;
    let log = state.join("log");
    let places = Places { spool: state.clone(), results, state: state.clone(), log };
    let spool = Spool::open_embedded(&places)?;
    let public_keys = state.join("keys");
    let keys = open_keys(&KeySource::Directory(public_keys.clone()), None)?;
    let (key, log) = (keys.result, RecordLog::shared(LogPlace::of_state(&state), keys.log));
    let staging = spool.staging();
    let (mounts_allowed, seats_max) = (Vec::new(), 1);
    let launcher = Reach::Spawn { program, staging, mounts_allowed, seats_max };
    let caches = state.join("caches");
    let egress = find_egress();
    let permissions = Permissions::open(&policy, &state.join("permissions"), &state.join("drafts"))
        .map_err(Halt::from)?;
    let host = Host::new(HostParts {
        spool,
        policy,
        trust,
        key,
        public_keys,
        log,
        launcher,
        egress,
        permissions,
        caches,
    });
    for id in host.recover()?.told {
        output::note(format_args!("an earlier run was interrupted; its record is {id}"));
    }
    Ok(host)
}

/// Ctrl-C cancels the run, which then has a record that says so; a second one ends this program.
pub(crate) fn watch_signals() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let registered =
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupted))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)));
        registered.map_err(|error| Failure::Said(format!("wait for signals: {error}")))?;
    }
    Ok(interrupted)
}

/// From here on the first signal ends this program: a run that is told cannot be cancelled.
pub(crate) fn nothing_left_to_cancel(interrupted: &AtomicBool) {
    interrupted.store(true, Ordering::Relaxed);
}

/// What is wrong goes to stderr in both formats.
pub(crate) fn report_trouble(request: &Path, bytes: &[u8], told: &Told) {
    human::aside(request, bytes, &told.violations);
    if let Some(reason) = &told.reason {
        output::note(format_args!("{}: {}", request.display(), model::escape_line(reason)));
    }
    if !told.degraded.is_empty() {
        output::note(format_args!(
            "ran without {}, a named exception of the policy: no cgroup can be written here, so \
             limits were kept by rlimits and by sampling",
            told.degraded.join(", ")
        ));
    }
}

fn print_human(told: &Told, verified: Option<&Verified>) -> Result<(), Failure> {
    output::line(format_args!("outcome    {}", told.outcome))?;
    output::line(format_args!("exit code  {}", told.exit_code))?;
    output::line(format_args!("record     {}", told.receipt.path().display()))?;
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

fn print_json(told: &Told, verified: bool) -> Result<(), Failure> {
    output::line(serde_json::json!({
        "result_id": told.receipt.result_id().as_str(),
        "outcome": told.outcome.as_str(),
        "exit_code": told.exit_code,
        "record": output::path(told.receipt.path()),
        "verified": verified,
    }))
}

/// 0 for `ok` with a record that verified; 1 for a run that ended otherwise; 2 for `refused`; 3 where
/// nothing ran or nobody knows.
fn exit_code(outcome: Outcome, verified: bool) -> ExitCode {
    ExitCode::from(match outcome {
        Outcome::Ok if verified => 0,
        Outcome::Refused => 2,
        Outcome::SetupError | Outcome::Indeterminate => 3,
        _ => 1,
    })
}
