//! Evaluates readings into findings. Pure, so that tests can try any host. Each part evaluates its
//! own readings and must report on all of them.

mod backends;
mod cgroups;
mod clock;
mod commands;
mod directories;
mod disk;
mod kernel;
mod keys;
mod log;
mod mode;
mod namespaces;
mod programs;
mod rules;
mod sandbox;
#[cfg(test)]
mod tests;
mod uids;

use super::finding::DoctorFinding;
use super::model::HostReadings;

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let mut findings = kernel::evaluate(host);
    findings.extend(namespaces::evaluate(host));
    findings.extend(cgroups::evaluate(host));
    findings.extend(programs::evaluate(host));
    findings.extend(backends::evaluate(host));
    findings.push(sandbox::evaluate(host));
    findings.extend(uids::evaluate(host));
    findings.extend(rules::evaluate(host));
    findings.extend(keys::evaluate(host));
    findings.extend(directories::evaluate(host));
    findings.extend(disk::evaluate(host));
    findings.extend(clock::evaluate(host));
    findings.extend(log::evaluate(host));
    findings.sort_by_key(|finding| finding.topic);
    findings
}
