//! The daemon's loop: what is dropped is taken, several at once and fair between those who drop, until it
//! is told to stop. It schedules and runs nothing itself; a worker takes each request to its end.
//!
//! The directory is the truth. It is looked at after the watch is set, after every hint, and every so often
//! without one; what is remembered between two looks is bounded, however many wait.

mod admit;
mod fitness;
mod look;
mod reload;
mod room;
mod said;
mod tidy;
mod watch;
mod window;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use model::UtcTime;
use notify::RecommendedWatcher;
use spool::retention::Keep;
use spool::{DaemonState, Dropbox, Order, Originals};

use crate::edge;
use crate::flow::Why;
use crate::held::{self, Dropped, HeldRequests, Standing};
use crate::host::Host;
use crate::metrics::{MetricsSettings, StoppedBy};
use crate::model::{Halt, PermissionFiled};
use crate::transition::{self, Fields, Transition};
use fitness::Fitness;
use said::Said;
use watch::Event;
use window::Window;
use worker::{Ended, Orders, Taken, Word};

/// How often an idle loop lets go of what is kept for later runs and too old.
const TIDYING_INTERVAL: Duration = Duration::from_secs(3600);

/// Between two looks at the directory lies at least this, and so many times what the last one took.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
const LOOK_SHARE: u32 = 10;

/// How a daemon goes about its work.
pub struct Pace {
    /// At least so often the directory itself is looked at.
    pub rescan: Duration,
    /// How long runs may go on after the word to stop.
    pub drain: Duration,
    /// Requests on their way at once, from claim to published record.
    pub in_flight_max: usize,
    /// How much of what was run and refused is kept.
    pub keep: Keep,
}

/// A daemon at work on one spool.
pub struct Service {
    host: Host,
    dropbox: Dropbox,
    pace: Pace,
    config: PathBuf,
    metrics: MetricsSettings,
}

/// Which object a name meant when it was looked at.
type Identity = (u64, i64, i64);

impl Service {
    /// `config` is what is read again when that is asked for.
    #[must_use]
    pub fn new(
        host: Host,
        dropbox: Dropbox,
        pace: Pace,
        config: PathBuf,
        metrics: MetricsSettings,
    ) -> Self {
        Self { host, dropbox, pace, config, metrics }
    }

    /// Runs until it is told to stop; runs in flight are drained first.
    ///
    /// # Errors
    /// [`Halt`]: our own disk or key failed; nothing more was admitted.
    pub fn run(self) -> Result<(), Halt> {
        let Self { host, dropbox, pace, config, metrics } = self;
        let said = Said::new(&host, metrics)?;
        let now = AtomicBool::new(false);
        let orders = Orders { stopped: OnceLock::new(), drain: pace.drain, now };
        let (send, events) = channel();
        watch::listen(send.clone())?;
        let served = thread::scope(|scope| {
            let hinted = Arc::new(AtomicBool::new(false));
            let watcher = watch::watch(dropbox.path(), send.clone(), Arc::clone(&hinted));
            let now = Instant::now();
            let mut at_work = AtWork {
                scope,
                host: &host,
                orders: &orders,
                dropbox: Arc::new(dropbox),
                watcher,
                hinted,
                send,
                pace,
                config,
                window: Window::default(),
                companions: BTreeMap::new(),
                in_flight: BTreeMap::new(),
                held: HeldRequests::default(),
                left_alone: BTreeMap::new(),
                empty: None,
                look_wanted: true,
                next_look: now,
                next_rescan: now,
                next_tidying: now,
                tidying: None,
                next_room_look: now,
                halted: None,
                fitness: Fitness::default(),
                said,
            };
            at_work.serve(&events)
        });
        host.give_up_ready();
        served
    }
}

/// The loop, and what it remembers.
struct AtWork<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    host: &'env Host,
    orders: &'env Orders,
    dropbox: Arc<Dropbox>,
    watcher: Option<RecommendedWatcher>,
    /// A hint is on its way that nobody has heard yet.
    hinted: Arc<AtomicBool>,
    send: Sender<Event>,
    pace: Pace,
    config: PathBuf,
    window: Window,
    /// What lay beside the requests of the window at the last look.
    companions: BTreeMap<String, BTreeSet<OsString>>,
    in_flight: BTreeMap<String, InFlight>,
    held: HeldRequests,
    /// Objects that were answered and could not be taken away, by name: left alone until they change.
    left_alone: BTreeMap<String, Identity>,
    /// As long as it is this, a rescan need not list it.
    empty: Option<look::Empty>,
    look_wanted: bool,
    /// Not before then: a look at thousands must not be all that is done.
    next_look: Instant,
    next_rescan: Instant,
    next_tidying: Instant,
    tidying: Option<ScopedJoinHandle<'scope, ()>>,
    /// Not before then it is tried whether there is room again.
    next_room_look: Instant,
    halted: Option<Halt>,
    fitness: Fitness,
    said: Said,
}

/// What is known of a request while a worker has it.
struct InFlight {
    identity: Identity,
    standing: Standing,
    dropped: Dropped,
    until: UtcTime,
    word: Arc<Word>,
}

