//! Publishes the daemon's status in `public/`: its state, policy, and requests in flight and
//! waiting. Only the event loop uses it. A change of state is written at once; the rest at most
//! once per second, so that load causes no extra writes. A request that ends before a reader could
//! notice it is never published.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{RequestId, Sha256, UtcTime};
use policies::Policy;
use spool::{
    ActivePolicy, DaemonState, ProcessId, PublishedStatus, PublishedWaiting, RequestCounts,
    RunningRequest, Spool, SpoolError, WaitingRequest,
};

/// The shortest interval between two updates of counts.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// A request in flight is published after this time.
const IN_FLIGHT_WRITE_DELAY: Duration = Duration::from_millis(200);

/// The present status of the daemon.
#[derive(Clone, Copy, Debug)]
pub struct DaemonStatus<'a> {
    /// The state of the daemon as a whole.
    pub state: DaemonState,
    /// The reason of a halt, or a detail of the state.
    pub reason: Option<&'a str>,
    /// The reason why a serving daemon admits nothing.
    pub admission_stopped: Option<&'a str>,
    /// The number of requests in each state.
    pub counts: RequestCounts,
    /// The limit on concurrent runs.
    pub runs_max: u64,
    /// Memory reserved for the runs in flight, in bytes.
    pub memory_bytes_reserved: u64,
    /// The limit on the reserved memory, in bytes; none if it is unlimited.
    pub memory_bytes_max: Option<u64>,
    /// The active policy, which is published before the status that names it.
    pub policy: &'a Policy,
}

/// The publisher, with the last published values.
pub struct StatusWriter {
    process: ProcessId,
    started: UtcTime,
    written: Option<(Instant, PublishedStatus)>,
    policy: Option<Sha256>,
    in_flight: BTreeMap<RequestId, (Instant, RunningRequest)>,
    waiting: (Vec<WaitingRequest>, bool),
    waiting_written_at: Option<Instant>,
}

impl StatusWriter {
    /// Returns a publisher that has published nothing.
    #[must_use]
    pub fn new(started: UtcTime) -> Self {
        Self {
            process: ProcessId::current(),
            started,
            written: None,
            in_flight: BTreeMap::new(),
            policy: None,
            waiting: (Vec::new(), true),
            waiting_written_at: None,
        }
    }

    /// Publishes the status if it has changed; `at` is the present on the monotonic clock. Returns
    /// the time of the next call if a change came too soon after the last update.
    pub fn write(
        &mut self,
        spool: &Spool,
        how: &DaemonStatus<'_>,
        now: UtcTime,
        at: Instant,
    ) -> Option<Instant> {
        let status = self.status(how, now);
        if let Some((last, previous)) = &self.written {
            // The time and the counts are compared separately.
            let (counts, at_utc) = (status.counts, previous.at_utc.clone());
            let numbers = (counts, status.memory_bytes_reserved);
            let same_numbers = numbers == (previous.counts, previous.memory_bytes_reserved);
            let same_state = *previous
                == PublishedStatus {
                    at_utc,
                    counts: previous.counts,
                    memory_bytes_reserved: previous.memory_bytes_reserved,
                    ..status.clone()
                };
            let due = *last + WRITE_INTERVAL;
            match (same_state, same_numbers) {
                (true, true) => return None,
                (true, false) if at < due => return Some(due),
                _ => {}
            }
        }
        // The policy file must be written before the status that names it.
        let policy = how.policy.sha256();
        if self.policy != Some(policy) && warn_if_failed(spool.publish_policy(how.policy)) {
            self.policy = Some(policy);
        }
        warn_if_failed(spool.publish_status(&status));
        self.written = Some((at, status));
        None
    }

    fn status(&self, how: &DaemonStatus<'_>, now: UtcTime) -> PublishedStatus {
        PublishedStatus {
            process: self.process.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_utc: self.started.to_string(),
            at_utc: now.to_string(),
            state: how.state,
            reason: how.reason.map(str::to_owned),
            admission_stopped: how.admission_stopped.map(str::to_owned),
            counts: how.counts,
            runs_max: how.runs_max,
            memory_bytes_reserved: how.memory_bytes_reserved,
            memory_bytes_max: how.memory_bytes_max,
            policy: ActivePolicy {
                name: how.policy.name().to_owned(),
                sha256: how.policy.sha256().to_string(),
            },
        }
    }

