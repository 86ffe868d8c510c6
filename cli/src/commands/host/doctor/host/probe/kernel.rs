//! The kernel's version, settings and capabilities.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apparmor;
use super::run_with_limit::run_with_limit;
use crate::commands::host::doctor::host::model::{
    Kernel, Namespaces, PACKAGED_LAUNCHER, ReadResult,
};

pub(super) fn probe() -> Kernel {
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
        max: sysctl("user/max_user_namespaces"),
        unprivileged_clone: sysctl("kernel/unprivileged_userns_clone"),
        apparmor_restricts: sysctl("kernel/apparmor_restrict_unprivileged_userns"),
        apparmor_profile: apparmor::grants_userns(Path::new("/etc/apparmor.d"), &launcher()),
        tried: try_user_namespace(),
    }
}

/// Returns the launcher's real path, which AppArmor uses.
fn launcher() -> PathBuf {
    let found = daemon::find_program("toolexec-launch").ok();
    found.and_then(|it| fs::canonicalize(it).ok()).unwrap_or_else(|| PACKAGED_LAUNCHER.into())
}

/// Tries to create a user namespace with util-linux. This process must not change its own.
fn try_user_namespace() -> Option<ReadResult<()>> {
    let unshare =
        ["/usr/bin/unshare", "/bin/unshare"].into_iter().find(|it| Path::new(it).exists())?;
    let mut command = Command::new(unshare);
    match run_with_limit(command.args(["--user", "--map-root-user", "true"])) {
        Ok(output) if output.status.success() => Some(Ok(())),
        Ok(output) => Some(Err(output.stderr.trim().to_owned())),
        Err(error) => Some(Err(error)),
    }
}

fn sysctl(name: &str) -> Option<u64> {
    line(&format!("/proc/sys/{name}")).ok()?.parse().ok()
}

fn line(path: &str) -> ReadResult<String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(text.trim_end().to_owned())
}
