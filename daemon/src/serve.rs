//! The daemon's loop: what is dropped is taken, one request after the other, until it is told to stop.
//!
//! inotify is only a hint; the directory is the truth. It is looked at after the watch is set, after
//! every hint, and every so often without one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use policies::Submission;
use records::Subject;
use sandbox::outcome::Outcome;
use spool::{Dropbox, SpoolError};
use validator::{Code, Violation};

use crate::edge;
use crate::flow::{Ask, Told, has_error, unreadable_id};
use crate::host::{Halt, Host};
use crate::tell::{Decided, Story};

/// How long the loop sleeps at most before it looks whether it is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(200);

/// Set from outside (a signal) to end the service.
pub type Stop = Arc<AtomicBool>;

/// A daemon at work on one spool.
pub struct Service {
    host: Host,
    dropbox: Dropbox,
    rescan: Duration,
    drain: Duration,
    stop: Stop,
    /// Names that cannot be read now, told once and left alone.
    left_alone: BTreeSet<String>,
}

impl Service {
    #[must_use]
    pub fn new(
        host: Host,
        dropbox: Dropbox,
        rescan: Duration,
        drain: Duration,
        stop: Stop,
    ) -> Self {
        Self { host, dropbox, rescan, drain, stop, left_alone: BTreeSet::new() }
    }

    /// Runs until it is told to stop; a run in flight is drained first.
    ///
    /// # Errors
    /// [`Halt`]: our own disk or key failed; nothing more was admitted.
    pub fn run(mut self) -> Result<(), Halt> {
        self.host.recover()?;
        let (hints, _watcher) = self.watch();
        tracing::info!(approved = %self.dropbox.path().display(), "ready");
        let mut next_look = Instant::now();
        while !self.stopping() {
            if Instant::now() >= next_look {
                self.take_all()?;
                next_look = Instant::now() + self.rescan;
            }
            match hints.recv_timeout(STOP_INTERVAL) {
                Ok(()) => {
                    // Every hint that came meanwhile is answered by the one look that follows.
                    while hints.try_recv().is_ok() {}
                    next_look = Instant::now();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(STOP_INTERVAL),
            }
        }
        tracing::info!("stopped");
        Ok(())
    }

    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Hints, if the kernel gives any; without them the rescan alone finds everything, later.
    fn watch(&self) -> (Receiver<()>, Option<RecommendedWatcher>) {
        let (send, hints) = channel();
        let watched = notify::recommended_watcher(move |_| {
            // A receiver that is gone has no use for hints.
            if send.send(()).is_err() {
                tracing::debug!("hint after the end");
            }
        })
        .and_then(|mut watcher| {
            watcher.watch(self.dropbox.path(), RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        match watched {
            Ok(watcher) => (hints, Some(watcher)),
            Err(error) => {
                tracing::warn!(%error, "no hints from the kernel; looking every rescan_sec only");
                (hints, None)
            }
        }
    }

    fn take_all(&mut self) -> Result<(), Halt> {
        let waiting = self.dropbox.waiting()?;
        self.left_alone.retain(|name| waiting.contains(name));
        for name in waiting {
            if self.stopping() {
                return Ok(());
            }
            if !self.left_alone.contains(&name) {
                self.take(name)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, name: String) -> Result<(), Halt> {
        let id = edge::new_claim_id()?;
        let claimed = self.host.spool.claim_dropped(&self.dropbox, &name, id);
        let (draft, claimed) = match claimed {
            Ok(claimed) => claimed,
            Err(error @ (SpoolError::FileKind { .. } | SpoolError::TooLarge { .. })) => {
                return self.refuse_object(&name, &error);
            }
            Err(error) if error.is_full() => return Err(error.into()),
            Err(error) if error.is_missing() => return Ok(()),
            Err(error) => {
                tracing::warn!(%error, "left alone");
                self.left_alone.insert(name);
                return Ok(());
            }
        };
        let owner = draft.owner();
        let owner_name = edge::user_name(owner.get());
        let submission = Submission::Dropped { owner, owner_name };
        let (stop, drain) = (Arc::clone(&self.stop), self.drain);
        let mut stopped_at = None;
        let mut cancelled = || {
            if stop.load(Ordering::Relaxed) {
                let at = *stopped_at.get_or_insert_with(Instant::now);
                return at.elapsed() >= drain;
            }
            false
        };
        let told = self.host.process(Ask { draft, claimed, submission }, &mut cancelled)?;
        report(&name, &told);
        Ok(())
    }

    /// What is no file that can be read gets its answer too, and goes out of the way as it is.
    fn refuse_object(&mut self, name: &str, error: &SpoolError) -> Result<(), Halt> {
        let code = match error {
            SpoolError::TooLarge { .. } => Code::TextTooLarge,
            _ => Code::SpoolFileKind,
        };
        let violations = [Violation::error(code, error.to_string())];
        let result = self.host.draft_result(unreadable_id)?;
        let decided = Decided::nothing();
        let subject = Subject::Unusable { file_name: name, bytes: b"", request_id: None };
        let story = Story {
            outcome: Outcome::Refused,
            violations: &violations,
            decided: &decided,
            ..Story::of(subject, &[])
        };
        let receipt = self.host.tell(&story, result)?;
        tracing::warn!(%error, record = %receipt.path().display(), "refused");
        Ok(self.host.spool.quarantine_object(&self.dropbox, name, &receipt)?)
    }
}

fn report(name: &str, told: &Told) {
    let record = told.receipt.path().display();
    if has_error(&told.violations) {
        for violation in &told.violations {
            let (code, message) = (violation.code.as_str(), &violation.message);
            tracing::warn!(%code, "{name}: {message}");
        }
    }
    match &told.reason {
        Some(reason) => {
            tracing::warn!(outcome = %told.outcome, %record, "{name}: {reason}");
        }
        None => tracing::info!(outcome = %told.outcome, exit = told.exit_code, %record, "{name}"),
    }
    if !told.degraded.is_empty() {
        tracing::warn!(layers = told.degraded.join(" "), "{name}: ran without these, by exception");
    }
}