impl AtWork<'_, '_> {
    fn serve(&mut self, events: &Receiver<Event>) -> Result<(), Halt> {
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
                    // All that came meanwhile is answered by the one look that follows.
                    while let Ok(event) = events.try_recv() {
                        self.hear(event);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Not while this loop has an end of it itself.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(self.rest()),
            }
        }
    }

    /// What an earlier daemon left is told to its end before anything is taken.
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
        self.said.ready();
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
        self.said.last_numbers(self.host);
        transition::log(how, &Fields { reason: why.as_deref(), ..Fields::default() });
        halted.map_or(Ok(()), Err)
    }

    /// Does what is due, and takes what there is room for.
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
        match self.host.log.beat(edge::now(), edge::boot_id) {
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

    /// How long there is nothing to do, if nothing comes.
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
            // There is no room for a heartbeat either.
            return rest;
        }
        self.host.log.beats_in(edge::now()).map_or(rest, |beat| rest.min(beat))
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Dropped => {
                // Before the look: what comes during it is a reason for the next one.
                self.hinted.store(false, Ordering::SeqCst);
                self.empty = None;
                self.look_wanted = true;
            }
            Event::Reload => match self.reload().and_then(|()| self.probe()) {
                Ok(()) => self.look_wanted = true,
                Err(halt) => self.halt(halt),
            },
            Event::Probed(probed) => {
                self.hear_probed(probed).unwrap_or_else(|halt| self.halt(halt));
            }
            Event::Stop => self.stop(),
            Event::StopNow => {
                self.stop();
                self.orders.now.store(true, Ordering::Relaxed);
            }
            Event::Ended(ended) => self.hear_ended(ended),
        }
    }

    fn hear_ended(&mut self, ended: Ended) {
        let Ended { name, taken } = ended;
        let Some(InFlight { identity, standing, dropped, until, .. }) =
            self.in_flight.remove(&name)
        else {
            return;
        };
        match taken {
            Some(Ok(Taken::Answered(originals))) => {
                self.forget_held(&name);
                // Dropped again while it was on its way.
                self.look_wanted |= self.dropbox.identity(&name).is_some();
                let request = Some(spool::stem_of(&name).unwrap_or(&name));
                if let Originals::Left(error) = originals {
                    if let Some(want) = error.want() {
                        self.host.room_wanted.note(want, &error);
                        self.host.room_wanted.unsettle();
                    }
                    let why = format!("{error}; recorded, and left alone until it changes");
                    let fields = Fields { request, reason: Some(&why), ..Fields::default() };
                    transition::log(Transition::LeftAlone, &fields);
                    self.left_alone.insert(name, identity);
                } else {
                    transition::log(Transition::Departed, &Fields { request, ..Fields::default() });
                }
            }
            Some(Ok(Taken::Held(waits_for, asked))) => {
                // Of whom nobody was asked is looked at again, whatever else stays as it is.
                let known = self.held.release(&name);
                let standing = match asked {
                    PermissionFiled::Yes => standing,
                    PermissionFiled::NotYet => held::never(),
                };
                self.held.hold(&name, (standing, until), dropped);
                // Something may have come while it was on its way.
                self.look_wanted |= asked == PermissionFiled::Yes;
                let told = held::told(dropped.at, until, &waits_for);
                held::told_or_warned(self.host.spool.tell_held(&name, &told));
                for one in waits_for.iter().filter(|_| !known) {
                    let (code, why) =
                        (one.code.as_str(), format!("until {until}: {}", one.message));
                    let fields = Fields {
                        request: Some(spool::stem_of(&name).unwrap_or(&name)),
                        code: Some(&code),
                        reason: Some(&why),
                        ..Fields::default()
                    };
                    transition::log(Transition::Held, &fields);
                }
            }
            Some(Ok(Taken::Left(why))) => {
                self.look_wanted = true;
                if let Why::Wanting(want) = why {
                    self.host.room_wanted.note(want, &"a request could not go on");
                }
            }
            Some(Err(halt)) => self.halt(halt),
            None => self.halt(Halt::WorkerDied),
        }
    }

    fn forget_held(&mut self, name: &str) {
        if self.held.release(name) {
            held::told_or_warned(self.host.spool.forget_held(name));
        }
    }

    fn is_stopping(&self) -> bool {
        self.orders.stopped.get().is_some()
    }

    /// Nothing more is begun; what runs may run out.
    fn stop(&mut self) {
        self.host.room_wanted.stop();
        if self.orders.stopped.set(Instant::now()).is_ok() {
            transition::log(Transition::Draining, &Fields::default());
            self.host.telling.metrics.admission(Some(StoppedBy::Drain));
            self.said.stopping();
        }
    }

    /// What can be finished is finished; the first reason is the one that is told last.
    fn halt(&mut self, halt: Halt) {
        tracing::error!("{halt}; nothing more is admitted");
        if self.halted.is_none() {
            self.halted = Some(halt);
        }
        self.stop();
    }

    /// Tells the worker of a request what its operators want of it by now.
    fn pass_on(&self, name: &str, ordered: Order) {
        let Some(InFlight { word, .. }) = self.in_flight.get(name) else { return };
        let told = match ordered {
            Order::Cancel => &word.end,
            Order::Hold => &word.leave,
            Order::Release => return,
        };
        if !told.swap(true, Ordering::Relaxed) && ordered == Order::Cancel {
            let fields = Fields { request: spool::stem_of(name), ..Fields::default() };
            transition::log(Transition::Cancelled, &fields);
        }
    }
}
