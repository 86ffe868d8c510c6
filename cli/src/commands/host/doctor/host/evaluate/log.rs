//! The transparency log: whether it exists and verifies with the log key.

use super::commands;
use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::{HostReadings, LogReading};

const OBJECT: &str = "transparency log";

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    let findings = host.log.iter().map(|log| match log {
        LogReading::NotYet => {
            DoctorFinding::ok(Topic::Log, OBJECT, "none yet; the first record creates it")
        }
        LogReading::Good { origin, entries } => {
            let found = format!("{origin}, entries: {entries}, its checkpoint verifies");
            DoctorFinding::ok(Topic::Log, OBJECT, found)
        }
        LogReading::Bad { why, directory, key } => {
            let fsck = commands::fsck(host, directory, key);
            let remedy = format!(
                "start no runs, find the cause with `{fsck}`, and restore the log as in \
                 docs/log.md, *A log that was lost*"
            );
            DoctorFinding::failure(Topic::Log, OBJECT, why, remedy)
        }
        LogReading::Unreadable(why) => {
            let remedy = "run this as root, or as the daemon's user";
            DoctorFinding::not_checked(Topic::Log, OBJECT, why, remedy)
        }
    });
    findings.collect()
}
