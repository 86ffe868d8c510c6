//! The commands in remedies, complete enough to be pasted. A command for a service must never act
//! on the caller's embedded state: it names the daemon's files and runs as the daemon's user.

use std::path::Path;

use crate::commands::host::doctor::host::model::{
    DoctorSubject, ExpectedDirectory, FileState, HostReadings,
};

/// The cache directory in the policy of the systemd units.
const CACHES: &str = "/var/cache/toolexec";

pub(super) fn rotate(host: &HostReadings, key: &str) -> String {
    match &host.subject {
        DoctorSubject::Embedded { state } => {
            format!("toolexec keys rotate --key {key} --state {}", state.display())
        }
        DoctorSubject::Service { config, .. } => {
            let (user, config) = (daemon_user(host), config.display());
            format!(
                "systemctl stop toolexecd && sudo -u {user} toolexec keys rotate --config {config} --key \
                 {key}; systemctl start toolexecd"
            )
        }
    }
}

pub(super) fn gc(host: &HostReadings) -> String {
    match &host.subject {
        // Without limits `gc` deletes nothing.
        DoctorSubject::Embedded { state } => {
            let state = state.display();
            format!("delete old results with `toolexec gc --state {state} --keep-results days=365`")
        }
        // While the daemon runs, only the daemon applies the retention of its configuration.
        DoctorSubject::Service { config, spool, state } => {
            let user = daemon_user(host);
            let (Some(spool), Some(state)) = (spool, state) else {
                let config = config.display();
                return format!(
                    "delete what is expired with `sudo -u {user} toolexec gc --config {config}`"
                );
            };
            format!(
                "list what can be deleted with `sudo -u {user} toolexec gc --dry-run --state {} \
                 --spool {} --keep-archive days=90 --keep-quarantine days=30`, then see \
                 docs/operators.md, *Disk full*",
                state.display(),
                spool.display()
            )
        }
    }
}

pub(super) fn fsck(host: &HostReadings, log: &Path, key: &Path) -> String {
    let spool = match &host.subject {
        DoctorSubject::Embedded { state } => {
            return format!("toolexec log fsck --state {}", state.display());
        }
        DoctorSubject::Service { spool, .. } => spool.as_deref(),
    };
    let place = match spool.filter(|spool| spool.join("log") == log) {
        Some(spool) => format!("--spool {}", spool.display()),
        None => format!("--log {}", log.display()),
    };
    let (user, key) = (daemon_user(host), key.display());
    format!("sudo -u {user} toolexec log fsck {place} --log-key {key}")
}

pub(super) fn build_cache(host: &HostReadings, language: &str) -> String {
    match &host.subject {
        DoctorSubject::Embedded { state } => {
            format!("toolexec doctor --build-cache {language} --state {}", state.display())
        }
        DoctorSubject::Service { .. } => format!(
            "toolexec doctor --build-cache {language} --cache-dir {CACHES} && systemctl restart toolexecd"
        ),
    }
}

/// Returns the start command for a clock that was set back on purpose. Only a daemon needs it.
pub(super) fn start_after_clock_change(host: &HostReadings) -> Option<String> {
    let DoctorSubject::Service { config, .. } = &host.subject else { return None };
    let (user, config) = (daemon_user(host), config.display());
    Some(format!("sudo -u {user} toolexecd --config {config} --clock-was-set-back"))
}

/// Returns the owner of the state directory: by number, unless it is the packaged user.
fn daemon_user(host: &HostReadings) -> String {
    let of_state =
        |place: &&ExpectedDirectory| Some(place.entry.path.as_path()) == host.subject.state();
    match host.directories.iter().find(of_state) {
        Some(ExpectedDirectory { entry, user, .. }) => match &entry.state {
            FileState::Present { uid, .. } if user.id != Some(*uid) => format!("'#{uid}'"),
            _ => user.name.clone(),
        },
        None => "toolexec".to_owned(),
    }
}
