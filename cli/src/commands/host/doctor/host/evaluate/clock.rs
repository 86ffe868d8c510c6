//! The clock. The daemon does not start before the time of its newest result.

use super::commands;
use crate::commands::host::doctor::host::finding::{DoctorFinding, Topic};
use crate::commands::host::doctor::host::model::{ClockReading, HostReadings};

/// The daemon's tolerance. Clocks are adjusted slightly all the time.
const TOLERANCE_SEC: i64 = 5;
/// 2026-01-01. A host that boots without a clock is decades earlier.
const BUILT_UNIX: i64 = 1_767_225_600;

pub(super) fn evaluate(host: &HostReadings) -> Vec<DoctorFinding> {
    vec![synchronized(&host.clock), newest_result(host)]
}

fn synchronized(clock: &ClockReading) -> DoctorFinding {
    match &clock.synchronized {
        Ok(true) => DoctorFinding::ok(
            Topic::Clock,
            "synchronization",
            format!("yes; it reads {}", clock.now),
        ),
        Ok(false) => DoctorFinding::warning(
            Topic::Clock,
            "synchronization",
            format!("the clock is not synchronized; it reads {}", clock.now),
            "run `timedatectl set-ntp true`, or start another NTP client",
        ),
        Err(why) => {
            DoctorFinding::not_checked(Topic::Clock, "synchronization", why, "run `timedatectl`")
        }
    }
}

fn newest_result(host: &HostReadings) -> DoctorFinding {
    let ClockReading { now, newest, .. } = &host.clock;
    let set = match commands::start_after_clock_change(host) {
        Some(start) => {
            format!("set the clock; if it was set back on purpose, start with `{start}`")
        }
        None => "set the clock, for example with `timedatectl set-ntp true`".to_owned(),
    };
    let object = "newest result";
    match newest {
        Some((at, path)) if at.unix() > now.unix().saturating_add(TOLERANCE_SEC) => {
            let found = format!("{} is later than the clock, which reads {now}", path.display());
            DoctorFinding::failure(Topic::Clock, object, found, set)
        }
        _ if now.unix() < BUILT_UNIX => {
            let found = format!("the clock reads {now}, before this program was built");
            DoctorFinding::failure(Topic::Clock, object, found, set)
        }
        Some((at, _)) => {
            DoctorFinding::ok(Topic::Clock, object, format!("{at}, not later than now"))
        }
        None => DoctorFinding::ok(Topic::Clock, object, "none yet"),
    }
}
