//! `toolexec run`: the embedded one-shot. The same code path as the daemon's, with the person who
//! typed the command as the approver.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use daemon::{Host, HostParts, Told, config, find_launcher};
use policies::Policy;
use records::{ResultKey, Trust, Verified};
use sandbox::client::Launcher;
use sandbox::outcome::Outcome;
use spool::{Places, Spool};

use crate::failure::Failure;
use crate::options::{Format, Run};
use crate::show;

pub(crate) fn run(asked: &Run) -> Result<ExitCode, Failure> {
    let mut host = open_host(asked)?;
    for id in host.recover()? {
        eprintln!("toolexec: an earlier run was interrupted; its record is {id}");
    }
    let interrupted = watch_signals()?;
    let told = host.run_file(
        &asked.request,
        asked.inputs.as_deref(),
        rustix::process::geteuid().as_raw(),
        &mut || interrupted.load(Ordering::Relaxed),
    )?;
    let trust = Trust::from_key(&host.key().public());
    let verified = records::verify(told.receipt.path(), &trust);
    if let Err(faults) = &verified {
        for fault in faults {
            eprintln!("toolexec: {fault}");
        }
    }
    let verified = verified.ok();
    report_trouble(&asked.request, &told);
    match asked.format {
        Format::Human => print_human(&told, verified.as_ref()),
        Format::Json => print_json(&told, verified.is_some()),
    }
    Ok(exit_code(told.outcome))
}

fn open_host(asked: &Run) -> Result<Host, Failure> {
    let state = asked.state.path()?;
    let policy = match &asked.policy {
        Some(file) => config::read_policy(file)?,
        None => Policy::shipped("embedded")
            .ok_or_else(|| Failure::Said("the policy `embedded` is not in this program".into()))?,
    };
    let signers = asked.allowed_signers.as_deref().map(config::read_signers).transpose()?;
    let program = find_launcher()?;
    let results = asked.results.clone().unwrap_or_else(|| state.join("results"));
    let places = Places { spool: state.clone(), results, state: state.clone() };
    let spool = Spool::open_embedded(&places)?;
    let key = ResultKey::open_or_create(&state.join("keys"))?;
    let staging = spool.staging();
    let launcher = Launcher::Spawn { program, staging, mounts_allowed: Vec::new() };
    Ok(Host::new(HostParts { spool, policy, signers, key, launcher }))
}

/// Ctrl-C cancels the run, which then has a record that says so; a second one ends this program.
fn watch_signals() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let registered =
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupted))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)));
        registered.map_err(|error| Failure::Said(format!("wait for signals: {error}")))?;
    }
    Ok(interrupted)
}

/// What is wrong goes to stderr in both formats.
fn report_trouble(request: &Path, told: &Told) {
    for violation in &told.violations {
        eprintln!("{}", show::violation(request, violation));
    }
    if let Some(reason) = &told.reason {
        eprintln!("toolexec: {}: {}", request.display(), validator::escape_line(reason));
    }
    if !told.degraded.is_empty() {
        eprintln!(
            "toolexec: ran without {}, a named exception of the policy: no cgroup can be written \
             here, so limits were kept by rlimits and by sampling",
            told.degraded.join(", ")
        );
    }
}

fn print_human(told: &Told, verified: Option<&Verified>) {
    println!("outcome    {}", told.outcome);
    println!("exit code  {}", told.exit_code);
    println!("record     {}", told.receipt.path().display());
    match verified {
        Some(verified) => println!(
            "verified   {} files re-hashed, signed by {} {}",
            verified.files_rehashed(),
            verified.signer_principal(),
            verified.signer_fingerprint()
        ),
        None => println!("verified   no"),
    }
}

fn print_json(told: &Told, verified: bool) {
    let object = serde_json::json!({
        "result_id": told.receipt.result_id().as_str(),
        "outcome": told.outcome.word(),
        "exit_code": told.exit_code,
        "record": told.receipt.path(),
        "verified": verified,
    });
    println!("{object}");
}

/// 0 for `ok`; 1 for a run that ended otherwise; 2 for `refused`; 3 where nothing ran or nobody knows.
fn exit_code(outcome: Outcome) -> ExitCode {
    ExitCode::from(match outcome {
        Outcome::Ok => 0,
        Outcome::Refused => 2,
        Outcome::SetupError | Outcome::Indeterminate => 3,
        _ => 1,
    })
}
