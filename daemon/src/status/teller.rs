//! Publishes the daemon's status in `public/`: its state, policy, requests in flight and waiting
//! requests. Only the event loop uses it. A change of state is written at once; counts and waiting
//! requests are written at most once per second, so that load causes no extra writes. A request
//! that ends before a reader could notice it is never published.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{RequestId, Sha256, UtcTime};
use policies::Policy;
use spool::{
    Counts, DaemonState, Running, Seat, Spool, SpoolError, Status, TellsPolicy, ToldWaiting,
    WaitsSince,
};

/// The shortest interval between two updates of counts.
const TELL_INTERVAL: Duration = Duration::from_secs(1);
/// A request in flight is published after this time.
const TELL_AFTER: Duration = Duration::from_millis(200);

/// The present status of the daemon.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    pub state: DaemonState,
    /// The reason of a halt, or a detail of the state.
    pub why: Option<&'a str>,
    /// The reason why a serving daemon admits nothing.
    pub admission_stopped: Option<&'a str>,
    pub counts: Counts,
    /// The limit on concurrent runs.
    pub runs_max: u64,
    /// Memory promised to the runs in flight, in bytes; the limit follows.
    pub memory_bytes_promised: u64,
    pub memory_bytes_max: Option<u64>,
    pub policy: &'a Policy,
}

/// The publisher, with the last published values.
pub struct StatusTeller {
    seat: Seat,
    started: UtcTime,
    told: Option<(Instant, Status)>,
    /// The digest of the published policy.
    policy: Option<Sha256>,
    in_flight: BTreeMap<RequestId, (Instant, Running)>,
    waiting: (Vec<WaitsSince>, bool),
    /// The time of the last update of the waiting requests.
    waiting_at: Option<Instant>,
}

impl StatusTeller {
    /// Returns a publisher that has published nothing.
    #[must_use]
    pub fn new(started: UtcTime) -> Self {
        Self {
            seat: Seat::here(),
            started,
            told: None,
            in_flight: BTreeMap::new(),
            policy: None,
            waiting: (Vec::new(), true),
            waiting_at: None,
        }
    }

    /// Publishes the status if it has changed; `at` is the present on the monotonic clock. Returns
    /// the time of the next call if a change came too soon after the last update.
    pub fn tell(
        &mut self,
        spool: &Spool,
        how: &How<'_>,
        now: UtcTime,
        at: Instant,
    ) -> Option<Instant> {
        let status = self.status(how, now);
        if let Some((last, told)) = &self.told {
            // Compares all fields except the time and the counts.
            let (counts, at_utc) = (status.counts, told.at_utc.clone());
            let numbers = (counts, status.memory_bytes_promised);
            let same_numbers = numbers == (told.counts, told.memory_bytes_promised);
            let same_state = *told
                == Status {
                    at_utc,
                    counts: told.counts,
                    memory_bytes_promised: told.memory_bytes_promised,
                    ..status.clone()
                };
            let due = *last + TELL_INTERVAL;
            match (same_state, same_numbers) {
                (true, true) => return None,
                (true, false) if at < due => return Some(due),
                _ => {}
            }
        }
        // The policy file must be written before the status that names it.
        let policy = how.policy.sha256();
        if self.policy != Some(policy) && told_or_warned(spool.tell_policy(how.policy)) {
            self.policy = Some(policy);
        }
        told_or_warned(spool.tell_status(&status));
        self.told = Some((at, status));
        None
    }

    fn status(&self, how: &How<'_>, now: UtcTime) -> Status {
        Status {
            seat: self.seat.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_utc: self.started.to_string(),
            at_utc: now.to_string(),
            state: how.state,
            why: how.why.map(str::to_owned),
            admission_stopped: how.admission_stopped.map(str::to_owned),
            counts: how.counts,
            runs_max: how.runs_max,
            memory_bytes_promised: how.memory_bytes_promised,
            memory_bytes_max: how.memory_bytes_max,
            policy: TellsPolicy {
                name: how.policy.name().to_owned(),
                sha256: how.policy.sha256().to_string(),
            },
        }
    }

