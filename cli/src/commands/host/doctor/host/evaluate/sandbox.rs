//! The test sandbox, started as the daemon starts sandboxes.

use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::{HostReadings, SandboxProbe};

const PROBE: &str = "probe";

pub(super) fn evaluate(host: &HostReadings) -> DoctorFinding {
    match &host.sandbox {
        SandboxProbe::Starts(in_force) => DoctorFinding::ok(Topic::Sandbox, PROBE, in_force),
        SandboxProbe::Fails { what, help } => {
            DoctorFinding::failure(Topic::Sandbox, PROBE, what, help)
        }
        SandboxProbe::NotTried { why, remedy } => {
            DoctorFinding::not_checked(Topic::Sandbox, PROBE, why, remedy)
        }
    }
}
