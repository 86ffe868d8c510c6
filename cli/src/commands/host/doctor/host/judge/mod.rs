//! From readings to findings: pure, so that every host there is can be tried in a test. Each part looks at
//! its own readings; a part must never be silent of what it was given.

mod cgroups;
mod clock;
mod commands;
mod disk;
mod kernel;
mod keys;
mod log;
mod mode;
mod namespaces;
mod places;
mod programs;
mod rules;
mod sandbox;
#[cfg(test)]
mod tests;
mod uids;

use super::finding::Finding;
use super::model::Readings;

/// Everything there is to say of a host, by topic.
pub(super) fn judge(host: &Readings) -> Vec<Finding> {
    let mut findings = kernel::judge(host);
    findings.extend(namespaces::judge(host));
    findings.extend(cgroups::judge(host));
    findings.extend(programs::judge(host));
    findings.push(sandbox::judge(host));
    findings.extend(uids::judge(host));
    findings.extend(rules::judge(host));
    findings.extend(keys::judge(host));
    findings.extend(places::judge(host));
    findings.extend(disk::judge(host));
    findings.extend(clock::judge(host));
    findings.extend(log::judge(host));
    findings.sort_by_key(|finding| finding.topic);
    findings
}
