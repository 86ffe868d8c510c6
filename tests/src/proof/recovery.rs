//! A daemon that finds what another one left: it comes to rest, nothing is wrong, and the next one changes no
//! byte. Must never help it: it gets its time and a signal to stop.

use std::process::Command;
use std::time::{Duration, Instant};

use super::aftermath::{differences, rested, tree_of};
use super::counted::Counted;
use super::scene::Scene;
use crate::patience::patience;
use crate::service::Service;

/// How long a daemon may take for all that lies there; many times what it needs.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);
/// After "ready" a daemon with nothing to do is given this long to do something all the same.
pub const IDLE: Duration = Duration::from_millis(250);

/// Has one daemon recover, by a command of the caller's, and another one look again. Returns what is wrong.
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

/// Has a daemon work until something is so, and stop. Returns what was wrong with it.
fn at_rest(
    service: &mut Service<'_>,
    command: Command,
    is_so: impl Fn(&Service<'_>) -> bool,
) -> Option<String> {
    service.spawn_as(command);
    let begun = Instant::now();
    let mut fault = None;
    // Before it is ready it need not know how to stop.
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
