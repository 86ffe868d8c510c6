//! Waiting for a sandbox: the time limit, the caller's decision to continue, and the diagnosis of a
//! launcher that does not respond.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::error::{BuildError, StallReport};
use super::session::{LauncherMessage, receive};
use crate::messages::EvidenceMessage;
use crate::process::ProcessState;
use crate::steps::SetupStep;
use crate::wire;

pub(super) const ASK_INTERVAL: Duration = Duration::from_millis(100);
/// The time limit if the caller sets none.
pub(super) const START_TIME_MAX: Duration = Duration::from_secs(30);
/// The number of checks for the exit of a child whose connection closed; below, their interval.
const CHILD_END_CHECKS: u32 = 20;
const CHILD_END_INTERVAL: Duration = Duration::from_millis(10);

/// A waiting caller's decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitDecision {
    /// The wait continues, at most until the time limit.
    Continue,
    /// The wait ends now, with [`BuildError::Cancelled`].
    Cancel,
}

/// A time limit for building a sandbox, with a callback to the caller.
pub struct StartLimit<'a> {
    begun: Instant,
    time_max: Duration,
    on_wait: &'a mut dyn FnMut(&StartWait) -> WaitDecision,
}

impl<'a> StartLimit<'a> {
    /// Starts the limit now. `on_wait` is called several times a second until there is an answer.
    pub fn new(time_max: Duration, ask: &'a mut dyn FnMut(&StartWait) -> WaitDecision) -> Self {
        Self { begun: Instant::now(), time_max, on_wait: ask }
    }

    pub(super) fn time_max(&self) -> Duration {
        self.time_max
    }

    pub(super) fn deadline(&self) -> Instant {
        self.begun + self.time_max
    }

    /// Adds the time of a step that the caller's limit does not count.
    pub(super) fn extend(&mut self, time: Duration) {
        self.time_max = self.time_max.saturating_add(time);
    }

    pub(super) fn receive(
        &mut self,
        control: &OwnedFd,
        peer: &mut Peer,
        evidence: &OwnedFd,
        what: &'static str,
    ) -> Result<Option<LauncherMessage>, BuildError> {
        loop {
            let left = self.deadline().saturating_duration_since(Instant::now());
            let heard = wire::wait_to_receive(control, left.min(ASK_INTERVAL));
            if heard.map_err(BuildError::Lost)? {
                return receive(control).map_err(BuildError::Lost);
            }
            peer.update(evidence);
            let what = if peer.slot.is_some() { what } else { "wait for a worker slot" };
            self.check(*peer, what)?;
        }
    }

    /// Asks the caller whether to continue, unless the time is over.
    pub(super) fn check(&mut self, peer: Peer, what: &'static str) -> Result<(), BuildError> {
        let (for_time, time_max) = (self.begun.elapsed(), self.time_max);
        let waiting = StartWait { for_time, time_max, what, peer };
        if waiting.for_time >= self.time_max {
            return Err(BuildError::Stuck(Box::new(waiting.stall_report())));
        }
        match (self.on_wait)(&waiting) {
            WaitDecision::Continue => Ok(()),
            WaitDecision::Cancel => Err(BuildError::Cancelled(Box::new(waiting.stall_report()))),
        }
    }
}

/// Returns how a child ended, if it ends within a moment: its connections close before it can be
/// waited for. It is not reaped here.
pub(super) fn end_of_child(pid: u32) -> Option<String> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    for _ in 0..CHILD_END_CHECKS {
        if let Some(status) = waitid(WaitId::Pid(pid), options).ok()? {
            let exited = status.exit_status().map(|code| format!("ended with status {code}"));
            let killed = || Some(format!("was killed by signal {}", status.terminating_signal()?));
            return exited.or_else(killed);
        }
        thread::sleep(CHILD_END_INTERVAL);
    }
    None
}

/// The other side of a session, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peer {
    /// The pid of a launcher that is our child.
    pub(super) launcher: Option<u32>,
    /// The pid of the worker that serves the session, once it has sent it.
    pub(super) slot: Option<u32>,
}

impl Peer {
    /// Receives the worker's pid if it has arrived. It is always the first evidence.
    pub(super) fn update(&mut self, evidence: &OwnedFd) {
        if self.slot.is_none() && wire::wait_to_receive(evidence, Duration::ZERO).unwrap_or(false) {
            self.slot = match wire::receive(evidence) {
                Ok(Some((bytes, _))) => match EvidenceMessage::decode(&bytes) {
                    Ok(EvidenceMessage::Worker { pid }) => Some(pid),
                    _ => None,
                },
                _ => None,
            };
        }
    }

    /// Returns the error for a closed connection, with the exit of a launcher that is our child.
    pub(super) fn closed(self) -> BuildError {
        let why = match self.launcher.and_then(end_of_child) {
            Some(end) => format!("it {end}"),
            None => "it closed the connection".to_owned(),
        };
        BuildError::Lost(io::Error::new(io::ErrorKind::UnexpectedEof, why))
    }

    pub(super) fn stuck_slot(self) -> Option<ProcessState> {
        ProcessState::read(self.slot?).filter(ProcessState::is_stuck)
    }
}

/// A wait in progress.
#[derive(Clone, Copy, Debug)]
pub struct StartWait {
    /// The time waited so far.
    pub for_time: Duration,
    /// The time limit of the wait.
    pub time_max: Duration,
    what: &'static str,
    peer: Peer,
}

impl StartWait {
    pub(super) fn peer(&self) -> Peer {
        self.peer
    }

    /// Returns the launcher's current step and its stuck processes.
    #[must_use]
    pub fn stall_report(&self) -> StallReport {
        let (step, processes) = match self.peer.slot {
            Some(slot) => self.of_slot(slot),
            None => self.of_launcher(),
        };
        StallReport { for_time: self.for_time, step, processes }
    }

    fn of_slot(&self, slot: u32) -> (String, Vec<ProcessState>) {
        let state = ProcessState::read(slot);
        let inits = ProcessState::children_of(slot);
        let of_slot = state.as_ref().and_then(ProcessState::step);
        let late_init = inits.iter().find(|init| init.step().is_some()).cloned();
        let (step, late) = match (of_slot, late_init) {
            (Some(SetupStep::AwaitInit), Some(init)) => (init.step(), Some(init)),
            _ => (of_slot, state.clone()),
        };
        let step = step.map_or_else(|| self.what.to_owned(), |step| step.to_string());
        let stuck = state.into_iter().chain(inits).filter(ProcessState::is_stuck);
        let late = late.filter(|late| !late.is_stuck());
        (step, late.into_iter().chain(stuck).collect())
    }

    fn of_launcher(&self) -> (String, Vec<ProcessState>) {
        let Some(launcher) = self.peer.launcher else { return (self.what.to_owned(), Vec::new()) };
        let state = ProcessState::read(launcher);
        let stuck = stuck_below(launcher);
        let step = state.iter().chain(&stuck).find_map(ProcessState::step);
        let step = step.map_or_else(|| self.what.to_owned(), |step| step.to_string());
        (step, if stuck.is_empty() { state.into_iter().collect() } else { stuck })
    }
}

/// Returns all stuck processes of a launcher: itself, its workers, and their inits.
fn stuck_below(pid: u32) -> Vec<ProcessState> {
    let slots = ProcessState::children_of(pid);
    let inits = slots.iter().flat_map(|slot| ProcessState::children_of(slot.pid));
    let all = ProcessState::read(pid).into_iter().chain(slots.iter().cloned()).chain(inits);
    all.filter(ProcessState::is_stuck).collect()
}
