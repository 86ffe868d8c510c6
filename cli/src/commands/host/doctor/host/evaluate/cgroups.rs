//! Control groups: available controllers, and whether sandboxes may have their own groups.

use crate::commands::host::doctor::host::finding::{DoctorFinding, FindingVerdict, Topic};
use crate::commands::host::doctor::host::model::{Cgroups, HostReadings};

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let mut findings = vec![groups(host)];
    if let Some(delegated) = &host.delegated {
        findings.push(match delegated {
            Ok(true) => {
                DoctorFinding::ok(Topic::Cgroups, "delegation", "the launcher's unit has Delegate=")
            }
            Ok(false) => DoctorFinding::warning(
                Topic::Cgroups,
                "delegation",
                "the launcher's unit does not have Delegate=, or systemd does not know it",
                "install systemd/toolexec-launch.service, then run `systemctl daemon-reload`",
            ),
            Err(why) => {
                let remedy = "run `systemctl show -p Delegate toolexec-launch.service`";
                DoctorFinding::not_checked(Topic::Cgroups, "delegation", why, remedy)
            }
        });
    }
    findings
}

fn groups(host: &HostReadings) -> DoctorFinding {
    let cgroups = match &host.cgroups {
        Ok(cgroups) => cgroups,
        Err(why) => {
            let remedy = "run `mount -t proc proc /proc`";
            return DoctorFinding::not_checked(Topic::Cgroups, "control groups", why, remedy);
        }
    };
    let (version, missing, writable) = match cgroups {
        Cgroups::None => {
            let remedy = "run `mount -t cgroup2 none /sys/fs/cgroup`";
            return not_available(host, "not mounted".to_owned(), remedy);
        }
        Cgroups::V1 { missing, writable, bare_v2: false } => ("cgroup v1", missing, writable),
        Cgroups::V1 { missing, writable, bare_v2: true } => ("cgroup v1 and v2", missing, writable),
        Cgroups::V2 { missing, writable } => ("cgroup v2", missing, writable),
    };
    if !missing.is_empty() {
        let found = format!("{version} without {}", missing.join(", "));
        let remedy = "remove cgroup_disable= from the kernel command line; in a container, have \
                      the controllers passed in";
        return not_available(host, found, remedy);
    }
    // A service's launcher has its own unit, which is a separate finding.
    if !writable && !host.subject.is_service() {
        let found = format!("{version}; sandboxes cannot have groups of their own here");
        let remedy = "run as root, or submit requests to a daemon with `toolexec submit`";
        return not_available(host, found, remedy);
    }
    DoctorFinding::ok(Topic::Cgroups, "control groups", format!("{version} with memory, cpu, pids"))
}

/// The policy decides whether rlimits and sampling may replace control groups.
fn not_available(host: &HostReadings, found: String, remedy: &str) -> DoctorFinding {
    let demands = host.rules.demands;
    let (verdict, cost) = match demands.map(|demands| demands.cgroup_exception) {
        Some(false) => {
            (FindingVerdict::Failure, "the policy makes no exception: every run is refused")
        }
        Some(true) => (
            FindingVerdict::Warning,
            "the policy makes an exception: rlimits and sampling enforce the limits",
        ),
        None => (FindingVerdict::Warning, "whether the policy makes an exception is not known"),
    };
    let found = format!("{found}; {cost}");
    DoctorFinding::problem(verdict, Topic::Cgroups, "control groups", found, remedy)
}