    /// Publishes all requests in flight, each with the time of its claim. A request that has left
    /// the list is removed; its record must be published before. Returns the time of the next call.
    pub fn tell_in_flight(
        &mut self,
        spool: &Spool,
        in_flight: impl Iterator<Item = (RequestId, Instant, Running)>,
        at: Instant,
    ) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let mut before = std::mem::take(&mut self.in_flight);
        for (id, claimed, running) in in_flight {
            let told = before.remove(&id);
            let due = match &told {
                Some((_, said)) if *said == running => None,
                Some((last, said)) if is_as_far(said, &running) => Some(*last + TELL_INTERVAL),
                Some((last, _)) => Some(*last + TELL_AFTER),
                None => Some(claimed + TELL_AFTER),
            };
            match (due, told) {
                (Some(due), told) if at < due => {
                    next = Some(next.map_or(due, |next| next.min(due)));
                    self.in_flight.extend(told.map(|told| (id, told)));
                }
                (None, Some(told)) => {
                    self.in_flight.insert(id, told);
                }
                _ => {
                    told_or_warned(spool.tell_running(&running));
                    self.in_flight.insert(id, (at, running));
                }
            }
        }
        for id in before.keys() {
            told_or_warned(spool.forget_running(id));
        }
        next
    }

    /// Publishes the waiting requests if they have changed. `look` returns them, and whether the
    /// list is complete. Returns the time of the next call.
    pub fn tell_waiting(
        &mut self,
        spool: &Spool,
        look: impl FnOnce() -> (Vec<WaitsSince>, bool),
        now: UtcTime,
        at: Instant,
    ) -> Option<Instant> {
        let due = self.waiting_at.map(|last| last + TELL_INTERVAL);
        if let Some(due) = due.filter(|due| at < *due) {
            return Some(due);
        }
        let looked = look();
        if looked != self.waiting {
            let (waiting, whole) = looked;
            let told = ToldWaiting { at_utc: now.to_string(), whole, waiting };
            let is_told = told_or_warned(match told.waiting.is_empty() {
                true => spool.forget_waiting(),
                false => spool.tell_waiting(&told),
            });
            if is_told {
                self.waiting = (told.waiting, whole);
            }
            self.waiting_at = Some(at);
        }
        None
    }

    /// Returns the time of the next call while `at_work` requests are in progress: a worker's
    /// progress does not wake the event loop.
    #[must_use]
    pub fn look_again(at_work: usize) -> Option<Instant> {
        (at_work > 0).then(|| Instant::now() + TELL_AFTER)
    }
}

/// Returns whether only resource figures differ.
fn is_as_far(told: &Running, now: &Running) -> bool {
    (told.step, &told.step_since_utc, told.time_sec_max)
        == (now.step, &now.step_since_utc, now.time_sec_max)
}