    /// Publishes all requests in flight, each with the time of its claim. A request that has left
    /// the list is removed; its record must be published before. Returns the time of the next call.
    pub fn write_in_flight(
        &mut self,
        spool: &Spool,
        in_flight: impl Iterator<Item = (RequestId, Instant, RunningRequest)>,
        at: Instant,
    ) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let mut before = std::mem::take(&mut self.in_flight);
        for (id, claimed, running) in in_flight {
            let previous = before.remove(&id);
            let due = match &previous {
                Some((_, known)) if *known == running => None,
                Some((last, known)) if is_same_step(known, &running) => {
                    Some(*last + WRITE_INTERVAL)
                }
                Some((last, _)) => Some(*last + IN_FLIGHT_WRITE_DELAY),
                None => Some(claimed + IN_FLIGHT_WRITE_DELAY),
            };
            match (due, previous) {
                (Some(due), previous) if at < due => {
                    next = Some(next.map_or(due, |next| next.min(due)));
                    self.in_flight.extend(previous.map(|previous| (id, previous)));
                }
                (None, Some(previous)) => {
                    self.in_flight.insert(id, previous);
                }
                _ => {
                    warn_if_failed(spool.publish_running(&running));
                    self.in_flight.insert(id, (at, running));
                }
            }
        }
        for id in before.keys() {
            warn_if_failed(spool.remove_running(id));
        }
        next
    }

    /// Publishes the waiting requests if they have changed. `look` returns them, and whether the
    /// list is complete. Returns the time of the next call.
    pub fn write_waiting(
        &mut self,
        spool: &Spool,
        look: impl FnOnce() -> (Vec<WaitingRequest>, bool),
        now: UtcTime,
        at: Instant,
    ) -> Option<Instant> {
        let due = self.waiting_written_at.map(|last| last + WRITE_INTERVAL);
        if let Some(due) = due.filter(|due| at < *due) {
            return Some(due);
        }
        let looked = look();
        if looked != self.waiting {
            let (waiting, whole) = looked;
            let published = PublishedWaiting { at_utc: now.to_string(), whole, waiting };
            let is_written = warn_if_failed(match published.waiting.is_empty() {
                true => spool.remove_waiting(),
                false => spool.publish_waiting(&published),
            });
            if is_written {
                self.waiting = (published.waiting, whole);
            }
            self.waiting_written_at = Some(at);
        }
        None
    }

    /// Returns the time of the next call: a worker's progress does not wake the event loop.
    #[must_use]
    pub fn next_write(at_work: usize) -> Option<Instant> {
        (at_work > 0).then(|| Instant::now() + IN_FLIGHT_WRITE_DELAY)
    }
}

/// Returns whether only resource figures differ.
fn is_same_step(previous: &RunningRequest, now: &RunningRequest) -> bool {
    (previous.step, &previous.step_since_utc, previous.time_sec_max)
        == (now.step, &now.step_since_utc, now.time_sec_max)
}

