//! One spool, one or more kills, and the result. Must never judge by anything but the files on the
//! disk.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use toolexec_tests::proof::{
    Failpoints, IDLE, Kind, Scene, Tool, arrivals, crashed, recovered, settings,
};
use toolexec_tests::{Bench, Service};

/// Longest time for a daemon to process everything; many times what it needs.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);

/// A failpoint, and the arrival at which the daemon is killed.
#[derive(Clone, Debug)]
pub(crate) struct Kill {
    pub(crate) point: String,
    pub(crate) nth: u32,
}

/// The result of a play.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// Arrivals of the first daemon at each failpoint. Known only without kills.
    pub(crate) arrivals: BTreeMap<String, u32>,
    /// Arrivals of the daemon that recovered.
    pub(crate) recovery: BTreeMap<String, u32>,
    /// The number of kills that happened.
    pub(crate) kills: usize,
    pub(crate) faults: Vec<String>,
    /// The log of the last daemon.
    pub(crate) log: String,
}

pub(crate) struct Play<'a> {
    pub(crate) failpoints: &'a Failpoints,
    pub(crate) tool: &'a Tool,
}

impl Play<'_> {
    /// Submits one file of each kind, kills one daemon after the other, lets one recover, and
    /// checks with another one.
    pub(crate) fn run(&self, kinds: &[Kind], kills: &[Kill]) -> Played {
        let bench = Bench::new();
        self.failpoints.install(&bench);
        let mut service = Service::prepare(&bench, &self.tool.asked(&bench));
        settings(&service);
        let counted = self.tool.count();
        let scene = Scene::drop_into(&service, &counted, kinds);
        let mut played = Played::default();
        for kill in kills {
            if !killed(&mut service, &scene, kill) {
                return played;
            }
            played.kills += 1;
            let faults = crashed(&service, &scene, &counted.so_far());
            played.faults.extend(faults.iter().map(|fault| format!("before recovery: {fault}")));
        }
        let came = bench.home().join("arrivals");
        let mut command = service.command();
        command.env("TOOLEXEC_FAILPOINT_LOG", &came);
        played.faults.extend(recovered(&mut service, command, &scene, &counted));
        played.recovery = arrivals(&came);
        played.log = service.log();
        if kills.is_empty() {
            played.arrivals.clone_from(&played.recovery);
        }
        played
    }
}

/// Returns true if the daemon killed itself at the failpoint.
fn killed(service: &mut Service<'_>, scene: &Scene, kill: &Kill) -> bool {
    let mut command = service.command();
    command.env("TOOLEXEC_FAILPOINT", format!("{}:{}", kill.point, kill.nth));
    service.spawn_as(command);
    let begun = Instant::now();
    loop {
        if let Some(status) = service.ended() {
            assert_eq!(status.code(), None, "it ended by itself: {}", service.log());
            return true;
        }
        // A failpoint after the last visible step is reached a moment later.
        if begun.elapsed() > SETTLED_WITHIN || (scene.is_settled(service) && is_idle(service)) {
            service.signal("TERM");
            service.wait();
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_idle(service: &mut Service<'_>) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < IDLE {
        // The caller checks again and sees the exit.
        if !service.is_alive() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}
