//! Looks at the spool, queues new events and posts them, in turn. A slow receiver delays a look by
//! a bounded time; what happened meanwhile is found by the next one.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::limits::PostLimits;
use super::message::EventMessage;
use super::model::{NotifyForm, SpoolEvent};
use super::queue::NotifyQueue;
use super::receiver::EventReceiver;
use super::retry::PostOutcome;
use super::spool_look::{STOP_KEY, SpoolLook, SpoolReader, ended_event};
use super::state_file::NotifyState;
use crate::clock;
use crate::output;
use crate::random::random_bytes;

/// inotify is only a hint; the directories are read this often without one.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The interval while drafts are left for the next look.
const PARTIAL_INTERVAL: Duration = Duration::from_millis(500);
/// Limit of new results that one look reads. The next look reads the others.
const RESULTS_READ_MAX: usize = 64;
/// Limit of posts between two looks.
const POSTS_MAX: usize = 8;

pub(super) struct Notifier {
    pub(super) reader: SpoolReader,
    pub(super) receiver: EventReceiver,
    pub(super) state: NotifyState,
    pub(super) form: NotifyForm,
    pub(super) host: String,
    pub(super) progress: NotifyProgress,
}

/// The events of this process.
#[derive(Default)]
pub(super) struct NotifyProgress {
    queue: NotifyQueue,
    limits: PostLimits,
    /// The keys of the events that the last look found waiting.
    waiting: BTreeSet<String>,
    /// The problems of the last look, which are reported once.
    problems: Vec<String>,
    /// The last look left results for the next one.
    has_more_results: bool,
    /// Events that were refused or dropped.
    lost: u64,
}

impl Notifier {
    /// Looks once, and posts what is due. Returns the time until the next look.
    pub(super) fn step(&mut self) -> Duration {
        self.look();
        self.post_due(POSTS_MAX);
        let rest = if self.is_partial() { PARTIAL_INTERVAL } else { POLL_INTERVAL };
        let now = Instant::now();
        let next = self.progress.queue.next_attempt(now);
        next.map_or(rest, |next| next.max(self.progress.limits.rest(now)).min(rest))
    }

    /// Announces all events of the present, with one attempt each, until the first one fails or the
    /// limit of posts is reached. Returns whether all directories were read, and all was delivered.
    pub(super) fn announce_once(&mut self) -> bool {
        loop {
            self.look();
            self.post_due(usize::MAX);
            let NotifyProgress { queue, problems, lost, has_more_results, .. } = &self.progress;
            let has_more = *has_more_results || self.reader.has_more_drafts();
            if queue.len() > 0 || !has_more {
                return queue.len() == 0 && *lost == 0 && problems.is_empty();
            }
        }
    }

    fn is_partial(&self) -> bool {
        self.reader.is_partial() || self.progress.has_more_results
    }

    /// Queues the events that are neither announced nor queued.
    fn look(&mut self) {
        let SpoolLook { waiting, results, problems } = self.reader.look(clock::now());
        self.report(problems);
        self.progress.waiting = waiting.iter().map(|event| event.key.clone()).collect();
        self.progress.queue.keep_waiting(&self.progress.waiting);
        let stopped = self.progress.waiting.contains(STOP_KEY);
        if !stopped && self.state.announced.forget(STOP_KEY) {
            self.state.save();
        }
        let now = Instant::now();
        for event in waiting {
            let is_new =
                !self.state.announced.has(&event) && !self.progress.queue.contains(&event.key);
            // A later look finds the newest version of a draft that rests.
            if is_new && !self.progress.limits.is_resting(&event, now) {
                self.push(event);
            }
        }
        self.progress.has_more_results = false;
        if let Some(names) = results {
            self.look_at_results(&names);
        }
    }

