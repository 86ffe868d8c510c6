//! Starts a test sandbox through the launcher, as the daemon would, and ends it unused. It runs
//! only programs that no other user could have replaced.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use daemon::config::Config;
use daemon::{ProbeResult, probe};
use policies::Policy;
use records::split_reason;
use sandbox::client::LauncherAddress;
use sandbox::report::Confinement;
use serde_json::Value;

use super::model::ProbeContext;
use super::own_launcher::{usable_launcher, with_own_launcher};
use crate::commands::host::doctor::host::finding::Topic;
use crate::commands::host::doctor::host::model::{
    DoctorSubject, DoctorUser, ProgramReading, SandboxProbe,
};

pub(super) fn start_test_sandbox(
    host: &ProbeContext,
    looker: DoctorUser,
    programs: &[ProgramReading],
) -> SandboxProbe {
    let launcher = usable_launcher(programs);
    match &host.subject {
        DoctorSubject::Embedded { state } => match (launcher, &host.policy) {
            (Some(launcher), Some(policy)) => probe_launcher(launcher, policy, state),
            _ => unusable_launcher(),
        },
        DoctorSubject::Service { config, state, .. } => {
            probe_service(config, state.as_deref(), looker, launcher)
        }
    }
}

fn unusable_launcher() -> SandboxProbe {
    not_tried("toolexec-launch cannot be used", "fix the findings of `programs` first")
}

fn not_tried(why: impl Into<String>, remedy: impl Into<String>) -> SandboxProbe {
    SandboxProbe::NotTried { why: why.into(), remedy: remedy.into() }
}

fn probe_launcher(program: PathBuf, policy: &Policy, state: &Path) -> SandboxProbe {
    let probed = with_own_launcher(program, |reach, staging| probe(reach, staging, policy, state));
    probed.map_or_else(|(why, remedy)| not_tried(why, remedy), probe_result)
}

/// Probes a service. Only the daemon's user may connect to its launcher.
fn probe_service(
    config: &Path,
    state: Option<&Path>,
    looker: DoctorUser,
    launcher: Option<PathBuf>,
) -> SandboxProbe {
    let read = match Config::read(config) {
        Ok(read) => read,
        Err(_) => return not_tried("invalid configuration", "fix the findings of `rules` first"),
    };
    let owner = match state.map(fs::metadata) {
        Some(Ok(found)) => (found.uid(), found.gid()),
        Some(Err(error)) => {
            let why = format!("the daemon's user is not known: {}: {error}", read.state.display());
            return not_tried(why, "start the service once, or run this as root");
        }
        None => return not_tried("the configuration names no state", "add `state` to it"),
    };
    match (looker.uid == owner.0, read.launcher, launcher) {
        (false, ..) if looker.is_root() => probe_as_user(owner, config),
        (false, ..) => {
            let why = "only root and the daemon's user may ask the launcher";
            not_tried(why, format!("run `sudo toolexec doctor --config {}`", config.display()))
        }
        (true, reach @ LauncherAddress::Socket(_), _) => {
            let staging = read.state.join("staging");
            probe_result(probe(reach, &staging, &read.policy, &read.state))
        }
        (true, LauncherAddress::Spawn(_), Some(launcher)) => {
            probe_launcher(launcher, &read.policy, &read.state)
        }
        (true, LauncherAddress::Spawn(_), None) => unusable_launcher(),
    }
}

/// Runs this program again as the daemon's user, and adopts its finding about the sandbox.
fn probe_as_user((uid, gid): (u32, u32), config: &Path) -> SandboxProbe {
    let remedy =
        || format!("run `toolexec doctor --config {}` as the daemon's user", config.display());
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return not_tried(error.to_string(), remedy()),
    };
    let mut command = Command::new(program);
    command.args(["doctor", "--format", "json", "--config"]).arg(config);
    command.env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
    command.stdin(Stdio::null()).stderr(Stdio::null()).uid(uid).gid(gid);
    let stdout = match command.output() {
        Ok(output) => output.stdout,
        Err(error) => return not_tried(format!("as user {uid}: {error}"), remedy()),
    };
    let found: Value = serde_json::from_slice(&stdout).unwrap_or_default();
    let mut findings = found["findings"].as_array().into_iter().flatten();
    let finding = findings.find(|finding| finding["topic"] == Topic::Sandbox.as_str());
    let word = |key: &str| finding.and_then(|it| it[key].as_str()).map(str::to_owned);
    match (word("verdict").as_deref(), word("found"), word("remedy")) {
        (Some("ok"), Some(found), None) => SandboxProbe::Starts(found),
        (Some("failure"), Some(what), Some(help)) => SandboxProbe::Fails { what, help },
        (Some(_), Some(why), Some(remedy)) => SandboxProbe::NotTried { why, remedy },
        _ => not_tried(format!("the check as user {uid} failed"), remedy()),
    }
}

fn probe_result(probed: ProbeResult) -> SandboxProbe {
    match probed {
        ProbeResult::Fit(confinement) => SandboxProbe::Starts(active_layers(&confinement)),
        ProbeResult::Unfit(fault) => {
            let reason = fault.reason();
            let (what, help) = split_reason(&reason);
            SandboxProbe::Fails { what: what.to_owned(), help: help.unwrap_or_default().to_owned() }
        }
        ProbeResult::NotTried(why) => not_tried(why, "fix the other findings first"),
    }
}

fn active_layers(confinement: &Confinement) -> String {
    let without = match confinement.degraded.is_empty() {
        true => String::new(),
        false => format!(", without {}, which the policy allows", confinement.degraded.join(", ")),
    };
    format!(
        "starts: {} mode, {} namespaces, Landlock ABI {}, {} seccomp programs, {} active limits{without}",
        confinement.mode.as_str(),
        confinement.namespaces.len(),
        confinement.landlock_abi,
        confinement.seccomp_sha256.len(),
        confinement.limits.len()
    )
}
