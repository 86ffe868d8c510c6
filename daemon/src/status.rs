//! What the daemon tells of itself in `public/`: how it is, and what is in flight. For the one thread that
//! schedules; told when it changes, a state at once and numbers at most once a second, so that load makes no
//! writes of its own. What ends sooner than a person could look is not told at all.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use policies::Policy;
use spool::{Counts, DaemonState, Running, Seat, Spool, SpoolError, Status, TellsPolicy};
use validator::{RequestId, UtcTime};

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
    in_flight: BTreeMap<RequestId, (Instant, Running)>,
}

impl StatusTeller {
    /// Nothing is told yet.
    #[must_use]
    pub fn new(started: UtcTime) -> Self {
        Self { seat: Seat::here(), started, told: None, in_flight: BTreeMap::new() }
    }

    /// Tells how the daemon is if that changed. Returns when to be asked again: what came too soon after
    /// the last is told then, and while nothing changes there is no such time.
    pub fn tell(&mut self, spool: &Spool, how: &How<'_>, now: UtcTime) -> Option<Instant> {
        let status = self.status(how, now);
        if let Some((at, told)) = &self.told {
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
            let due = *at + TELL_INTERVAL;
            match (same_state, same_numbers) {
                (true, true) => return None,
                (true, false) if Instant::now() < due => return Some(due),
                _ => {}
            }
        }
        told_or_warned(spool.tell_status(&status));
        self.told = Some((Instant::now(), status));
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
    ) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let mut before = std::mem::take(&mut self.in_flight);
        for (id, claimed, running) in in_flight {
            let told = before.remove(&id);
            let due = match &told {
                Some((_, said)) if *said == running => None,
                Some((at, _)) => Some(*at + TELL_AFTER),
                None => Some(claimed + TELL_AFTER),
            };
            match (due, told) {
                (Some(due), told) if Instant::now() < due => {
                    next = Some(next.map_or(due, |next| next.min(due)));
                    self.in_flight.extend(told.map(|told| (id, told)));
                }
                (None, Some(told)) => {
                    self.in_flight.insert(id, told);
                }
                _ => {
                    told_or_warned(spool.tell_running(&running));
                    self.in_flight.insert(id, (Instant::now(), running));
                }
            }
        }
        for id in before.keys() {
            told_or_warned(spool.forget_running(id));
        }
        next
    }
}

/// Nothing hangs on it but what readers see.
fn told_or_warned(told: Result<(), SpoolError>) {
    if let Err(error) = told {
        tracing::warn!("{error}; what is told in public/ is not whole");
    }
}
