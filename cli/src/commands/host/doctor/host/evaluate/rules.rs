//! The rule files: configuration, policy and trust, each as checked by its own reader.

use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::{
    DoctorSubject, HostReadings, RuleFileReading, RuleFileState,
};

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let rules = &host.rules;
    let all = rules.config.iter().chain([&rules.policy]).chain(&rules.trust);
    all.map(|judged| of(host, judged)).collect()
}

fn of(host: &HostReadings, judged: &RuleFileReading) -> DoctorFinding {
    let name = judged.name;
    match &judged.state {
        RuleFileState::Good(found) => DoctorFinding::ok(Topic::Rules, name, found),
        RuleFileState::Bad(found) => {
            DoctorFinding::failure(Topic::Rules, name, found, remedy(host, name))
        }
        RuleFileState::Unreadable(why) => {
            let remedy = "run this as root, or as the daemon's user";
            DoctorFinding::not_checked(Topic::Rules, name, why, remedy)
        }
    }
}

fn remedy(host: &HostReadings, name: &str) -> String {
    let check = match &host.subject {
        DoctorSubject::Embedded { .. } => return "run `toolexec policy check FILE`".to_owned(),
        DoctorSubject::Service { config, .. } => {
            format!("toolexecd --config {} --check", config.display())
        }
    };
    match name {
        "policy" => format!("correct it: `toolexec policy check` must accept it, then `{check}`"),
        _ => format!("correct it until `{check}` accepts it"),
    }
}
