//! Runs a case in a sandbox as a user would: `toolexec run` with a policy whose Python is the case.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{BuiltCase, CaseMode, HostTargets, HostileCase};
use crate::bench::{Bench, CliOutput};
use crate::record::Record;
use crate::request::RequestText;
use crate::slowdown::time_factor;

/// A run that takes longer than this has hung, regardless of its limits.
const HUNG_AFTER_SEC: u32 = 90;
/// The time limit of a case that sets none. No such case tests the time limit.
const TIME_SEC: u32 = 10;

/// Runs all cases of one mode as one user.
pub struct CaseRunner {
    pub mode: CaseMode,
    bench: Bench,
    policy: String,
    case_input: String,
    /// The port of the suite's echo server.
    echo_port: u16,
}

/// The result of a run: facts of its record and the files beside it.
#[derive(Debug)]
pub struct CaseRun {
    pub outcome: String,
    pub exit_code: i32,
    pub stdout: String,
    pub stderr: String,
    pub page: String,
    /// Reason and path of each rejected object.
    pub rejected: BTreeSet<(String, String)>,
    /// Paths below `artifacts/`, with permission bits.
    pub kept: Vec<(String, u32)>,
    pub took: Duration,
}

impl CaseRunner {
    #[must_use]
    pub fn new(mode: CaseMode, bench: Bench, host: &HostTargets) -> Self {
        let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
        Self { mode, bench, policy, case_input: host.case_input(), echo_port: host.pages() }
    }

    /// Runs a harmless request first, so that keys, directories and control groups exist.
    pub fn warm_up(&self) {
        self.bench.run(&self.bench.save(&RequestText::python("pass"))).assert_code(0);
    }

    /// Runs a case, with one result for each of its sandboxes.
    ///
    /// # Panics
    /// Panics if a run has no record, or if the record does not verify.
    #[must_use]
    pub fn run(&self, case: &HostileCase, built: &BuiltCase) -> Vec<CaseRun> {
        let one = || self.run_one(case, built);
        std::thread::scope(|scope| {
            let runs: Vec<_> = (0..case.concurrent_runs()).map(|_| scope.spawn(one)).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        })
    }

    fn run_one(&self, case: &HostileCase, built: &BuiltCase) -> CaseRun {
        let limit = |name, shipped| case.limit(name, self.mode).unwrap_or(shipped);
        let script = match built {
            BuiltCase::Script => fs::read_to_string(&case.path).unwrap(),
            _ => self.case_input.clone(),
        };
        let request = RequestText::python(&script)
            .memory_mb(limit("memory_mb", 128))
            .time_sec(limit("time_sec", TIME_SEC * time_factor()));
        let request = self.with_hosts(case, request);
        let file = format!("{}.yaml", request.id);
        let policy = self.bench.scratch().file(&file, self.policy_of(case, built));
        let request = self.bench.save(&request);
        let toolexec = self.bench.scratch().path().join("bin/toolexec");
        let mut command = self.bench.command("timeout");
        let hung_after = (HUNG_AFTER_SEC * time_factor()).to_string();
        command.args(["-k", "1", &hung_after]).arg(toolexec).arg("run").arg(&request.path);
        let output = CliOutput::of(command.arg("--policy").arg(policy).args(["--format", "json"]));
        assert_ne!(output.code, Some(124), "{}: hung: {output:#?}", case.name);
        CaseRun::of(&output)
    }

    fn with_hosts(&self, case: &HostileCase, request: RequestText) -> RequestText {
        let entry = |host: &&str| format!("\"{host}:{}\"", self.echo_port);
        let hosts: Vec<String> = case.hosts().iter().map(entry).collect();
        if hosts.is_empty() {
            return request;
        }
        request
            .edit("network: \"none\"", "network: \"allowlist\"")
            .edit("network_allowlist: []", &format!("network_allowlist: [{}]", hosts.join(", ")))
            .edit("Network rationale: none", "Network rationale: the pages are there.")
    }

