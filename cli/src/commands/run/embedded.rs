//! Embedded runs: host, signals, progress and record.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use daemon::{
    BackendScope, Daemon, DaemonError, DaemonParts, HostTrustStore, Permissions, ProgressObserver,
    RecordLog, RecordedRequest, TrustFileOwners, TrustFiles, find_egress, find_launcher, open_keys,
};
use policies::Policy;
use records::log::LogLocation;
use records::{KeySource, Trust, VerifiedRecord};
use sandbox::client::{LauncherAddress, LauncherProgram};
use spool::{Spool, SpoolPaths};
use validator::{Draft, FileLocation, OwnerUid};

use crate::args::HostOptions;
use crate::args::policy::named_or_embedded;
use crate::clock;
use crate::commands::env::release_signals;
use crate::failure::Failure;
use crate::output::progress::{self, OutputFollower, ProgressLine, ProgressThread, ToolOutput};
use crate::output::{self, human};

/// Starts the progress display. It ends when the value is dropped.
pub(in crate::commands) fn start_progress(
    host: &Daemon,
    mut followed: Option<OutputFollower>,
) -> Result<ProgressThread, Failure> {
    let watching = host.observer();
    ProgressThread::begin(followed.is_some(), move |progress_line, moment| {
        if let Some(followed) = &mut followed {
            progress_line.lines(&followed.lines(moment));
        }
        draw(&watching, progress_line);
    })
}

/// Shows the tool's output as it comes, and the progress between its lines.
pub(in crate::commands) fn start_streaming(
    host: &Daemon,
    mut output: ToolOutput,
) -> Result<ProgressThread, Failure> {
    let watching = host.observer();
    ProgressThread::begin(true, move |progress_line, moment| {
        if output.write(moment, progress_line) {
            draw(&watching, progress_line);
        }
    })
}

fn draw(watching: &ProgressObserver, progress_line: &mut ProgressLine) {
    for running in watching.in_flight() {
        let figures = progress::running_figures(&running, clock::now());
        progress_line.state(running.step.as_str(), &figures);
    }
}

/// Verifies the record as any reader would. Faults are printed to stderr.
pub(in crate::commands) fn verify_record(host: &Daemon, record: &Path) -> Option<VerifiedRecord> {
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

/// Opens the host for embedded runs, and records every interrupted run first.
pub(in crate::commands) fn open_host(args: &HostOptions) -> Result<Daemon, Failure> {
    open_host_with(args, named_or_embedded(args.policy.as_deref())?, BackendScope::All)
}

/// Opens the host for a run of this request, with no other backend than that of the request. Also
/// returns the backends whose accelerators the run may try: an invalid request has none.
pub(in crate::commands) fn open_host_for(
    args: &HostOptions,
    request: &Path,
    bytes: &[u8],
) -> Result<(Daemon, BackendScope), Failure> {
    let policy = named_or_embedded(args.policy.as_deref())?;
    let (used, tried) = backends_of(request, bytes, &policy);
    Ok((open_host_with(args, policy, used)?, tried))
}

/// The run reads the file again. If it then names another backend, that one is unavailable.
fn backends_of(request: &Path, bytes: &[u8], policy: &Policy) -> (BackendScope, BackendScope) {
    let name = request.file_name().unwrap_or_default().to_string_lossy();
    let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
    let draft = Draft::new(bytes.to_vec(), &name, owner).ok();
    let checked = draft.map(|draft| draft.check(FileLocation::Elsewhere, clock::now()));
    match checked.map(|checked| checked.verdict) {
        Some(Ok(request)) => {
            (BackendScope::of(policy, &request), BackendScope::named(policy, &request))
        }
        // It is refused for another reason.
        Some(Err(_)) | None => (BackendScope::All, BackendScope::Nothing),
    }
}

/// Opens the host with a policy that was already read, and with these backends of it.
pub(in crate::commands) fn open_host_with(
    args: &HostOptions,
    policy: Policy,
    backends: BackendScope,
) -> Result<Daemon, Failure> {
    let state = args.state.path()?;
    let trust = HostTrustStore::open(
        TrustFiles {
            allowed_signers: args.allowed_signers.clone(),
            revoked: args.revoked.clone(),
            ais: args.ais_trust.clone(),
        },
        TrustFileOwners::Any,
    )?;
    let program = find_launcher()?;
    let results = args.results_of()?;
    let log = state.join("log");
    let places = SpoolPaths { spool: state.clone(), results, state: state.clone(), log };
    let spool = Spool::open_embedded(&places)?;
    let public_keys = state.join("keys");
    let keys = open_keys(&KeySource::Directory(public_keys.clone()), None)?;
    let (key, log) = (keys.result, RecordLog::shared(LogLocation::of_state(&state), keys.log));
    let staging = spool.staging();
    let launcher = LauncherAddress::Spawn(LauncherProgram::new(program, staging));
    let egress = find_egress();
    let permissions = Permissions::open(&policy, &state.join("permissions"), &state.join("drafts"))
        .map_err(DaemonError::from)?;
    let host = Daemon::new(DaemonParts {
        spool,
        policy,
        trust,
        key,
        public_keys,
        log,
        launcher,
        egress,
        permissions,
        backends,
    });
    host.start_launcher();
    for id in host.recover()?.recorded {
        output::note(format_args!("an earlier run was interrupted; its record is {id}"));
    }
    Ok(host)
}

/// Makes Ctrl-C cancel the run and record it. A second Ctrl-C ends the program.
pub(in crate::commands) fn watch_signals() -> Result<Arc<AtomicBool>, Failure> {
    release_signals();
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let registered =
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupted))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)));
        registered.map_err(|error| {
            Failure::Message(format!("signals: {error}; help: report this as a bug"))
        })?;
    }
    Ok(interrupted)
}

/// Makes the next signal end the program. A recorded run cannot be cancelled.
pub(in crate::commands) fn stop_catching_signals(interrupted: &AtomicBool) {
    interrupted.store(true, Ordering::Relaxed);
}

pub(in crate::commands) fn report_problems(
    request: &Path,
    bytes: &[u8],
    recorded: &RecordedRequest,
) {
    human::print_to_stderr(request, bytes, &recorded.violations);
    if let Some(reason) = &recorded.reason {
        output::note(format_args!("{}: {}", request.display(), model::escape_line(reason)));
    }
    if !recorded.degraded.is_empty() {
        output::note(format_args!(
            "ran without {}, an exception of the policy: cgroups are not writable here, so rlimits \
             and sampling enforced the limits",
            recorded.degraded.join(", ")
        ));
    }
}
