//! The test sandbox, started as the daemon starts sandboxes.

use crate::commands::host::doctor::host::finding::{Finding, Topic};
use crate::commands::host::doctor::host::model::{Readings, Sandbox};

const PROBE: &str = "probe";

pub(super) fn judge(host: &Readings) -> Finding {
    match &host.sandbox {
        Sandbox::Starts(in_force) => Finding::ok(Topic::Sandbox, PROBE, in_force),
        Sandbox::Fails { what, help } => Finding::failure(Topic::Sandbox, PROBE, what, help),
        Sandbox::NotTried { why, remedy } => Finding::unseen(Topic::Sandbox, PROBE, why, remedy),
    }
}
