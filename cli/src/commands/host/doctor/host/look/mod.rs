//! Reading of a host: one file per subject. A failed read is also a reading. Nothing here evaluates
//! or changes anything.

mod answer;
mod apparmor;
mod cgroups;
mod clock;
mod disk;
mod entry;
mod kernel;
mod keys;
mod log;
mod model;
mod places;
mod programs;
mod rules;
mod sandbox;

use ::sandbox::subordinate::{self, NoSubordinate};
use daemon::outline::Outline;

use model::Host;

use super::model::{DoctorTarget, Looker, Readings, Subject};

pub(super) fn look(asked: &DoctorTarget) -> Readings {
    let looker = Looker { uid: rustix::process::geteuid().as_raw() };
    let outline = match asked {
        DoctorTarget::Service { config } => Outline::read(config).ok(),
        DoctorTarget::Embedded { .. } => None,
    };
    let subject = match asked {
        DoctorTarget::Embedded { state } => Subject::Embedded { state: state.clone() },
        DoctorTarget::Service { config } => Subject::Service {
            config: config.clone(),
            spool: outline.as_ref().and_then(|it| it.spool.clone()),
            state: outline.as_ref().and_then(|it| it.state.clone()),
        },
    };
    let (rules, policy) = rules::look(&subject, outline.as_ref());
    let host = Host { subject, outline, policy };
    let programs = programs::ours();
    Readings {
        looker,
        sandbox: sandbox::look(&host, looker, &programs),
        uids: uids(&host.subject, looker),
        kernel: kernel::look(),
        cgroups: cgroups::look(),
        delegated: host.launcher_socket().map(|_| cgroups::delegated()),
        programs,
        runtimes: programs::runtimes(&host),
        rules,
        sockets: programs::sockets(&host),
        keys: keys::look(&host, looker),
        places: places::look(&host),
        survey: places::survey(&host),
        disks: disk::look(&host),
        clock: clock::look(&host),
        log: log::look(&host),
        subject: host.subject,
    }
}

fn uids(subject: &Subject, looker: Looker) -> Option<Result<u32, NoSubordinate>> {
    let of_an_ordinary_user = !looker.is_root() && !subject.is_service();
    of_an_ordinary_user.then(|| subordinate::of_this_user().map(|ids| ids.count()))
}
