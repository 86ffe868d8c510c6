//! The kernel's version, settings and capabilities.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::answer::answer;
use super::apparmor;
use crate::commands::host::doctor::host::model::{
    Kernel, Namespaces, PACKAGED_LAUNCHER, ReadResult,
};

pub(super) fn look() -> Kernel {
    let name = rustix::system::uname();
    Kernel {
        release: name.release().to_string_lossy().into_owned(),
        machine: name.machine().to_string_lossy().into_owned(),
        lsm: line("/sys/kernel/security/lsm"),
        landlock_abi: sandbox::host::landlock_abi().map_err(|error| error.to_string()),
        seccomp_actions: line("/proc/sys/kernel/seccomp/actions_avail"),
        namespaces: namespaces(),
    }
}

fn namespaces() -> Namespaces {
    Namespaces {
        max: switch("user/max_user_namespaces"),
        unprivileged_clone: switch("kernel/unprivileged_userns_clone"),
        apparmor_restricts: switch("kernel/apparmor_restrict_unprivileged_userns"),
        apparmor_profile: apparmor::lets(Path::new("/etc/apparmor.d"), &launcher()),
        tried: try_one(),
    }
}

/// Returns the launcher's real path, which AppArmor uses.
fn launcher() -> PathBuf {
    let found = daemon::find_program("toolexec-launch").ok();
    found.and_then(|it| fs::canonicalize(it).ok()).unwrap_or_else(|| PACKAGED_LAUNCHER.into())
}

/// Tries to create a user namespace with util-linux. This process must not change its own.
fn try_one() -> Option<ReadResult<()>> {
    let unshare =
        ["/usr/bin/unshare", "/bin/unshare"].into_iter().find(|it| Path::new(it).exists())?;
    let mut command = Command::new(unshare);
    match answer(command.args(["--user", "--map-root-user", "true"])) {
        Ok(said) if said.status.success() => Some(Ok(())),
        Ok(said) => Some(Err(said.stderr.trim().to_owned())),
        Err(error) => Some(Err(error)),
    }
}

fn switch(name: &str) -> Option<u64> {
    line(&format!("/proc/sys/{name}")).ok()?.parse().ok()
}

fn line(path: &str) -> ReadResult<String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(text.trim_end().to_owned())
}
