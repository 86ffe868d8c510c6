//! The kernel: version, security modules, Landlock and seccomp.

use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::{HostReadings, Kernel};

/// The minimum in README.md, which is the oldest tested version.
const RELEASE_MIN: (u32, u32) = (6, 1);
/// Architectures that the seccomp filters support.
const MACHINES: [&str; 2] = ["x86_64", "aarch64"];
/// The seccomp actions that the sandbox's filters use.
const ACTIONS: [&str; 4] = ["kill_process", "errno", "user_notif", "allow"];

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let kernel = &host.kernel;
    vec![release(kernel), machine(kernel), lsm(kernel), landlock(host), seccomp(kernel)]
}

fn release(kernel: &Kernel) -> DoctorFinding {
    let found = format!("Linux {}", kernel.release);
    let mut numbers = kernel.release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let version = numbers.next().zip(numbers.next());
    match version {
        Some((Ok(major), Ok(minor))) if (major, minor) >= RELEASE_MIN => {
            DoctorFinding::ok(Topic::Kernel, "version", found)
        }
        _ => DoctorFinding::warning(
            Topic::Kernel,
            "version",
            format!("{found}: not known as 6.1 or later, the oldest tested version"),
            "boot Linux 6.1 or later; on Debian, run `apt-get install linux-image-amd64`",
        ),
    }
}

fn machine(kernel: &Kernel) -> DoctorFinding {
    let machine = kernel.machine.clone();
    if MACHINES.contains(&machine.as_str()) {
        return DoctorFinding::ok(Topic::Kernel, "architecture", machine);
    }
    let found = format!("{machine}: no seccomp filters exist for it");
    let remedy = "use a host with an x86_64 or aarch64 kernel";
    DoctorFinding::failure(Topic::Kernel, "architecture", found, remedy)
}

fn lsm(kernel: &Kernel) -> DoctorFinding {
    let list = match &kernel.lsm {
        Ok(list) => list,
        Err(why) => {
            let remedy = "run `mount -t securityfs securityfs /sys/kernel/security`";
            return DoctorFinding::not_checked(Topic::Kernel, "security modules", why, remedy);
        }
    };
    if list.split(',').any(|name| name == "landlock") {
        return DoctorFinding::ok(Topic::Kernel, "security modules", list);
    }
    DoctorFinding::failure(
        Topic::Kernel,
        "security modules",
        format!("{list}: landlock is missing"),
        format!("boot with `lsm=landlock,{list}` on the kernel command line"),
    )
}

fn landlock(host: &HostReadings) -> DoctorFinding {
    let needed = host.rules.demands.map_or(1, |demands| demands.landlock_abi_min);
    match &host.kernel.landlock_abi {
        Err(why) => DoctorFinding::failure(
            Topic::Kernel,
            "landlock",
            format!("not available ({why}); every run is refused"),
            "boot a kernel with CONFIG_SECURITY_LANDLOCK and landlock in its lsm= list",
        ),
        Ok(abi) if *abi < needed => DoctorFinding::failure(
            Topic::Kernel,
            "landlock",
            format!("ABI {abi}; the policy requires {needed}, so every run is refused"),
            "boot a newer kernel, or lower layers.landlock_abi_min in the policy",
        ),
        Ok(abi) => DoctorFinding::ok(
            Topic::Kernel,
            "landlock",
            format!("ABI {abi}; the policy requires {needed}"),
        ),
    }
}

fn seccomp(kernel: &Kernel) -> DoctorFinding {
    let there = match &kernel.seccomp_actions {
        Ok(there) => there,
        Err(why) => {
            let found = format!("seccomp filters are not available ({why})");
            let remedy = "boot a kernel with CONFIG_SECCOMP_FILTER";
            return DoctorFinding::failure(Topic::Kernel, "seccomp", found, remedy);
        }
    };
    let has = |action: &&str| there.split(' ').any(|it| it == *action);
    let missing: Vec<&str> = ACTIONS.into_iter().filter(|action| !has(action)).collect();
    if missing.is_empty() {
        return DoctorFinding::ok(Topic::Kernel, "seccomp", there);
    }
    let found = format!("missing actions: {}", missing.join(", "));
    DoctorFinding::failure(Topic::Kernel, "seccomp", found, "boot Linux 6.1 or later")
}
