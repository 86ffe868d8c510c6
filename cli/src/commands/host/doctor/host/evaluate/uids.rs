//! Evaluates whether the sandboxes of an ordinary user get subordinate uids.

use sandbox::subordinate::NoSubordinateIds;

use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::HostReadings;

const OBJECT: &str = "uids";

pub(super) fn evaluate(host: &HostReadings) -> Option<DoctorFinding> {
    let missing = match host.uids.as_ref()? {
        Ok(count) => {
            let found = format!("{count} subordinate uids: each concurrent run has its own");
            return Some(DoctorFinding::ok(Topic::Sandbox, OBJECT, found));
        }
        Err(missing) => missing,
    };
    let found = format!(
        "{missing}: all sandboxes of this user share one uid, and the kernel's limits for a user"
    );
    let remedy = match missing {
        NoSubordinateIds::Program(_) => "run `apt-get install uidmap` as root".to_owned(),
        NoSubordinateIds::Range(_) => format!(
            "run as root, with a range that no account uses: `usermod --add-subuids 100000-165535 \
             --add-subgids 100000-165535 \"$(id -nu {})\"`",
            host.user.uid
        ),
    };
    Some(DoctorFinding::warning(Topic::Sandbox, OBJECT, found, remedy))
}
