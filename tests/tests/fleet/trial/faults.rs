//! The faults of the trial, in turn.

use toolexec_tests::{TestFleet, TestFleetHost};

use crate::cut_proxy::CutProxy;

/// The faults so far.
pub(super) struct TrialFaults<'p> {
    proxy: &'p CutProxy,
    turn: usize,
    is_cut: bool,
    pub(super) daemon_kills: usize,
    pub(super) agent_kills: usize,
    pub(super) crashes: usize,
    pub(super) cuts: usize,
}

impl<'p> TrialFaults<'p> {
    pub(super) fn new(proxy: &'p CutProxy) -> Self {
        Self { proxy, turn: 0, is_cut: false, daemon_kills: 0, agent_kills: 0, crashes: 0, cuts: 0 }
    }

    /// Causes the next fault. A cut lasts until the third fault after it, which is longer than the
    /// time after which claims are taken over.
    pub(super) fn next(&mut self, fleet: &mut TestFleet<'_>) {
        let host = (self.turn / 6) % fleet.hosts.len();
        let host = &mut fleet.hosts[host];
        assert_runs(host);
        match self.turn % 6 {
            0 => self.kill_daemon(host),
            1 => {
                self.proxy.cut();
                self.is_cut = true;
                self.cuts += 1;
            }
            2 => self.kill_agent(host),
            3 => {
                fleet.database.crash();
                self.crashes += 1;
                fleet.database.run();
            }
            4 => self.end(),
            _ => {
                self.kill_daemon(host);
                self.kill_agent(host);
            }
        }
        self.turn += 1;
    }

    /// Returns whether there was a fault of each kind.
    pub(super) fn has_caused_each(&self) -> bool {
        ![self.daemon_kills, self.agent_kills, self.crashes, self.cuts].contains(&0)
    }

    fn kill_daemon(&mut self, host: &mut TestFleetHost<'_>) {
        host.kill_daemon();
        host.begin_daemon();
        self.daemon_kills += 1;
    }

    fn kill_agent(&mut self, host: &mut TestFleetHost<'_>) {
        host.kill_agent();
        host.spawn_agent();
        self.agent_kills += 1;
    }

    /// Ends a cut.
    pub(super) fn end(&mut self) {
        if self.is_cut {
            self.proxy.heal();
            self.is_cut = false;
        }
    }
}

/// A daemon that ended by itself would be a fault of its own.
fn assert_runs(host: &mut TestFleetHost<'_>) {
    if let Some(status) = host.service.exit_status() {
        panic!("{} ended with {status}: {}", host.name, host.service.log());
    }
}
