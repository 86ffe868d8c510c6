//! Recovery of a daemon from the state that another one left: it becomes idle without faults, and
//! the next daemon changes no byte. Must never help it: it gets time and a signal to stop.

use std::process::Command;
use std::time::{Duration, Instant};

use super::checks::{differences, faults_after_recovery, read_tree};
use super::crash_scene::CrashScene;
use super::run_counter::RunCounter;
use crate::service::Service;
use crate::slowdown::time_factor;

/// Longest time for a daemon to process everything; many times what it needs.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(30);
/// After "ready", an idle daemon gets this long to do something wrong.
pub const IDLE_TIME: Duration = Duration::from_millis(250);

/// Recovers with one daemon, started by `command`, and checks with a second. Returns the faults.
#[must_use]
pub fn recovery_faults(
    service: &mut Service<'_>,
    command: Command,
    scene: &CrashScene,
    counted: &RunCounter,
) -> Vec<String> {
    let mut faults = Vec::new();
    faults.extend(run_until(service, command, |service| scene.is_settled(service)));
    let before = read_tree(service);
    faults.extend(faults_after_recovery(service, scene, &counted.counts()));
    let begun = Instant::now();
    let command = service.command();
    faults.extend(run_until(service, command, |_| begun.elapsed() > IDLE_TIME));
    let changed = differences(&before, &read_tree(service));
    faults.extend(changed.iter().map(|it| format!("by the second recovery: {it}")));
    faults
}

/// Runs a daemon until a condition holds, and stops it. Returns its fault, if any.
fn run_until(
    service: &mut Service<'_>,
    command: Command,
    is_so: impl Fn(&Service<'_>) -> bool,
) -> Option<String> {
    service.spawn_as(command);
    let begun = Instant::now();
    let mut fault = None;
    // It handles the signal to stop only when it is ready.
    while !(service.log().contains("ready") && is_so(service)) {
        if let Some(status) = service.exit_status() {
            return Some(format!("the daemon ended with {status}: {}", service.log()));
        }
        if begun.elapsed() > RECOVERY_TIMEOUT * time_factor() {
            fault = Some(format!("it does not come to rest: {}", service.log()));
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    service.signal("TERM");
    let code = service.wait();
    fault.or_else(|| (code != Some(0)).then(|| format!("told to stop it ended with {code:?}")))
}
