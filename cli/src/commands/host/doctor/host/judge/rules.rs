//! The rule files: configuration, policy and trust, each as checked by its own reader.

use crate::commands::host::doctor::host::finding::{Finding, Topic};
use crate::commands::host::doctor::host::model::{Judged, Reader, Readings, Subject};

pub(super) fn judge(host: &Readings) -> Vec<Finding> {
    let rules = &host.rules;
    let all = rules.config.iter().chain([&rules.policy]).chain(&rules.trust);
    all.map(|judged| of(host, judged)).collect()
}

fn of(host: &Readings, judged: &Judged) -> Finding {
    let name = judged.name;
    match &judged.said {
        Reader::Good(found) => Finding::ok(Topic::Rules, name, found),
        Reader::Bad(found) => Finding::failure(Topic::Rules, name, found, remedy(host, name)),
        Reader::Unseen(why) => {
            let remedy = "run this as root, or as the daemon's user";
            Finding::unseen(Topic::Rules, name, why, remedy)
        }
    }
}

fn remedy(host: &Readings, name: &str) -> String {
    let check = match &host.subject {
        Subject::Embedded { .. } => return "run `toolexec policy check FILE`".to_owned(),
        Subject::Service { config, .. } => {
            format!("toolexecd --config {} --check", config.display())
        }
    };
    match name {
        "policy" => format!("correct it: `toolexec policy check` must accept it, then `{check}`"),
        _ => format!("correct it until `{check}` accepts it"),
    }
}
