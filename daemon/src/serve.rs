//! The daemon's loop: what is dropped is taken, one request after the other, until it is told to stop.
//!
//! inotify is only a hint; the directory is the truth. It is looked at after the watch is set, after
//! every hint, and every so often without one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use policies::Submission;
use spool::{Dropbox, Originals, SpoolError, Waiting};
use validator::{Code, UtcTime, Violation};

use crate::edge;
use crate::flow::{Answer, Ask, Told};
use crate::held::{self, Dropped, HeldRequests, Patience};
use crate::host::{Halt, Host};
use crate::permissions::Asked;
use crate::verdicts::has_error;

/// How long the loop sleeps at most before it looks whether it is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(200);
/// How often an idle loop lets go of what is kept for later runs and too old.
const TIDYING_INTERVAL: Duration = Duration::from_secs(3600);

/// Set from outside (a signal) to end the service.
pub type Stop = Arc<AtomicBool>;

/// A daemon at work on one spool.
pub struct Service {
    host: Host,
    dropbox: Dropbox,
    rescan: Duration,
    drain: Duration,
    stop: Stop,
    /// Objects that were answered and could not be taken away, by name: left alone until they change.
    left_alone: BTreeMap<String, Identity>,
    held: HeldRequests,
}

/// What became of one object in `approved/`, for now.
enum Taken {
    Answered(Originals),
    Held(Vec<Violation>, Asked),
}

/// Which object a name meant when it was looked at.
type Identity = Option<(u64, i64, i64)>;

impl Service {
    #[must_use]
    pub fn new(
        host: Host,
        dropbox: Dropbox,
        rescan: Duration,
        drain: Duration,
        stop: Stop,
    ) -> Self {
        Self {
            host,
            dropbox,
            rescan,
            drain,
            stop,
            left_alone: BTreeMap::new(),
            held: HeldRequests::default(),
        }
    }

    /// Runs until it is told to stop; a run in flight is drained first.
    ///
    /// # Errors
    /// [`Halt`]: our own disk or key failed; nothing more was admitted.
    pub fn run(mut self) -> Result<(), Halt> {
        let served = self.serve();
        self.host.give_up_ready();
        served
    }

