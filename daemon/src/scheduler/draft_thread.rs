//! The thread that uses `signed/` and `drafts/`. Agents and the console write there. A process can
//! hold the lock of its own file for ever, by a write from a page of memory that never answers. No
//! signal ends the wait for such a lock. So the event loop never uses these directories, and never
//! waits for this thread. This thread must never hold a lock of the daemon while it uses them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use spool::Inbox;

use super::draft_delay::STEP_TIME_MAX;
use super::draft_signals::{DraftSignals, DraftWake};
use super::event::LoopEvent;
use super::model::{SignedActions, StandingDrafts};
use crate::model::DaemonError;
use crate::state::Daemon;
use crate::system;

/// The pause after a look is a multiple of its duration, within these bounds.
const PAUSE_FACTOR: u32 = 10;
const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// At the end of the daemon, the thread has this time to finish its step. An approver must sign an
/// interrupted action again.
const LAST_STEP_TIME_MAX: Duration = Duration::from_secs(3);

pub(super) struct DraftThread {
    pub(super) host: Arc<Daemon>,
    pub(super) approved: Arc<Inbox>,
    events: Sender<LoopEvent>,
    /// Set while an inotify event is queued.
    has_queued_event: Arc<AtomicBool>,
    pub(super) signals: Arc<DraftSignals>,
    pub(super) drafts: StandingDrafts,
    pub(super) signed: SignedActions,
    /// The time of the next look, if it must not wait for the event loop.
    pub(super) due: Option<Instant>,
}

/// The thread as the service sees it.
pub(super) struct DraftThreadHandle {
    pub(super) signals: Arc<DraftSignals>,
    /// Disconnected when the thread has ended.
    ended: Receiver<()>,
}

impl DraftThreadHandle {
    /// Removes the copies that a killed daemon left, and starts the thread. It waits for the first
    /// wake.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(
        host: Arc<Daemon>,
        approved: Arc<Inbox>,
        (events, has_queued_event): (Sender<LoopEvent>, Arc<AtomicBool>),
    ) -> Result<Self, DaemonError> {
        approved.remove_interrupted_copies();
        let signals = Arc::new(DraftSignals::default());
        let (has_ended, ended) = channel();
        let thread = DraftThread {
            host,
            approved,
            events,
            has_queued_event,
            signals: Arc::clone(&signals),
            drafts: StandingDrafts::default(),
            signed: SignedActions::new(system::now()),
            due: None,
        };
        let serve = move || {
            // Dropped last: the thread then uses nothing of the daemon.
            let _has_ended: Sender<()> = has_ended;
            let _guard = DraftThreadGuard(thread.events.clone());
            thread.serve();
        };
        // Not in the scope of the other threads: the end of the scope would wait for this one.
        let spawned = thread::Builder::new().name("drafts".to_owned()).spawn(serve);
        spawned.map_err(|error| DaemonError::System("start a thread", error))?;
        Ok(Self { signals, ended })
    }

    /// Lets the thread finish its step after the event loop has ended. If it is still in the step
    /// then, the process ends nevertheless. The kernel waits for the step before it removes the
    /// process and unlocks its files.
    pub(super) fn finish(self, host: &Daemon) {
        self.signals.stop();
        let waited = self.ended.recv_timeout(LAST_STEP_TIME_MAX);
        if waited != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let object = self.signals.step().map_or_else(String::new, |step| step.object);
        tracing::warn!(
            "{object}: no answer; the process ends when it answers; help: end the program that \
             writes to it or to its directory"
        );
        // Otherwise a launcher that is a child of this process would wait for the end of it too.
        host.rules().launcher.close();
    }
}

/// Reports a panic of the thread when it is dropped.
struct DraftThreadGuard(Sender<LoopEvent>);

impl Drop for DraftThreadGuard {
    fn drop(&mut self) {
        if thread::panicking() && self.0.send(LoopEvent::DraftThreadDied).is_err() {
            tracing::debug!("the thread of drafts panicked after the event loop");
        }
    }
}

impl DraftThread {
    fn serve(mut self) {
        loop {
            match self.signals.wait(self.due.take()) {
                DraftWake::Stopped => return,
                DraftWake::Wanted => self.drafts.has_changed = true,
                DraftWake::Due => {}
            }
            let begun = Instant::now();
            self.look();
            self.signals.end_step();
            let time = begun.elapsed();
            if time >= STEP_TIME_MAX {
                self.send(LoopEvent::DraftsAnswered);
            }
            self.signals.pause(time.saturating_mul(PAUSE_FACTOR).clamp(PAUSE_MIN, PAUSE_MAX));
        }
    }

    fn look(&mut self) {
        if !self.is_approved_open() {
            // The event loop reports it, and the next look tries again.
            return;
        }
        self.take_signed_actions();
        if !self.signals.is_stopped() {
            self.take_standing_drafts();
        }
    }

    /// If `approved/` was replaced, opens it again.
    fn is_approved_open(&mut self) -> bool {
        if self.approved.is_in_place() {
            return true;
        }
        let opened = Inbox::open(self.approved.path());
        let checked = opened.and_then(|inbox| inbox.check_removable().map(|()| inbox));
        let Ok(inbox) = checked else { return false };
        self.approved = Arc::new(inbox);
        true
    }

    /// Notes the file or directory that is used next.
    pub(super) fn begin_step(&self, path: &Path) {
        self.signals.begin_step(path.display().to_string());
    }

    /// Sets a time for the next look, which then does not wait for the event loop.
    pub(super) fn look_again_in(&mut self, time: Duration) {
        let at = Instant::now() + time;
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    pub(super) fn send(&self, event: LoopEvent) {
        if self.events.send(event).is_err() {
            tracing::debug!("an event of the thread of drafts after the end of the event loop");
        }
    }

    /// Returns the ends of a watch of another directory.
    pub(super) fn watch_ends(&self) -> (Sender<LoopEvent>, Arc<AtomicBool>) {
        (self.events.clone(), Arc::clone(&self.has_queued_event))
    }
}
