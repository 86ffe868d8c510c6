//! User namespaces: needed for an ordinary user's sandboxes, else only for runs that name hosts.

use std::path::Path;

use crate::commands::host::doctor::host::finding::{DoctorFinding, FindingVerdict, Topic};
use crate::commands::host::doctor::host::model::{HostReadings, PACKAGED_LAUNCHER};

const OBJECT: &str = "user namespaces";

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let namespaces = &host.kernel.namespaces;
    let needs_all = !host.user.is_root() && !host.subject.is_service();
    let bad = if needs_all { FindingVerdict::Failure } else { FindingVerdict::Warning };
    let cost = if needs_all {
        "an ordinary user's runs are refused"
    } else {
        "runs that name hosts are refused, and so is `toolexec run` of an ordinary user"
    };
    let wrong = |verdict, found: String, remedy: &str| {
        vec![DoctorFinding::problem(verdict, Topic::Kernel, OBJECT, found, remedy)]
    };
    if namespaces.max == Some(0) {
        let found = format!("user.max_user_namespaces is 0: {cost}");
        return wrong(bad, found, "run `sysctl -w user.max_user_namespaces=15000`");
    }
    let mut findings = Vec::new();
    // Neither setting restricts a privileged user.
    let only_others = if needs_all { FindingVerdict::Failure } else { FindingVerdict::Warning };
    if namespaces.unprivileged_clone == Some(0) {
        let found = "kernel.unprivileged_userns_clone is 0: runs of an ordinary user are refused";
        let remedy = "run `sysctl -w kernel.unprivileged_userns_clone=1`";
        findings.extend(wrong(only_others, found.to_owned(), remedy));
    }
    if namespaces.apparmor_restricts == Some(1) {
        findings.extend(match namespaces.apparmor_profile {
            true => vec![DoctorFinding::ok(
                Topic::Kernel,
                OBJECT,
                "AppArmor restricts them, and has a profile for toolexec-launch",
            )],
            false => wrong(
                only_others,
                "AppArmor restricts them (kernel.apparmor_restrict_unprivileged_userns is 1), and \
                 has no profile for toolexec-launch: runs of an ordinary user are refused"
                    .to_owned(),
                &install_profile(host),
            ),
        });
    }
    if !findings.is_empty() {
        return findings;
    }
    match &namespaces.tried {
        Some(Err(why)) => wrong(
            bad,
            format!("cannot be created ({why}): {cost}"),
            "check what confines this shell (a container, a unit with RestrictNamespaces=), then \
             try `unshare --user --map-root-user true`",
        ),
        Some(Ok(())) => vec![DoctorFinding::ok(Topic::Kernel, OBJECT, "can be created")],
        None => {
            let remedy = "run `unshare --user --map-root-user true`";
            vec![DoctorFinding::not_checked(
                Topic::Kernel,
                OBJECT,
                "nothing forbids them; not tried",
                remedy,
            )]
        }
    }
}

/// The packaged profile names the packaged launcher, so another path is substituted first.
fn install_profile(host: &HostReadings) -> String {
    let (copy, load) = (
        "cp /usr/share/toolexec/apparmor /etc/apparmor.d/toolexec",
        "apparmor_parser -r /etc/apparmor.d/toolexec",
    );
    let launcher = host.programs.iter().find(|program| program.name == "toolexec-launch");
    let another = launcher
        .and_then(|program| program.found.as_deref().ok())
        .filter(|found| *found != Path::new(PACKAGED_LAUNCHER));
    let give = match another {
        None => format!("{copy} && {load}"),
        Some(found) => {
            let found = found.display();
            let rename =
                format!("sed -i 's|{PACKAGED_LAUNCHER}|{found}|' /etc/apparmor.d/toolexec");
            format!("{copy} && {rename} && {load}")
        }
    };
    format!("run `{give}`, or `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`")
}
