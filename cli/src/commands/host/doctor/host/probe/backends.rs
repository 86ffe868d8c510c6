//! Tries each backend of the policy in a sandbox, as the daemon would run a request. Only the
//! daemon's user may do so with the daemon's launcher.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use daemon::config::Config;
use daemon::{BackendProbe, probe_backends};
use policies::Policy;
use sandbox::client::LauncherAddress;

use super::model::ProbeContext;
use super::own_launcher::{usable_launcher, with_own_launcher};
use crate::commands::host::doctor::host::model::{
    BackendReading, DoctorSubject, DoctorUser, ProgramReading, SandboxProbe,
};

pub(super) fn probe(
    host: &ProbeContext,
    looker: DoctorUser,
    programs: &[ProgramReading],
) -> Vec<BackendReading> {
    let Some(policy) = host.policy.as_ref().filter(|it| it.backends().next().is_some()) else {
        return Vec::new();
    };
    let launcher = usable_launcher(programs);
    match &host.subject {
        DoctorSubject::Embedded { state } => with_own(launcher, policy, state),
        DoctorSubject::Service { config, .. } => match Config::read(config) {
            Ok(read) => with_service(read, config, looker, launcher),
            Err(_) => {
                not_tried(policy, "invalid configuration", "fix the findings of `rules` first")
            }
        },
    }
}

fn with_service(
    read: Config,
    config: &Path,
    looker: DoctorUser,
    launcher: Option<PathBuf>,
) -> Vec<BackendReading> {
    let (policy, state) = (&read.policy, &read.state);
    if !fs::metadata(&read.state).is_ok_and(|found| found.uid() == looker.uid) {
        let remedy =
            format!("run `toolexec doctor --config {}` as the daemon's user", config.display());
        return not_tried(policy, "only the daemon's user may ask the launcher", &remedy);
    }
    match read.launcher {
        reach @ LauncherAddress::Socket(_) => {
            readings(probe_backends(reach, &state.join("staging"), policy, state))
        }
        LauncherAddress::Spawn(_) => with_own(launcher, policy, state),
    }
}

fn with_own(launcher: Option<PathBuf>, policy: &Policy, state: &Path) -> Vec<BackendReading> {
    let Some(launcher) = launcher else {
        let remedy = "fix the findings of `programs` first";
        return not_tried(policy, "toolexec-launch cannot be used", remedy);
    };
    let probed =
        with_own_launcher(launcher, |reach, staging| probe_backends(reach, staging, policy, state));
    probed.map_or_else(|(why, remedy)| not_tried(policy, &why, &remedy), readings)
}

fn readings(probes: Vec<BackendProbe>) -> Vec<BackendReading> {
    let probes = probes.into_iter();
    let reading = |BackendProbe { name, found }| match found {
        Ok(found) => BackendReading { name, probe: SandboxProbe::Starts(found) },
        Err(what) => {
            let help = "check its entry in the policy and its files (docs/backends.md, \
                        docs/microvm.md)"
                .to_owned();
            BackendReading { name, probe: SandboxProbe::Fails { what, help } }
        }
    };
    probes.map(reading).collect()
}

fn not_tried(policy: &Policy, why: &str, remedy: &str) -> Vec<BackendReading> {
    let reading = |rule: &policies::BackendRule| BackendReading {
        name: rule.name().to_owned(),
        probe: SandboxProbe::NotTried { why: why.to_owned(), remedy: remedy.to_owned() },
    };
    policy.backends().map(reading).collect()
}