    fn serve(&mut self) -> Result<(), Halt> {
        self.dropbox.insist_on_ours()?;
        for name in self.host.recover()?.left {
            let identity = self.dropbox.identity(&name);
            self.left_alone.insert(name, identity);
        }
        held::told_or_warned(self.host.spool.forget_all_held());
        let (hints, _watcher) = self.watch();
        tracing::info!(approved = %self.dropbox.path().display(), "ready");
        let mut next_look = Instant::now();
        let mut next_tidying = Instant::now() + TIDYING_INTERVAL;
        while !self.stopping() {
            self.host.log.beat(edge::now(), edge::boot_id)?;
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
                Err(RecvTimeoutError::Timeout) if Instant::now() >= next_tidying => {
                    self.host.spool.expire_inputs();
                    next_tidying = Instant::now() + TIDYING_INTERVAL;
                }
                Err(RecvTimeoutError::Timeout) => self.host.renew_ready(),
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
        let watched = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // Our own looking opens the directory, which is an event too.
            if event.as_ref().is_ok_and(is_only_a_look) {
                return;
            }
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
        self.left_alone.retain(|name, _| waiting.iter().any(|one| one.name() == name));
        for gone in self.held.forget_others(|name| waiting.iter().any(|one| one.name() == name)) {
            held::told_or_warned(self.host.spool.forget_held(&gone));
        }
        self.take_answers()?;
        let sets = self.dropbox.sets()?;
        for one in waiting {
            if self.stopping() {
                return Ok(());
            }
            let identity = self.dropbox.identity(one.name());
            if self.left_alone.get(one.name()) == Some(&identity) {
                continue;
            }
            if let Err(error) = self.host.trust.refresh() {
                tracing::error!("{error}; nothing is admitted until it is mended");
                return Ok(());
            }
            if let Err(error) = self.host.spool.keep_reserve() {
                if error.is_full() {
                    tracing::error!("{error}; nothing is admitted until there is room");
                    return Ok(());
                }
                return Err(error.into());
            }
            let name = one.name().to_owned();
            let files = spool::stem_of(&name).and_then(|stem| sets.get(stem));
            let standing = held::standing(files, &self.host.standing()?);
            if self.held.rests(&name, standing, edge::now()) {
                continue;
            }
            let now = held::dropped_now(&self.dropbox, &name);
            let now = now.unwrap_or(Dropped { inode: 0, at: edge::now() });
            let dropped = self.held.dropped(&name, now.inode).unwrap_or(now);
            let since = dropped.at;
            let until = self.host.held_until(since);
            match self.take(&one, until)? {
                Taken::Answered(originals) => {
                    self.release(&name);
                    if let Originals::Left(error) = originals {
                        tracing::warn!("{error}; answered, and left alone until it changes");
                        self.left_alone.insert(name, identity);
                    }
                }
                Taken::Held(waits_for, asked) => {
                    // Of whom nobody was asked is looked at again, whatever else stays as it is.
                    let known = self.held.release(&name);
                    if asked == Asked::Yes {
                        self.held.hold(&name, (standing, until), dropped);
                    }
                    let told = held::told(since, until, &waits_for);
                    held::told_or_warned(self.host.spool.tell_held(&name, &told));
                    for one in waits_for.iter().filter(|_| !known) {
                        let code = one.code.as_str();
                        tracing::info!(%code, %until, "{name}: held: {}", one.message);
                    }
                }
            }
        }
        Ok(())
    }

    /// Before the requests: one of them may wait for such an answer.
    fn take_answers(&mut self) -> Result<(), Halt> {
        let host = &mut self.host;
        let Some(permissions) = &mut host.permissions else { return Ok(()) };
        // By whose keys there are now; a trust store that cannot be read is told with the requests.
        if host.trust.refresh().is_ok() {
            let places = (&host.spool, &self.dropbox);
            permissions.take_answers(places, &host.policy, host.trust.signers())?;
        }
        Ok(())
    }

    fn release(&mut self, name: &str) {
        if self.held.release(name) {
            held::told_or_warned(self.host.spool.forget_held(name));
        }
    }

    fn take(&mut self, one: &Waiting, until: UtcTime) -> Result<Taken, Halt> {
        let name = match one {
            Waiting::Request(name) => name,
            Waiting::Odd(name) => {
                let message = format!("{name}: no request can have this name");
                return self.refuse_object(name, Code::SchemaFileName, message);
            }
        };
        let id = edge::new_claim_id()?;
        let claimed = self.host.spool.claim_dropped(&self.dropbox, name, id);
        let (draft, claimed) = match claimed {
            Ok(claimed) => claimed,
            Err(error @ SpoolError::FileKind { .. }) => {
                return self.refuse_object(name, Code::SpoolFileKind, error.to_string());
            }
            Err(error @ SpoolError::TooLarge { .. }) => {
                return self.refuse_object(name, Code::TextTooLarge, error.to_string());
            }
            Err(error) if error.path().starts_with(self.dropbox.path()) => {
                if error.is_missing() {
                    return Ok(Taken::Answered(Originals::Gone));
                }
                return self.refuse_object(name, Code::SpoolFileKind, error.to_string());
            }
            Err(error) => return Err(error.into()),
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
        let patience = Patience::Until(until);
        let ask = Ask { draft, claimed, submission, at: edge::now(), patience };
        let told = match self.host.process(ask, &mut cancelled)? {
            Answer::Told(told) => told,
            Answer::Held(waits_for, asked) => return Ok(Taken::Held(waits_for, asked)),
        };
        report(name, &told);
        self.host.make_ready();
        Ok(Taken::Answered(told.originals))
    }

    /// What is no file that can be read gets its answer too, and goes out of the way as it is.
    fn refuse_object(&mut self, name: &str, code: Code, message: String) -> Result<Taken, Halt> {
        let shown = validator::escape_line(&message);
        let id = edge::new_claim_id()?;
        let Some(claimed) = self.host.spool.claim_object(&self.dropbox, name, id)? else {
            return Ok(Taken::Answered(Originals::Gone));
        };
        let violations = [Violation::error(code, message)];
        let published = self.host.refuse_unread(name, &violations, Some(&claimed))?;
        tracing::warn!(record = %published.receipt.path().display(), "refused: {shown}");
        let gone = self.host.spool.quarantine_object(claimed, &published.receipt)?;
        Ok(Taken::Answered(gone))
    }
}

/// Opening, reading and closing without a write say nothing of the directory's content.
fn is_only_a_look(event: &Event) -> bool {
    use notify::event::{AccessKind, AccessMode, EventKind};
    let quiet = matches!(
        event.kind,
        EventKind::Access(
            AccessKind::Open(_) | AccessKind::Read | AccessKind::Close(AccessMode::Read)
        )
    );
    quiet && !event.need_rescan()
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
