//! The backends of the policy, each by what it did in a sandbox. A backend that does not run leaves
//! its requests refused, and all others as they are.

use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::{HostReadings, SandboxProbe};

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let findings = host.backends.iter().map(|reading| match &reading.probe {
        SandboxProbe::Starts(found) => DoctorFinding::ok(Topic::Backends, &reading.name, found),
        SandboxProbe::Fails { what, help } => {
            let found = format!("{what}; its requests are refused");
            DoctorFinding::failure(Topic::Backends, &reading.name, found, help)
        }
        SandboxProbe::NotTried { why, remedy } => {
            DoctorFinding::not_checked(Topic::Backends, &reading.name, why, remedy)
        }
    });
    findings.collect()
}