    fn look_at_results(&mut self, names: &[String]) {
        if self.state.announced.adopt_results(names) {
            return self.state.save();
        }
        let mut left = RESULTS_READ_MAX;
        for name in names {
            if self.state.announced.has_result(name) {
                continue;
            }
            let event = ended_event(name, clock::now());
            if self.progress.queue.contains(&event.key) {
                continue;
            }
            if left == 0 {
                self.progress.has_more_results = true;
                return;
            }
            left -= 1;
            self.push(event);
        }
    }

    fn push(&mut self, mut event: SpoolEvent) {
        self.reader.complete(&mut event);
        let Some(dropped) = self.progress.queue.push(event) else { return };
        self.progress.lost = self.progress.lost.saturating_add(1);
        self.state.add(&dropped, &self.progress.waiting);
        let (lost, waiting) = (self.progress.lost, self.progress.queue.len());
        // The first, and then each hundredth: there may be very many.
        if lost % 100 == 1 {
            output::note(format_args!(
                "notify: {waiting} events wait, the oldest are dropped (lost: {lost}); help: \
                 repair the receiver"
            ));
        }
    }

    /// Prints the problems of a look, unless the last look had the same.
    fn report(&mut self, problems: Vec<String>) {
        if problems != self.progress.problems {
            for problem in &problems {
                output::note(format_args!(
                    "notify: {problem}; its events are not announced; help: give this user access, \
                     or leave them out with --on"
                ));
            }
            self.progress.problems = problems;
        }
    }

    /// Posts at most this many events, up to the first failed attempt or the limit of posts.
    fn post_due(&mut self, posts_max: usize) {
        for _ in 0..posts_max {
            let now = Instant::now();
            let Some(event) = self.progress.queue.due(now) else { return };
            let message = EventMessage::of(event, self.form, &self.host);
            if !self.progress.limits.rest(now).is_zero() {
                return self.sum_up(now);
            }
            self.progress.limits.add_post(now);
            match self.receiver.post(&message, clock::now()) {
                PostOutcome::Delivered => self.settle(),
                PostOutcome::Refused(reason) => {
                    self.progress.lost = self.progress.lost.saturating_add(1);
                    let lost = self.progress.lost;
                    output::note(format_args!(
                        "notify: the receiver {reason}; the event is dropped (lost: {lost}); help: \
                         check the address and --form"
                    ));
                    self.settle();
                }
                PostOutcome::Failed { reason, retry_after } => {
                    return self.postpone(&reason, retry_after);
                }
            }
        }
    }

    /// Posts the number of the events that wait. The events themselves are posted later.
    fn sum_up(&mut self, now: Instant) {
        if !self.progress.limits.may_sum_up(now) {
            return;
        }
        let (waiting, at) = (self.progress.queue.len(), clock::now());
        let message = EventMessage::more_wait(waiting, at, self.form, &self.host);
        if let PostOutcome::Failed { reason, retry_after } = self.receiver.post(&message, at) {
            return self.postpone(&reason, retry_after);
        }
        self.progress.limits.add_sum(now);
        output::note(format_args!(
            "notify: the limit of posts within a minute is reached; events that wait: {waiting}; \
             help: leave kinds of events out with --on"
        ));
    }

    /// Remembers the oldest event as announced, at once: a restart must not repeat it.
    fn settle(&mut self) {
        if let Some(event) = self.progress.queue.settle() {
            self.progress.limits.add_object(&event, Instant::now());
            self.state.add(&event, &self.progress.waiting);
        }
    }

    fn postpone(&mut self, reason: &str, retry_after: Option<Duration>) {
        // Without random numbers, the delay only varies less.
        let random = u16::from_be_bytes(random_bytes().unwrap_or_default());
        let delay = self.progress.queue.postpone(Instant::now(), retry_after, random);
        output::note(format_args!(
            "notify: the receiver {reason}; events that wait: {}; next attempt in {} s; help: \
             check the receiver and the network",
            self.progress.queue.len(),
            delay.as_secs().max(1)
        ));
    }
}
