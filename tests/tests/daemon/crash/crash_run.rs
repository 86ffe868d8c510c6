//! One spool, its kills, and the result. Must never judge by anything but the files on the disk.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use toolexec_tests::crash_support::{
    CountedTool, CrashFileKind, CrashScene, FailpointDaemon, IDLE_TIME, arrivals,
    configure_for_crash_tests, faults_after_crash, recovery_faults,
};
use toolexec_tests::{Bench, Service};

/// Longest time for a daemon to process everything; many times what it needs.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);

/// A failpoint, and the arrival at which the daemon is killed.
#[derive(Clone, Debug)]
pub(crate) struct KillPoint {
    pub(crate) point: String,
    pub(crate) nth: u32,
}

#[derive(Debug, Default)]
pub(crate) struct CrashRunResult {
    /// Arrivals of the first daemon at each failpoint. Known only without kills.
    pub(crate) arrivals: BTreeMap<String, u32>,
    /// Arrivals of the daemon that recovered.
    pub(crate) recovery: BTreeMap<String, u32>,
    /// The number of kills that happened.
    pub(crate) kills: usize,
    pub(crate) faults: Vec<String>,
    pub(crate) log: String,
}

pub(crate) struct CrashRun<'a> {
    pub(crate) failpoints: &'a FailpointDaemon,
    pub(crate) tool: &'a CountedTool,
}

impl CrashRun<'_> {
    /// Submits files of these kinds, kills daemons in turn, recovers with one, checks with another.
    pub(crate) fn run(&self, kinds: &[CrashFileKind], kills: &[KillPoint]) -> CrashRunResult {
        let bench = Bench::new();
        self.failpoints.install(&bench);
        let mut service = Service::prepare(&bench, &self.tool.service_config(&bench));
        configure_for_crash_tests(&service);
        let counted = self.tool.count();
        let scene = CrashScene::submit(&service, &counted, kinds);
        let mut played = CrashRunResult::default();
        for kill in kills {
            if !kill_at(&mut service, &scene, kill) {
                return played;
            }
            played.kills += 1;
            let faults = faults_after_crash(&service, &scene, &counted.counts());
            played.faults.extend(faults.iter().map(|fault| format!("before recovery: {fault}")));
        }
        let came = bench.home().join("arrivals");
        let mut command = service.command();
        command.env("TOOLEXEC_FAILPOINT_LOG", &came);
        played.faults.extend(recovery_faults(&mut service, command, &scene, &counted));
        played.recovery = arrivals(&came);
        played.log = service.log();
        if kills.is_empty() {
            played.arrivals.clone_from(&played.recovery);
        }
        played
    }
}

/// Returns true if the daemon killed itself at the failpoint.
fn kill_at(service: &mut Service<'_>, scene: &CrashScene, kill: &KillPoint) -> bool {
    let mut command = service.command();
    command.env("TOOLEXEC_FAILPOINT", format!("{}:{}", kill.point, kill.nth));
    service.spawn_as(command);
    let begun = Instant::now();
    loop {
        if let Some(status) = service.exit_status() {
            assert_eq!(status.code(), None, "it ended by itself: {}", service.log());
            return true;
        }
        // A failpoint after the last visible step is reached a moment later.
        let is_settled = scene.is_settled(service) && service.log().contains("ready");
        if begun.elapsed() > SETTLED_WITHIN || (is_settled && is_idle(service)) {
            service.signal("TERM");
            // It may have reached the failpoint just before the signal.
            return service.wait().is_none();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_idle(service: &mut Service<'_>) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < IDLE_TIME {
        // The caller checks again and sees the exit.
        if !service.is_alive() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}
