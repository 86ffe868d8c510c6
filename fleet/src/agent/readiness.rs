//! Decides whether the daemon may admit requests, from the answers of the database to beats. Pure:
//! times are arguments. Silence of the database stops admission before another host may take over.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fleet::gate::FleetGauges;

use crate::database::BeatAnswer;

/// The daemon asks each second. Without a query for this long, it counts as stopped.
const DAEMON_SILENT_MAX: Duration = Duration::from_secs(10);

/// The facts from which readiness follows.
#[derive(Debug)]
pub(super) struct Readiness {
    host: String,
    /// The longest time since the last answer.
    answer_age_max: Duration,
    answered_at: Option<Instant>,
    answer: Option<BeatAnswer>,
    failure: Option<String>,
    daemon_asked_at: Option<Instant>,
    /// Set while an older copy of the database answers. It is never cleared by a later beat.
    older_copy: Option<String>,
    claimed: u64,
    unreported: u64,
    database_sec: f64,
}

impl Readiness {
    pub(super) fn new(host: &str, answer_age_max: Duration) -> Self {
        Self {
            host: host.to_owned(),
            answer_age_max,
            answered_at: None,
            answer: None,
            failure: None,
            daemon_asked_at: None,
            older_copy: None,
            claimed: 0,
            unreported: 0,
            database_sec: 0.0,
        }
    }

    /// Notes the answer to a beat that was sent at `asked_at`.
    pub(super) fn answered(&mut self, asked_at: Instant, now: Instant, answer: BeatAnswer) {
        self.database_sec = now.saturating_duration_since(asked_at).as_secs_f64();
        // The answer is as old as its question.
        self.answered_at = self.answered_at.max(Some(asked_at));
        self.answer = Some(answer);
        self.failure = None;
    }

    /// Notes that a call of the database failed. A lasting failure stops admission at once.
    pub(super) fn failed(&mut self, why: String, is_momentary: bool) {
        if !is_momentary {
            self.answered_at = None;
        }
        self.failure = Some(why);
    }

    /// Notes that the database is an older copy of itself: it does not know later starts.
    pub(super) fn found_older_copy(&mut self, why: String) {
        self.older_copy = Some(why);
    }

    /// Notes a query of the daemon. Returns true if the daemon was silent before.
    pub(super) fn daemon_asks(&mut self, now: Instant) -> bool {
        let was_alive = self.is_daemon_alive(now);
        self.daemon_asked_at = Some(now);
        !was_alive
    }

    /// Returns whether the daemon has asked lately. A host without its daemon must neither claim
    /// nor beat, so that other hosts take its claims over.
    pub(super) fn is_daemon_alive(&self, now: Instant) -> bool {
        self.daemon_asked_at
            .is_some_and(|at| now.saturating_duration_since(at) <= DAEMON_SILENT_MAX)
    }

    /// Returns whether an operator declared this host lost. An order that does not count declares
    /// nothing.
    pub(super) fn is_lost(&self) -> bool {
        let answer = self.answer.as_ref();
        answer.is_some_and(|it| it.is_lost && it.lost_order_defect.is_none())
    }

    /// Returns the order about a lost host that does not count, by the last answer.
    pub(super) fn lost_order_defect(&self) -> Option<&str> {
        self.answer.as_ref()?.lost_order_defect.as_deref()
    }

    /// Returns the reason why nothing may be admitted. Without one the host is ready.
    pub(super) fn stop_reason(&self, now: Instant) -> Option<String> {
        if let Some(why) = &self.older_copy {
            return Some(why.clone());
        }
        let age = self.answered_at.map(|at| now.saturating_duration_since(at));
        let is_recent = age.is_some_and(|age| age <= self.answer_age_max);
        let Some(answer) = self.answer.as_ref().filter(|_| is_recent) else {
            return Some(self.silence(age));
        };
        if let Some(why) = &answer.lost_order_defect {
            return Some(format!("database: {why}"));
        }
        let host = &self.host;
        if answer.is_lost {
            return Some(format!(
                "host {host}: an operator declared it lost; help: wait until its records are \
                 reported, then it claims again"
            ));
        }
        answer.disputed_by.first().map(|(witness, why)| {
            format!(
                "host {host}: witness {witness} disputes its log: {}; help: compare the logs as \
                 docs/fleet.md describes before anything runs here",
                model::escape_line(why)
            )
        })
    }

    /// Checks that starts may be decided. It needs no recent beat: each start asks the database.
    ///
    /// # Errors
    /// The reason why not.
    pub(super) fn may_decide(&self) -> Result<(), String> {
        self.older_copy.clone().map_or(Ok(()), Err)
    }

    fn silence(&self, age: Option<Duration>) -> String {
        match (&self.failure, age) {
            (Some(why), _) => why.clone(),
            (None, None) => "database: it has not answered yet; help: wait, or read the log of \
                             toolexec-fleet"
                .to_owned(),
            (None, Some(age)) => format!(
                "database: it has not answered for {} s; help: check the database and the network \
                 to it",
                age.as_secs()
            ),
        }
    }

    /// Notes the number of claims that this host has not started.
    pub(super) fn count_claims(&mut self, claimed: u64) {
        self.claimed = claimed;
    }

    /// Notes the number of records that the database lacks.
    pub(super) fn count_unreported(&mut self, unreported: u64) {
        self.unreported = unreported;
    }

    /// Notes the time that an answered query took.
    pub(super) fn measured(&mut self, took: Duration) {
        self.database_sec = took.as_secs_f64();
    }

    /// Returns the figures for the daemon's metrics.
    pub(super) fn gauges(&self) -> FleetGauges {
        let answer = self.answer.as_ref();
        FleetGauges {
            queued: answer.map_or(0, |it| it.queued),
            claimed: self.claimed,
            unreported: self.unreported,
            beat_age_sec: answer.map_or_else(BTreeMap::new, |it| it.beat_age_sec.clone()),
            witnesses: answer.map_or(0, |it| it.witnesses),
            disputed: answer.map_or_else(Vec::new, |it| it.disputed.clone()),
            database_sec: self.database_sec,
        }
    }
}

#[cfg(test)]
mod tests;
