//! What the daemon tells of itself in `public/`: how it is, by which policy, what is in flight and what waits.
//! For the one thread that schedules; told when it changes, a state at once, numbers and what waits at most
//! once a second, so that load makes no writes of its own. What ends sooner than a person could look is not
//! told at all.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{RequestId, Sha256, UtcTime};
use policies::Policy;
use spool::{
    Counts, DaemonState, Running, Seat, Spool, SpoolError, Status, TellsPolicy, ToldWaiting,
    WaitsSince,
};

/// Numbers are told at most this often.
const TELL_INTERVAL: Duration = Duration::from_secs(1);
/// A request in flight is told of when it has been for this long.
const TELL_AFTER: Duration = Duration::from_millis(200);

/// How the daemon is now.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    pub state: DaemonState,
    /// Why it halted, or what the state alone does not say.
    pub why: Option<&'a str>,
    /// Why nothing is admitted although it serves.
    pub admission_stopped: Option<&'a str>,
    pub counts: Counts,
    /// How many runs there may be at once.
    pub runs_max: u64,
    /// Bytes that were promised to the runs in flight, and how many may be.
    pub memory_bytes_promised: u64,
    pub memory_bytes_max: Option<u64>,
    pub policy: &'a Policy,
}

/// What was told last.
pub struct StatusTeller {
    seat: Seat,
    started: UtcTime,
    told: Option<(Instant, Status)>,
    /// Whose text was told.
    policy: Option<Sha256>,
    in_flight: BTreeMap<RequestId, (Instant, Running)>,
    waiting: (Vec<WaitsSince>, bool),
    /// When that was told last.
    waiting_at: Option<Instant>,
}

impl StatusTeller {
    /// Nothing is told yet.
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

    /// Publishes the daemon's status if it changed; `at` is the present on the monotonic clock. Returns when to
    /// call again if a change came too soon after the last one.
    pub fn tell(
        &mut self,
        spool: &Spool,
        how: &How<'_>,
        now: UtcTime,
        at: Instant,
    ) -> Option<Instant> {
        let status = self.status(how, now);
        if let Some((last, told)) = &self.told {
            // What is left of the difference when time and numbers are set aside.
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
        // Before the word that it is in force.
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

    /// Tells what is in flight: everything that is, each with when it was claimed. What is not among it any
    /// more is told no longer; its record is to be published before. Returns when to be asked again.
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

    /// Tells what waits, if that changed; `look` gives it, and whether it is all. Returns when to be asked
    /// again.
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

    /// When to ask again whatever happens, while `at_work` requests are on their way: what a worker comes
    /// to wakes nobody by itself.
    #[must_use]
    pub fn look_again(at_work: usize) -> Option<Instant> {
        (at_work > 0).then(|| Instant::now() + TELL_AFTER)
    }
}

/// Whether only numbers differ.
fn is_as_far(told: &Running, now: &Running) -> bool {
    (told.step, &told.step_since_utc, told.time_sec_max)
        == (now.step, &now.step_since_utc, now.time_sec_max)
}

/// Whether it was told. Nothing hangs on it but what readers see. On a full disk it fails at every look, and is
/// logged once, until it works again.
fn told_or_warned(told: Result<(), SpoolError>) -> bool {
    static FAILS: AtomicBool = AtomicBool::new(false);
    match &told {
        Ok(()) => FAILS.store(false, Ordering::Relaxed),
        Err(error) if !FAILS.swap(true, Ordering::Relaxed) => {
            tracing::warn!("{error}; the files in public/ are not up to date");
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
        assert_eq!(told_status(&places.spool).unwrap().counts.waiting, 3, "told with the state");
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
        assert!(!places.spool.join("public/waiting.json").exists(), "nothing is no news");
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
        assert!(StatusTeller::look_again(1).is_some(), "a worker wakes nobody");
        assert_eq!(StatusTeller::look_again(0), None);
        assert_eq!(teller.tell_in_flight(&spool, std::iter::empty(), next), None);
        assert!(running_in(&places.spool).is_empty());
        running.request_id = "../escaped".to_owned();
        assert!(spool.tell_running(&running).is_err());
        ended(&places);
    }
}
