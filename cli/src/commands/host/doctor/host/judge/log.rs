//! The transparency log: whether it exists and verifies with the log key.

use super::commands;
use crate::commands::host::doctor::host::finding::{Finding, Topic};
use crate::commands::host::doctor::host::model::{LogSeen, Readings};

const OBJECT: &str = "transparency log";

pub(super) fn judge(host: &Readings) -> Vec<Finding> {
    let said = host.log.iter().map(|log| match log {
        LogSeen::NotYet => Finding::ok(Topic::Log, OBJECT, "none yet; the first record creates it"),
        LogSeen::Good { origin, entries } => {
            let found = format!("{origin}, {entries} entries, its checkpoint verifies");
            Finding::ok(Topic::Log, OBJECT, found)
        }
        LogSeen::Bad { why, directory, key } => {
            let fsck = commands::fsck(host, directory, key);
            let remedy = format!(
                "start no runs, find the cause with `{fsck}`, and restore the log as in \
                 docs/log.md, *A log that was lost*"
            );
            Finding::failure(Topic::Log, OBJECT, why, remedy)
        }
        LogSeen::Unseen(why) => {
            let remedy = "run this as root, or as the daemon's user";
            Finding::unseen(Topic::Log, OBJECT, why, remedy)
        }
    });
    said.collect()
}
