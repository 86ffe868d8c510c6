//! The transparency log: whether it exists and verifies with the log key.

use super::commands;
use crate::commands::host::doctor::host::finding::{Finding, Topic};
use crate::commands::host::doctor::host::model::{LogSeen, Readings};

const OBJECT: &str = "transparency log";

pub(super) fn judge(host: &Readings) -> Vec<Finding> {
    let said = host.log.iter().map(|log| match log {
        LogSeen::NotYet => {
            Finding::ok(Topic::Log, OBJECT, "not there yet; the first record makes it")
        }
        LogSeen::Good { origin, entries } => {
            let found = format!("{origin}, {entries} entries, its checkpoint verifies");
            Finding::ok(Topic::Log, OBJECT, found)
        }
        LogSeen::Bad { why, directory, key } => {
            let fsck = commands::fsck(host, directory, key);
            let remedy = format!(
                "run nothing until it is understood: {fsck}; docs/log.md says how it is put back"
            );
            Finding::failure(Topic::Log, OBJECT, why, remedy)
        }
        LogSeen::Unseen(why) => {
            let remedy = "look as root, or as the user of the daemon";
            Finding::unseen(Topic::Log, OBJECT, why, remedy)
        }
    });
    said.collect()
}
