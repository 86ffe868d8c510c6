//! The judgement on the trial: the records against the runs that were counted from outside.

use std::collections::BTreeMap;
use std::time::Duration;

use toolexec_tests::{Bench, CliOutput, TestFleet, list};

use super::faults::TrialFaults;

/// The outcome of the trial.
pub(super) struct TrialJudgement {
    outcomes: BTreeMap<String, usize>,
    hosts: BTreeMap<String, usize>,
    faults: Vec<String>,
    count: usize,
}

/// Waits until no host has anything to report, and until every log is cosigned by both other hosts.
pub(super) fn wait_for_rest(fleet: &TestFleet<'_>) {
    for host in &fleet.hosts {
        host.service.wait_for("the daemon", |service| service.log().contains("ready"));
    }
    fleet.wait_for("every report", |fleet| {
        let claims = |at: usize| list(&fleet.hosts[at].agent_state().join("claims"));
        (0..fleet.hosts.len()).all(|at| claims(at).is_empty())
    });
    fleet.wait_for("every cosignature", |fleet| {
        let status = fleet.status().json();
        let hosts = status["hosts"].as_array().unwrap();
        let count = |host: &serde_json::Value| host["witnesses"].as_array().map_or(0, Vec::len);
        hosts.len() == fleet.hosts.len()
            && hosts.iter().all(|host| count(host) == fleet.hosts.len() - 1)
    });
}

/// Compares each record of the fleet with the runs.
pub(super) fn judge(fleet: &TestFleet<'_>, ids: &[String]) -> TrialJudgement {
    let (rows, counts) = (fleet.rows(), fleet.counted.counts());
    let rows: BTreeMap<&str, _> =
        rows.iter().map(|row| (row["request_id"].as_str().unwrap(), row)).collect();
    let (mut outcomes, mut hosts) = (BTreeMap::new(), BTreeMap::new());
    let mut faults = Vec::new();
    for id in ids {
        let count = counts.get(id).copied().unwrap_or_default();
        let Some(row) = rows.get(id.as_str()) else {
            faults.push(format!("{id}: the fleet does not have it; it ran {count} times"));
            continue;
        };
        let outcome = row["outcome"].as_str().unwrap_or("none");
        let is_right = match outcome {
            "ok" => count == 1,
            "indeterminate" => count <= 1,
            "setup_error" | "refused" => count == 0,
            _ => false,
        };
        if !is_right || row["fleet_state"] != "ended" {
            faults.push(format!("{id}: ran {count} times: {row}"));
        }
        *outcomes.entry(outcome.to_owned()).or_default() += 1;
        *hosts.entry(row["host"].as_str().unwrap_or("none").to_owned()).or_default() += 1;
    }
    if rows.len() != ids.len() {
        faults.push(format!("{} rows of {} requests", rows.len(), ids.len()));
    }
    TrialJudgement { outcomes, hosts, faults, count: ids.len() }
}

impl TrialJudgement {
    pub(super) fn print(&self, faults: &TrialFaults<'_>, repeats: usize, took: Duration) {
        let row = |name: &str, value: String| println!("{name:<36}{value:>10}");
        row("requests", self.count.to_string());
        row("submitted again by another client", repeats.to_string());
        for (outcome, count) in &self.outcomes {
            row(&format!("records: {outcome}"), count.to_string());
        }
        for (host, count) in &self.hosts {
            row(&format!("records of {host}"), count.to_string());
        }
        row("kills of a daemon", faults.daemon_kills.to_string());
        row("kills of an agent", faults.agent_kills.to_string());
        row("crashes of the database", faults.crashes.to_string());
        row("cuts of host-c", faults.cuts.to_string());
        row("seconds", format!("{:.1}", took.as_secs_f64()));
        let per_second = u32::try_from(self.count).map_or(f64::MAX, f64::from) / took.as_secs_f64();
        row("requests in a second", format!("{per_second:.1}"));
    }

    pub(super) fn assert_right(&self) {
        let Self { outcomes, faults, count, .. } = self;
        assert!(faults.is_empty(), "{} faults of {count}:\n{}", faults.len(), faults.join("\n"));
        assert!(outcomes.contains_key("ok"), "none ran to its end: {outcomes:?}");
    }
}

/// Checks the records of all hosts together, each log, and that nothing is disputed.
pub(super) fn assert_logs_and_records(fleet: &TestFleet<'_>, bench: &Bench) {
    let every = bench.scratch().dir("every-record");
    for host in &fleet.hosts {
        let results = host.service.path("results");
        let copy = format!("cp -r {}/. {}", results.display(), every.display());
        CliOutput::of(&mut bench.shell(&copy)).assert_code(0);
        host.service.fsck().assert_code(0);
    }
    // It also checks that no request ran on two hosts, and that no log has two histories.
    let verified = fleet.verify(&every);
    assert_eq!(verified.code, Some(0), "{}", verified.stderr);
    fleet.status().assert_code(0);
}
