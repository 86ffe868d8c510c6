//! Control groups: available controllers, and whether sandboxes may have their own groups.

use crate::commands::host::doctor::host::finding::{Finding, FindingVerdict, Topic};
use crate::commands::host::doctor::host::model::{Cgroups, Readings};

pub(super) fn judge(host: &Readings) -> Vec<Finding> {
    let mut findings = vec![groups(host)];
    if let Some(delegated) = &host.delegated {
        findings.push(match delegated {
            Ok(true) => {
                Finding::ok(Topic::Cgroups, "delegation", "the launcher's unit has Delegate=")
            }
            Ok(false) => Finding::warning(
                Topic::Cgroups,
                "delegation",
                "the launcher's unit does not have Delegate=, or systemd does not know it",
                "install systemd/toolexec-launch.service, then run `systemctl daemon-reload`",
            ),
            Err(why) => {
                let remedy = "run `systemctl show -p Delegate toolexec-launch.service`";
                Finding::unseen(Topic::Cgroups, "delegation", why, remedy)
            }
        });
    }
    findings
}

fn groups(host: &Readings) -> Finding {
    let cgroups = match &host.cgroups {
        Ok(cgroups) => cgroups,
        Err(why) => {
            let remedy = "run `mount -t proc proc /proc`";
            return Finding::unseen(Topic::Cgroups, "control groups", why, remedy);
        }
    };
    let (version, missing, writable) = match cgroups {
        Cgroups::None => {
            let remedy = "run `mount -t cgroup2 none /sys/fs/cgroup`";
            return lacking(host, "not mounted".to_owned(), remedy);
        }
        Cgroups::V1 { missing, writable, bare_v2: false } => ("cgroup v1", missing, writable),
        Cgroups::V1 { missing, writable, bare_v2: true } => ("cgroup v1 and v2", missing, writable),
        Cgroups::V2 { missing, writable } => ("cgroup v2", missing, writable),
    };
    if !missing.is_empty() {
        let found = format!("{version} without {}", missing.join(", "));
        let remedy = "remove cgroup_disable= from the kernel command line; in a container, have \
                      the controllers passed in";
        return lacking(host, found, remedy);
    }
    // A service's launcher has its own unit, which is a separate finding.
    if !writable && !host.subject.is_service() {
        let found = format!("{version}; sandboxes cannot have groups of their own here");
        let remedy = "run as root, or submit requests to a daemon with `toolexec promote`";
        return lacking(host, found, remedy);
    }
    Finding::ok(Topic::Cgroups, "control groups", format!("{version} with memory, cpu, pids"))
}

/// Reports missing control groups. The policy decides whether rlimits and sampling may replace
/// them.
fn lacking(host: &Readings, found: String, remedy: &str) -> Finding {
    let demands = host.rules.demands;
    let (verdict, cost) = match demands.map(|demands| demands.cgroup_exception) {
        Some(false) => {
            (FindingVerdict::Failure, "the policy makes no exception: every run is refused")
        }
        Some(true) => {
            (FindingVerdict::Warning, "the policy makes an exception: rlimits and sampling do it")
        }
        None => (FindingVerdict::Warning, "whether the policy makes an exception is not known"),
    };
    let found = format!("{found}; {cost}");
    Finding::wrong(verdict, Topic::Cgroups, "control groups", found, remedy)
}