    /// Returns the embedded policy with the changes of the case.
    fn policy_of(&self, case: &HostileCase, built: &BuiltCase) -> String {
        let mut policy = self.policy.clone();
        let mut change = |from: &str, to: &str| {
            assert!(policy.contains(from), "{from:?} is not in the embedded policy");
            policy = policy.replacen(from, to, 1);
        };
        if let BuiltCase::Program(program) = built {
            // The first runtime of the policy is Python.
            change("binary: auto", &format!("binary: {}", program.display()));
            let place = program.parent().unwrap().display();
            change("mounts: [/usr]", &format!("mounts: [/usr, {place}]"));
        }
        let rule =
            |host: &&str| format!("{{host: {host}, ports: [{}], private: []}}", self.echo_port);
        let hosts: Vec<String> = case.hosts().iter().map(rule).collect();
        if !hosts.is_empty() {
            change("hosts: []\n", &format!("hosts: [{}]\n", hosts.join(", ")));
        }
        let limits = [
            ("cpu_sec", "cpu_seconds_max: null", "cpu_seconds_max: ", ""),
            ("pids", "pids_max: 64", "pids_max: ", ""),
            ("stream_mib", "stream_bytes_max: 16 MiB", "stream_bytes_max: ", " MiB"),
            ("file_mib", "file_bytes_max: 4 GiB", "file_bytes_max: ", " MiB"),
            ("inodes", "out_inodes_max: 65536", "out_inodes_max: ", ""),
        ];
        for (name, shipped, key, unit) in limits {
            if let Some(value) = case.limit(name, self.mode) {
                change(shipped, &format!("{key}{value}{unit}"));
            }
        }
        policy
    }

    /// Asserts that every record verifies, and that the state contains nothing else of a run.
    pub fn check_records(&self) {
        let results = self.bench.results();
        self.bench.toolexec(["verify".as_ref(), results.as_os_str()]).assert_code(0);
        self.bench.assert_nothing_left();
    }
}

impl CaseRun {
    /// Returns a short description for messages.
    #[must_use]
    pub fn brief(&self) -> String {
        let start = |text: &str| text.chars().take(400).collect::<String>();
        let Self { outcome, exit_code, took, kept, rejected, .. } = self;
        format!(
            "{outcome} {exit_code} in {took:?}; stdout {:?}; stderr {:?}; kept {}; rejected {:?}",
            start(&self.stdout),
            start(&self.stderr),
            kept.len(),
            rejected.iter().take(4).collect::<Vec<_>>()
        )
    }

    #[track_caller]
    fn of(output: &CliOutput) -> Self {
        let record = Record::of(output);
        let read = |name: &str| {
            let bytes = fs::read(record.path.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Self {
            outcome: record.outcome().to_owned(),
            exit_code: record.front_matter_value("exit_code").parse().unwrap(),
            stdout: read("stdout"),
            stderr: read("stderr"),
            rejected: rejected_rows(&record.text),
            kept: artifacts(&record.path.join("artifacts")),
            page: record.text,
            took: output.elapsed,
        }
    }
}

/// Parses the rows of `rejected_rows:` in the front matter: `- path: "…"` and `reason: …`.
fn rejected_rows(page: &str) -> BTreeSet<(String, String)> {
    let front = page.split("\n---\n").next().unwrap();
    let rows = front.split_once("rejected:\n").map(|(_, rest)| rest).unwrap_or_default();
    let rows = rows.split("rejected_total:").next().unwrap();
    let mut found = BTreeSet::new();
    let mut path = String::new();
    for line in rows.lines().map(|line| line.trim().trim_start_matches("- ")) {
        if let Some(value) = line.strip_prefix("path: ") {
            value.trim_matches('"').clone_into(&mut path);
        } else if let Some(reason) = line.strip_prefix("reason: ") {
            found.insert((reason.trim_matches('"').to_owned(), path.clone()));
        }
    }
    found
}

fn artifacts(artifacts: &Path) -> Vec<(String, u32)> {
    let mut find = Command::new("find");
    let listed =
        CliOutput::of(find.arg(artifacts).args(["-type", "f", "-printf", "%m %P\\n"])).stdout;
    let row = |line: &str| {
        let (mode, path) = line.split_once(' ').unwrap();
        (path.to_owned(), u32::from_str_radix(mode, 8).unwrap())
    };
    listed.lines().map(row).collect()
}

#[cfg(test)]
impl CaseRun {
    /// A result for tests of the judge.
    pub(super) fn example(outcome: &str, exit_code: i32, stdout: &str) -> Self {
        Self {
            outcome: outcome.to_owned(),
            exit_code,
            stdout: stdout.to_owned(),
            stderr: String::new(),
            page: String::new(),
            rejected: BTreeSet::new(),
            kept: Vec::new(),
            took: Duration::ZERO,
        }
    }
}
