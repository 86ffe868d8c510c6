//! Reads a host: one file per subject. A failed read is also a reading. Nothing changes the host.

mod apparmor;
mod backends;
mod cgroups;
mod clock;
mod directories;
mod disk;
mod entry;
mod kernel;
mod keys;
mod log;
mod model;
mod own_launcher;
mod programs;
mod rules;
mod run_with_limit;
mod sandbox;

use ::sandbox::subordinate::{self, NoSubordinateIds};
use daemon::lenient_config::LenientConfig;

use model::ProbeContext;

use super::model::{DoctorSubject, DoctorTarget, DoctorUser, HostReadings};

pub(super) fn probe(target: &DoctorTarget) -> HostReadings {
    let looker = DoctorUser { uid: rustix::process::geteuid().as_raw() };
    let outline = match target {
        DoctorTarget::Service { config } => LenientConfig::read(config).ok(),
        DoctorTarget::Embedded { .. } => None,
    };
    let subject = match target {
        DoctorTarget::Embedded { state } => DoctorSubject::Embedded { state: state.clone() },
        DoctorTarget::Service { config } => DoctorSubject::Service {
            config: config.clone(),
            spool: outline.as_ref().and_then(|it| it.spool.clone()),
            state: outline.as_ref().and_then(|it| it.state.clone()),
        },
    };
    let (rules, policy) = rules::probe(&subject, outline.as_ref());
    let host = ProbeContext { subject, outline, policy };
    let programs = programs::own_programs();
    HostReadings {
        user: looker,
        sandbox: sandbox::start_test_sandbox(&host, looker, &programs),
        uids: uids(&host.subject, looker),
        backends: backends::probe(&host, looker, &programs),
        kernel: kernel::probe(),
        cgroups: cgroups::probe(),
        delegated: host.launcher_socket().map(|_| cgroups::delegated()),
        programs,
        runtimes: programs::runtimes(&host),
        rules,
        sockets: programs::sockets(&host),
        keys: keys::probe(&host, looker),
        directories: directories::probe(&host),
        spool_findings: directories::count_spool_findings(&host),
        disks: disk::probe(&host),
        clock: clock::probe(&host),
        log: log::probe(&host),
        subject: host.subject,
    }
}

fn uids(subject: &DoctorSubject, looker: DoctorUser) -> Option<Result<u32, NoSubordinateIds>> {
    let of_an_ordinary_user = !looker.is_root() && !subject.is_service();
    of_an_ordinary_user.then(|| subordinate::of_this_user().map(|ids| ids.count()))
}