/// Returns whether a write succeeded. A full disk fails every write, so that only the first warning
/// is logged until a write succeeds again.
fn warn_if_failed(result: Result<(), SpoolError>) -> bool {
    static FAILS: AtomicBool = AtomicBool::new(false);
    match &result {
        Ok(()) => FAILS.store(false, Ordering::Relaxed),
        Err(error) if !FAILS.swap(true, Ordering::Relaxed) => {
            tracing::warn!("the files in public/ are out of date: {error}");
        }
        Err(_) => {}
    }
    result.is_ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use spool::{
        DaemonLiveness, RunningStep, SpoolPaths, daemon_liveness, published_status,
        running_requests,
    };

    use super::*;

    fn places(name: &str) -> SpoolPaths {
        let root = std::env::temp_dir().join(format!("toolexec-{name}-{}", std::process::id()));
        let at = |part: &str| -> PathBuf { root.join(part) };
        SpoolPaths {
            state: at("state"),
            spool: at("spool"),
            results: at("spool/results"),
            log: at("spool/log"),
        }
    }

    fn remove_places(places: &SpoolPaths) {
        std::fs::remove_dir_all(places.spool.parent().unwrap()).unwrap();
    }

    #[test]
    fn state_is_written_at_once_and_counts_when_due() {
        let places = places("status");
        let spool = Spool::open_for_daemon(&places).unwrap();
        let policy = Policy::shipped("embedded").unwrap();
        let now = UtcTime::from_unix(1_800_000_000);
        let mut how = DaemonStatus {
            state: DaemonState::Serving,
            reason: None,
            admission_stopped: None,
            counts: RequestCounts::default(),
            runs_max: 2,
            memory_bytes_reserved: 0,
            memory_bytes_max: None,
            policy: &policy,
        };
        let mut writer = StatusWriter::new(now);
        let begun = Instant::now();
        assert_eq!(writer.write(&spool, &how, now, begun), None);
        let status = published_status(&places.spool).unwrap();
        assert_eq!(spool::published_policy(&places.spool).unwrap().sha256(), policy.sha256());
        assert_eq!(status.policy.sha256, policy.sha256().to_string());
        assert_eq!(status.state, DaemonState::Serving);
        assert_eq!(
            daemon_liveness(&places.spool, Some(&status)),
            DaemonLiveness::Running(Some(status.process.pid))
        );

        assert_eq!(writer.write(&spool, &how, UtcTime::from_unix(1_800_000_009), begun), None);
        assert_eq!(
            published_status(&places.spool).unwrap(),
            status,
            "nothing changed but the time"
        );
        how.counts.waiting = 3;
        let due = begun + WRITE_INTERVAL;
        let before = due - Duration::from_nanos(1);
        assert_eq!(writer.write(&spool, &how, now, before), Some(due));
        assert_eq!(published_status(&places.spool).unwrap().counts.waiting, 0);
        how.admission_stopped = Some("no room");
        assert_eq!(writer.write(&spool, &how, now, before), None);
        assert_eq!(
            published_status(&places.spool).unwrap().counts.waiting,
            3,
            "sent with the state"
        );
        how.counts.waiting = 4;
        assert_eq!(writer.write(&spool, &how, now, before + WRITE_INTERVAL), None);
        assert_eq!(published_status(&places.spool).unwrap().counts.waiting, 4);
        drop(spool);
        assert_eq!(daemon_liveness(&places.spool, Some(&status)), DaemonLiveness::NotRunning);
        assert_eq!(daemon_liveness(&places.spool, None), DaemonLiveness::NotRunning);
        remove_places(&places);
    }

    #[test]
    fn waiting_requests_are_written_once_per_second() {
        let places = places("waiting");
        let spool = Spool::open_for_daemon(&places).unwrap();
        let now = UtcTime::from_unix(1_800_000_000);
        let waits = |names: &[&str]| {
            let since = |name: &&str| WaitingRequest {
                file: (*name).to_owned(),
                since_utc: now.to_string(),
            };
            names.iter().map(since).collect::<Vec<_>>()
        };
        let published = || spool::waiting_requests(&places.spool);
        let mut writer = StatusWriter::new(now);
        let begun = Instant::now();
        assert_eq!(writer.write_waiting(&spool, || (waits(&[]), true), now, begun), None);
        assert!(!places.spool.join("public/waiting.json").exists(), "no file if empty");
        assert_eq!(writer.write_waiting(&spool, || (waits(&["a", "b"]), true), now, begun), None);
        assert_eq!(published(), waits(&["a", "b"]));
        let due = begun + WRITE_INTERVAL;
        let before = due - Duration::from_nanos(1);
        let too_soon = || panic!("too soon to look");
        assert_eq!(writer.write_waiting(&spool, too_soon, now, before), Some(due));
        assert_eq!(writer.write_waiting(&spool, || (waits(&["b"]), false), now, due), None);
        assert_eq!(published(), waits(&["b"]));
        let due = due + WRITE_INTERVAL;
        assert_eq!(writer.write_waiting(&spool, || (waits(&[]), true), now, due), None);
        assert!(!places.spool.join("public/waiting.json").exists());
        drop(spool);
        remove_places(&places);
    }

    #[test]
    fn short_request_is_never_written() {
        let places = places("in-flight");
        let spool = Spool::open_for_daemon(&places).unwrap();
        let id: RequestId = "TR-20260209-160501Z-a".parse().unwrap();
        let mut running = RunningRequest {
            request_id: id.to_string(),
            since_utc: "2026-02-09T16:05:01Z".to_owned(),
            step: RunningStep::Claimed,
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
        let mut writer = StatusWriter::new(UtcTime::from_unix(0));
        let claimed = Instant::now();
        let all = |running: &RunningRequest| [(id.clone(), claimed, running.clone())].into_iter();
        let due = claimed + IN_FLIGHT_WRITE_DELAY;
        assert_eq!(writer.write_in_flight(&spool, all(&running), claimed), Some(due));
        assert!(running_requests(&places.spool).is_empty());
        assert_eq!(writer.write_in_flight(&spool, all(&running), due), None);
        assert_eq!(running_requests(&places.spool).get(id.as_str()), Some(&running));
        running.step = RunningStep::Running;
        let next = due + IN_FLIGHT_WRITE_DELAY;
        assert_eq!(writer.write_in_flight(&spool, all(&running), due), Some(next));
        assert_eq!(writer.write_in_flight(&spool, all(&running), next), None);
        assert_eq!(running_requests(&places.spool)[id.as_str()].step, RunningStep::Running);
        assert!(StatusWriter::next_write(1).is_some(), "the progress of a worker wakes no thread");
        assert_eq!(StatusWriter::next_write(0), None);
        assert_eq!(writer.write_in_flight(&spool, std::iter::empty(), next), None);
        assert!(running_requests(&places.spool).is_empty());
        running.request_id = "../escaped".to_owned();
        assert!(spool.publish_running(&running).is_err());
        remove_places(&places);
    }
}
