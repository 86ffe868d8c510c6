//! The event loop: does what is due, publishes the state, and waits for the next event.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use spool::DaemonState;

use super::event::LoopEvent;
use super::loop_state::EventLoop;
use crate::held_requests;
use crate::log_event::{self, LogEvent, LogEventFields};
use crate::model::DaemonError;
use crate::system;

const CLEANUP_INTERVAL: Duration = Duration::from_secs(3600);

/// The shortest pause between two looks, also as a multiple of the duration of the last look.
const SCAN_INTERVAL: Duration = Duration::from_millis(5);
const SCAN_PAUSE_FACTOR: u32 = 10;

impl EventLoop<'_, '_> {
    /// Serves until the daemon is stopped and the last worker has ended.
    pub(super) fn serve(&mut self, events: &Receiver<LoopEvent>) -> Result<(), DaemonError> {
        if let Err(error) = self.begin() {
            self.fail(error);
        }
        loop {
            if self.is_stopping() {
                self.apply_orders_in_flight();
            } else {
                self.step().unwrap_or_else(|error| self.fail(error));
            }
            if self.is_stopping() && self.in_flight.is_empty() {
                return self.end();
            }
            let state =
                if self.is_stopping() { DaemonState::Draining } else { DaemonState::Serving };
            let more = self.publish(state, None);
            let rest =
                more.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
            match events.recv_timeout(self.time_to_next_action().min(rest)) {
                Ok(event) => {
                    self.handle(event);
                    // One look serves all events of the meantime.
                    while let Ok(event) = events.try_recv() {
                        self.handle(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Cannot occur: this loop owns a sender.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(self.time_to_next_action()),
            }
        }
    }

    /// Recovers the claims of an earlier daemon before anything is taken.
    fn begin(&mut self) -> Result<(), DaemonError> {
        self.dropbox.check_removable()?;
        let spool = &self.host.spool;
        held_requests::warn_if_failed(spool.remove_all_held());
        held_requests::warn_if_failed(spool.remove_all_running());
        held_requests::warn_if_failed(spool.remove_waiting());
        held_requests::warn_if_failed(spool.remove_permissions());
        held_requests::warn_if_failed(spool.publish_all_standing(system::now()));
        log_event::log(LogEvent::Starting, &LogEventFields::default());
        self.publish(DaemonState::Starting, None);
        self.settle()?;
        let probed = self.host.probe();
        self.handle_probe(probed)?;
        let approved = self.dropbox.path().display().to_string();
        let path = Some(approved.as_str());
        log_event::log(LogEvent::Ready, &LogEventFields { path, ..LogEventFields::default() });
        self.publisher.ready();
        self.try_accelerators()
    }

    fn end(&mut self) -> Result<(), DaemonError> {
        let error = self.error.take();
        let why = error.as_ref().map(DaemonError::to_string);
        let (state, how) = match error {
            Some(_) => (DaemonState::Halted, LogEvent::Halted),
            None => (DaemonState::Stopped, LogEvent::Stopped),
        };
        held_requests::warn_if_failed(self.host.spool.remove_all_running());
        self.publish(state, why.as_deref());
        self.publisher.write_last_metrics(self.host);
        log_event::log(
            how,
            &LogEventFields { reason: why.as_deref(), ..LogEventFields::default() },
        );
        error.map_or(Ok(()), Err)
    }

    fn step(&mut self) -> Result<(), DaemonError> {
        let now = Instant::now();
        self.report_draft_delay(now);
        if now >= self.next_rescan {
            self.next_rescan = now + self.loop_config.scan_interval;
            self.scan_wanted = true;
            self.host.renew_prewarmed();
            self.host.spool.check_locked_paths()?;
            self.host.end_idle_workflows();
            match self.admission_stopped()? {
                Some((by, why)) => self.stop_admission(by, why),
                None if self.host.shortage.reason().is_none() => self.resume_admission(),
                None => {}
            }
        }
        self.probe_if_due()?;
        if now >= self.next_cleanup {
            self.next_cleanup = now + CLEANUP_INTERVAL;
            self.clean_up();
        }
        if !self.is_space_available(now)? {
            self.apply_orders_in_flight();
            return Ok(());
        }
        match self.host.log.append_heartbeat_if_due(system::now(), system::boot_id) {
            Ok(()) => {}
            Err(error) => {
                let fatal = DaemonError::from(error);
                let Some(want) = fatal.shortage() else { return Err(fatal) };
                self.host.shortage.note(want, &fatal);
                return Ok(());
            }
        }
        if self.scan_wanted && now >= self.next_scan {
            self.scan_wanted = false;
            if let Err(error) = self.scan() {
                return self.note_shortage(error);
            }
            self.next_scan = Instant::now() + SCAN_INTERVAL.max(now.elapsed() * SCAN_PAUSE_FACTOR);
        }
        self.admit().or_else(|error| self.note_shortage(error))
    }

    fn time_to_next_action(&self) -> Duration {
        if self.is_stopping() {
            return self.loop_config.scan_interval;
        }
        let is_full = self.host.shortage.reason().is_some();
        let mut next = self.next_rescan.min(self.next_cleanup);
        next = self.fitness.due().map_or(next, |due| next.min(due));
        let late = self.draft_delay.due(self.draft_signals.step().as_ref());
        next = late.map_or(next, |late| next.min(late));
        if is_full || self.scan_wanted {
            next = next.min(if is_full { self.next_space_check } else { self.next_scan });
        }
        let rest = next.saturating_duration_since(Instant::now());
        if is_full {
            // There is not enough space for a heartbeat either.
            return rest;
        }
        self.host.log.time_to_heartbeat(system::now()).map_or(rest, |beat| rest.min(beat))
    }

    fn handle(&mut self, event: LoopEvent) {
        match event {
            LoopEvent::Submitted => {
                // Before the look: a change during the look causes another one.
                self.has_queued_event.store(false, Ordering::SeqCst);
                self.empty_listing = None;
                self.scan_wanted = true;
            }
            LoopEvent::DraftsTaken => {
                self.empty_listing = None;
                self.scan_wanted = true;
            }
            // Each step of the loop compares the steps of the thread.
            LoopEvent::DraftsAnswered => {}
            // An unreadable trust store is reported at admission.
            LoopEvent::TrustChanged => self.scan_wanted |= self.renew_trust().is_ok(),
            LoopEvent::DraftThreadDied => self.fail(DaemonError::WorkerDied),
            LoopEvent::Reload => {
                let reloaded = self.reload().and_then(|()| self.probe());
                match reloaded.and_then(|()| self.try_accelerators()) {
                    Ok(()) => self.scan_wanted = true,
                    Err(error) => self.fail(error),
                }
            }
            LoopEvent::AcceleratorsTried(is_tried) => {
                self.handle_accelerators(is_tried).unwrap_or_else(|error| self.fail(error));
            }
            LoopEvent::Probed(probed) => {
                self.handle_probe(probed).unwrap_or_else(|error| self.fail(error));
            }
            LoopEvent::GateChanged => self.handle_gate_change(),
            LoopEvent::Stop => self.stop(),
            LoopEvent::StopNow => {
                self.stop();
                self.stop_state.is_immediate.store(true, Ordering::Relaxed);
            }
            LoopEvent::WorkerEnded(ended) => self.handle_worker_end(ended),
        }
    }
}
