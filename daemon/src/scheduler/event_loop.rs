//! The event loop: does what is due, publishes the state, and waits for the next event.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use spool::DaemonState;

use super::at_work::AtWork;
use super::event::LoopEvent;
use crate::held;
use crate::model::Halt;
use crate::system;
use crate::transition::{self, Fields, Transition};

/// The interval of cleanups.
const TIDYING_INTERVAL: Duration = Duration::from_secs(3600);

/// The shortest pause between two looks, also as a multiple of the duration of the last look.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
const LOOK_SHARE: u32 = 10;

impl AtWork<'_, '_> {
    /// Serves until the daemon is stopped and the last worker has ended.
    pub(super) fn serve(&mut self, events: &Receiver<LoopEvent>) -> Result<(), Halt> {
        if let Err(halt) = self.begin() {
            self.halt(halt);
        }
        loop {
            if !self.is_stopping() {
                self.go_on().unwrap_or_else(|halt| self.halt(halt));
            }
            if self.is_stopping() && self.in_flight.is_empty() {
                return self.end();
            }
            let state =
                if self.is_stopping() { DaemonState::Draining } else { DaemonState::Serving };
            let more = self.tell(state, None);
            let rest =
                more.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
            match events.recv_timeout(self.rest().min(rest)) {
                Ok(event) => {
                    self.hear(event);
                    // One look serves all events of the meantime.
                    while let Ok(event) = events.try_recv() {
                        self.hear(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Cannot occur: this loop owns a sender.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(self.rest()),
            }
        }
    }

    /// Recovers the claims of an earlier daemon before anything is taken.
    fn begin(&mut self) -> Result<(), Halt> {
        self.dropbox.insist_on_ours()?;
        let spool = &self.host.spool;
        held::told_or_warned(spool.forget_all_held());
        held::told_or_warned(spool.forget_all_running());
        held::told_or_warned(spool.forget_waiting());
        held::told_or_warned(spool.forget_permissions());
        transition::log(Transition::Starting, &Fields::default());
        self.tell(DaemonState::Starting, None);
        self.settle()?;
        let probed = self.host.probe();
        self.hear_probed(probed)?;
        let approved = self.dropbox.path().display().to_string();
        let path = Some(approved.as_str());
        transition::log(Transition::Ready, &Fields { path, ..Fields::default() });
        self.publisher.ready();
        Ok(())
    }

    fn end(&mut self) -> Result<(), Halt> {
        let halted = self.halted.take();
        let why = halted.as_ref().map(Halt::to_string);
        let (state, how) = match halted {
            Some(_) => (DaemonState::Halted, Transition::Halted),
            None => (DaemonState::Stopped, Transition::Stopped),
        };
        held::told_or_warned(self.host.spool.forget_all_running());
        self.tell(state, why.as_deref());
        self.publisher.last_numbers(self.host);
        transition::log(how, &Fields { reason: why.as_deref(), ..Fields::default() });
        halted.map_or(Ok(()), Err)
    }

    /// Does what is due, and admits requests.
    fn go_on(&mut self) -> Result<(), Halt> {
        let now = Instant::now();
        if now >= self.next_rescan {
            self.next_rescan = now + self.pace.rescan;
            self.look_wanted = true;
            self.host.renew_ready();
            self.host.spool.insist_on_place()?;
            self.host.clean_up_idle_workflows();
            match self.admission_stopped()? {
                Some((by, why)) => self.stop_admission(by, why),
                None if self.host.room_wanted.why().is_none() => self.resume_admission(),
                None => {}
            }
        }
        self.probe_if_due()?;
        if now >= self.next_tidying {
            self.next_tidying = now + TIDYING_INTERVAL;
            self.tidy();
        }
        if !self.is_there_room(now)? {
            return Ok(());
        }
        match self.host.log.beat(system::now(), system::boot_id) {
            Ok(()) => {}
            Err(error) => {
                let halt = Halt::from(error);
                let Some(want) = halt.want() else { return Err(halt) };
                self.host.room_wanted.note(want, &halt);
                return Ok(());
            }
        }
        if self.look_wanted && now >= self.next_look {
            self.look_wanted = false;
            if let Err(halt) = self.look() {
                return self.without_room(halt);
            }
            self.next_look = Instant::now() + LOOK_INTERVAL.max(now.elapsed() * LOOK_SHARE);
        }
        self.admit().or_else(|halt| self.without_room(halt))
    }

    /// Returns the time until the next action if no event occurs.
    fn rest(&self) -> Duration {
        if self.is_stopping() {
            return self.pace.rescan;
        }
        let is_full = self.host.room_wanted.why().is_some();
        let mut next = self.next_rescan.min(self.next_tidying);
        next = self.fitness.due().map_or(next, |due| next.min(due));
        if is_full || self.look_wanted {
            next = next.min(if is_full { self.next_room_look } else { self.next_look });
        }
        let rest = next.saturating_duration_since(Instant::now());
        if is_full {
            // There is not enough space for a heartbeat either.
            return rest;
        }
        self.host.log.beats_in(system::now()).map_or(rest, |beat| rest.min(beat))
    }

    fn hear(&mut self, event: LoopEvent) {
        match event {
            LoopEvent::Dropped => {
                // Before the look: a change during the look causes another one.
                self.hinted.store(false, Ordering::SeqCst);
                self.empty = None;
                self.look_wanted = true;
            }
            LoopEvent::Reload => match self.reload().and_then(|()| self.probe()) {
                Ok(()) => self.look_wanted = true,
                Err(halt) => self.halt(halt),
            },
            LoopEvent::Probed(probed) => {
                self.hear_probed(probed).unwrap_or_else(|halt| self.halt(halt));
            }
            LoopEvent::Stop => self.stop(),
            LoopEvent::StopNow => {
                self.stop();
                self.orders.now.store(true, Ordering::Relaxed);
            }
            LoopEvent::Ended(ended) => self.hear_ended(ended),
        }
    }
}