/// Returns whether a write succeeded. Only readers depend on it. A full disk fails every write, so
/// that one warning is logged until a write succeeds again.
fn told_or_warned(told: Result<(), SpoolError>) -> bool {
    static FAILS: AtomicBool = AtomicBool::new(false);
    match &told {
        Ok(()) => FAILS.store(false, Ordering::Relaxed),
        Err(error) if !FAILS.swap(true, Ordering::Relaxed) => {
            tracing::warn!("the files in public/ are out of date: {error}");
        }
        Err(_) => {}
    }
    told.is_ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use spool::{Alive, Places, Step, daemon_alive, running_in, told_status};

    use super::*;

    fn places(name: &str) -> Places {
        let root = std::env::temp_dir().join(format!("toolexec-{name}-{}", std::process::id()));
        let at = |part: &str| -> PathBuf { root.join(part) };
        Places {
            state: at("state"),
            spool: at("spool"),
            results: at("spool/results"),
            log: at("spool/log"),
        }
    }

    fn ended(places: &Places) {
        std::fs::remove_dir_all(places.spool.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_state_is_told_at_once_and_numbers_when_they_are_due() {
        let places = places("status");
        let spool = Spool::open_for_daemon(&places).unwrap();
        let policy = Policy::shipped("embedded").unwrap();
        let now = UtcTime::from_unix(1_800_000_000);
        let mut how = How {
            state: DaemonState::Serving,
            why: None,
            admission_stopped: None,
            counts: Counts::default(),
            runs_max: 2,
            memory_bytes_promised: 0,
            memory_bytes_max: None,
            policy: &policy,
        };
        let mut teller = StatusTeller::new(now);
        let begun = Instant::now();
        assert_eq!(teller.tell(&spool, &how, now, begun), None);
        let told = told_status(&places.spool).unwrap();
        assert_eq!(spool::told_policy(&places.spool).unwrap().sha256(), policy.sha256());
        assert_eq!(told.policy.sha256, policy.sha256().to_string());
        assert_eq!(told.state, DaemonState::Serving);
        assert_eq!(daemon_alive(&places.spool, Some(&told)), Alive::Yes(Some(told.seat.pid)));

        assert_eq!(teller.tell(&spool, &how, UtcTime::from_unix(1_800_000_009), begun), None);
        assert_eq!(told_status(&places.spool).unwrap(), told, "nothing changed but the time");
        how.counts.waiting = 3;
        let due = begun + TELL_INTERVAL;
        let before = due - Duration::from_nanos(1);
        assert_eq!(teller.tell(&spool, &how, now, before), Some(due));
        assert_eq!(told_status(&places.spool).unwrap().counts.waiting, 0);
        how.admission_stopped = Some("no room");
        assert_eq!(teller.tell(&spool, &how, now, before), None);
        assert_eq!(told_status(&places.spool).unwrap().counts.waiting, 3, "sent with the state");
        how.counts.waiting = 4;
        assert_eq!(teller.tell(&spool, &how, now, before + TELL_INTERVAL), None);
        assert_eq!(told_status(&places.spool).unwrap().counts.waiting, 4);
        drop(spool);
        assert_eq!(daemon_alive(&places.spool, Some(&told)), Alive::No);
        assert_eq!(daemon_alive(&places.spool, None), Alive::No);
        ended(&places);
    }

    #[test]
    fn what_waits_is_told_once_a_second_and_no_longer_than_it_waits() {
        let places = places("waiting");
        let spool = Spool::open_for_daemon(&places).unwrap();
        let now = UtcTime::from_unix(1_800_000_000);
        let waits = |names: &[&str]| {
            let since =
                |name: &&str| WaitsSince { file: (*name).to_owned(), since_utc: now.to_string() };
            names.iter().map(since).collect::<Vec<_>>()
        };
        let told = || spool::waiting_in(&places.spool);
        let mut teller = StatusTeller::new(now);
        let begun = Instant::now();
        assert_eq!(teller.tell_waiting(&spool, || (waits(&[]), true), now, begun), None);
        assert!(!places.spool.join("public/waiting.json").exists(), "no file if empty");
        assert_eq!(teller.tell_waiting(&spool, || (waits(&["a", "b"]), true), now, begun), None);
        assert_eq!(told(), waits(&["a", "b"]));
        let due = begun + TELL_INTERVAL;
        let before = due - Duration::from_nanos(1);
        let too_soon = || panic!("too soon to look");
        assert_eq!(teller.tell_waiting(&spool, too_soon, now, before), Some(due));
        assert_eq!(teller.tell_waiting(&spool, || (waits(&["b"]), false), now, due), None);
        assert_eq!(told(), waits(&["b"]));
        let due = due + TELL_INTERVAL;
        assert_eq!(teller.tell_waiting(&spool, || (waits(&[]), true), now, due), None);
        assert!(!places.spool.join("public/waiting.json").exists());
        drop(spool);
        ended(&places);
    }

    #[test]
    fn what_is_over_at_once_is_never_told() {
        let places = places("in-flight");
        let spool = Spool::open_for_daemon(&places).unwrap();
        let id: RequestId = "TR-20260209-160501Z-a".parse().unwrap();
        let mut running = Running {
            request_id: id.to_string(),
            since_utc: "2026-02-09T16:05:01Z".to_owned(),
            step: Step::Claimed,
            step_since_utc: "2026-02-09T16:05:01Z".to_owned(),
            time_sec_max: None,
            memory_bytes_max: None,
            submitter: Some("alice".to_owned()),
            hashed_bytes: None,
            input_bytes: None,
            memory_bytes: None,
            cpu_ms: None,
            cpu_ms_max: None,
        };
        let mut teller = StatusTeller::new(UtcTime::from_unix(0));
        let claimed = Instant::now();
        let all = |running: &Running| [(id.clone(), claimed, running.clone())].into_iter();
        let due = claimed + TELL_AFTER;
        assert_eq!(teller.tell_in_flight(&spool, all(&running), claimed), Some(due));
        assert!(running_in(&places.spool).is_empty());
        assert_eq!(teller.tell_in_flight(&spool, all(&running), due), None);
        assert_eq!(running_in(&places.spool).get(id.as_str()), Some(&running));
        running.step = Step::Running;
        let next = due + TELL_AFTER;
        assert_eq!(teller.tell_in_flight(&spool, all(&running), due), Some(next));
        assert_eq!(teller.tell_in_flight(&spool, all(&running), next), None);
        assert_eq!(running_in(&places.spool)[id.as_str()].step, Step::Running);
        assert!(StatusTeller::look_again(1).is_some(), "the progress of a worker wakes no thread");
        assert_eq!(StatusTeller::look_again(0), None);
        assert_eq!(teller.tell_in_flight(&spool, std::iter::empty(), next), None);
        assert!(running_in(&places.spool).is_empty());
        running.request_id = "../escaped".to_owned();
        assert!(spool.tell_running(&running).is_err());
        ended(&places);
    }
}
