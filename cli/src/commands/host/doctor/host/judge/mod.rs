//! Evaluates readings into findings. Pure, so that tests can try any host. Each part evaluates its
//! own readings and must report on all of them.

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

/// Returns all findings about a host, ordered by topic.
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
