//! The kernel's own word: its version, its switches, and what it answers when it is asked.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::doctor::host::readings::{Kernel, Namespaces, Seen};

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
    let profiles = fs::read_dir("/etc/apparmor.d").into_iter().flatten().flatten();
    Namespaces {
        max: switch("user/max_user_namespaces"),
        unprivileged_clone: switch("kernel/unprivileged_userns_clone"),
        apparmor_restricts: switch("kernel/apparmor_restrict_unprivileged_userns"),
        apparmor_profile: profiles
            .map(|entry| entry.file_name())
            .any(|name| name.to_string_lossy().contains("toolexec-launch")),
        tried: try_one(),
    }
}

/// By util-linux, which makes one and ends: this process must not change its own.
fn try_one() -> Option<Seen<()>> {
    let unshare =
        ["/usr/bin/unshare", "/bin/unshare"].into_iter().find(|it| Path::new(it).exists())?;
    let mut command = Command::new(unshare);
    command.args(["--user", "--map-root-user", "true"]).stdin(Stdio::null());
    match command.output() {
        Ok(said) if said.status.success() => Some(Ok(())),
        Ok(said) => Some(Err(String::from_utf8_lossy(&said.stderr).trim().to_owned())),
        Err(error) => Some(Err(error.to_string())),
    }
}

fn switch(name: &str) -> Option<u64> {
    line(&format!("/proc/sys/{name}")).ok()?.parse().ok()
}

fn line(path: &str) -> Seen<String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(text.trim_end().to_owned())
}
