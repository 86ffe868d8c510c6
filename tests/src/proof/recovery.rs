//! Recovery of a daemon from the state that another one left: it becomes idle without faults, and
//! the next daemon changes no byte. Must never help it: it gets time and a signal to stop.

use std::process::Command;
use std::time::{Duration, Instant};

use super::aftermath::{differences, rested, tree_of};
use super::counted::Counted;
use super::scene::Scene;
use crate::patience::patience;
use crate::service::Service;

/// Longest time for a daemon to process everything; many times what it needs.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);
/// After "ready", an idle daemon gets this long to do something wrong.
pub const IDLE: Duration = Duration::from_millis(250);

/// Recovers with one daemon, started by `command`, and checks with a second one. Returns the
/// faults.
#[must_use]
pub fn recovered(
    service: &mut Service<'_>,
    command: Command,
    scene: &Scene,
    counted: &Counted,
) -> Vec<String> {
    let mut faults = Vec::new();
    faults.extend(at_rest(service, command, |service| scene.is_settled(service)));
    let before = tree_of(service);
    faults.extend(rested(service, scene, &counted.so_far()));
    let begun = Instant::now();
    let command = service.command();
    faults.extend(at_rest(service, command, |_| begun.elapsed() > IDLE));
    let changed = differences(&before, &tree_of(service));
    faults.extend(changed.iter().map(|it| format!("by the second recovery: {it}")));
    faults
}

/// Runs a daemon until a condition holds, and stops it. Returns its fault, if any.
fn at_rest(
    service: &mut Service<'_>,
    command: Command,
    is_so: impl Fn(&Service<'_>) -> bool,
) -> Option<String> {
    service.spawn_as(command);
    let begun = Instant::now();
    let mut fault = None;
    // It handles the signal to stop only when it is ready.
    while !(service.log().contains("ready") && is_so(service)) {
        if let Some(status) = service.ended() {
            return Some(format!("the daemon ended with {status}: {}", service.log()));
        }
        if begun.elapsed() > SETTLED_WITHIN * patience() {
            fault = Some(format!("it does not come to rest: {}", service.log()));
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    service.signal("TERM");
    let code = service.wait();
    fault.or_else(|| (code != Some(0)).then(|| format!("told to stop it ended with {code:?}")))
}
