//! The commands of submitters and operators, as a test runs them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::host::TestFleetHost;
use super::scene::{SUBMITTER, TestFleet};
use crate::bench::CliOutput;
use crate::request::{RequestText, SavedRequest};
use crate::slowdown::time_factor;

/// The longest wait for the fleet. Many times what it needs.
const WAIT_SEC: u64 = 120;
const LOOK: Duration = Duration::from_millis(200);

impl TestFleet<'_> {
    /// Runs `toolexec` with these words and the database of the submitter.
    #[must_use]
    pub fn toolexec(&self, words: &[&str]) -> CliOutput {
        let url = self.database.url(SUBMITTER);
        self.client.toolexec(words.iter().copied().chain(["--fleet", &url]))
    }

    pub(super) fn fleet_init(&self, url: &str, name: &str, words: &[&str]) -> CliOutput {
        let fixed = ["fleet", "init", "--format", "json", "--database", url, "--name", name];
        self.client.toolexec(fixed.iter().chain(words))
    }

    /// Makes the tables of another fleet in another database, and returns its id.
    #[must_use]
    pub fn make_another_fleet(&self, database: &str) -> String {
        self.database.query_in("postgres", &format!("CREATE DATABASE {database}"));
        let made = self.fleet_init(&self.database.url_of("postgres", database), "other", &[]);
        made.assert_code(0);
        made.json()["fleet_id"].as_str().unwrap().to_owned()
    }

    /// Runs `toolexec fleet` with these words and the database of its owner.
    #[must_use]
    pub fn fleet_command(&self, words: &[&str]) -> CliOutput {
        let url = self.database.owner_url();
        let words = ["fleet"].into_iter().chain(words.iter().copied());
        self.client.toolexec(words.chain(["--database", &url]))
    }

    /// Returns the state of the fleet. The exit status is 1 if something is wrong.
    #[must_use]
    pub fn status(&self) -> CliOutput {
        let signers = self.signers.to_str().unwrap();
        self.fleet_command(&["status", "--approvers", signers, "--format", "json"])
    }

    /// Submits a request, and returns its id.
    #[track_caller]
    pub fn submit(&self, request: &RequestText) -> String {
        let saved = self.save(request);
        self.submit_file(&saved.path).assert_code(0);
        saved.id
    }

    /// Submits the same file again, or a file that may be refused.
    #[must_use]
    pub fn submit_saved(&self, request: &SavedRequest) -> CliOutput {
        self.submit_file(&request.path)
    }

    /// Submits a document with the files beside it.
    #[must_use]
    pub fn submit_file(&self, path: &Path) -> CliOutput {
        let path = path.to_str().unwrap();
        match &self.store {
            Some(store) => self.toolexec(&["submit", path, "--store", store]),
            None => self.toolexec(&["submit", path]),
        }
    }

    /// Returns every request as the database has it, the oldest first.
    #[must_use]
    #[track_caller]
    pub fn rows(&self) -> Vec<Value> {
        let output = self.toolexec(&["list", "--format", "json"]);
        output.assert_code(0);
        output.json_lines()
    }

    /// Returns one request as the database has it.
    #[must_use]
    #[track_caller]
    pub fn row(&self, id: &str) -> Value {
        let found = self.rows().into_iter().find(|row| row["request_id"] == id);
        found.unwrap_or_else(|| panic!("the fleet does not have {id}"))
    }

    /// Returns the state of one request.
    #[must_use]
    #[track_caller]
    pub fn state_of(&self, id: &str) -> String {
        self.row(id)["fleet_state"].as_str().unwrap().to_owned()
    }

    /// Waits until each request has a record in the fleet, and returns their rows in this order.
    #[must_use]
    #[track_caller]
    pub fn ended(&self, ids: &[String]) -> Vec<Value> {
        let timeout = (WAIT_SEC * u64::from(time_factor())).to_string();
        let mut words = vec!["wait", "--timeout", &timeout, "--format", "json"];
        words.extend(ids.iter().map(String::as_str));
        let rows = self.toolexec(&words).json_lines();
        let row = |id: &String| {
            let found = rows.iter().find(|row| row["request_id"] == id.as_str());
            let found = found.unwrap_or_else(|| panic!("{id} is not in {rows:#?}"));
            assert_eq!(found["fleet_state"], "ended", "{found:#}\n{}", self.logs());
            found.clone()
        };
        ids.iter().map(row).collect()
    }

    /// Waits until each request has run once, with a record that says so.
    #[track_caller]
    pub fn assert_run_once(&self, ids: &[String]) {
        for row in self.ended(ids) {
            let id = row["request_id"].as_str().unwrap();
            assert_eq!(row["outcome"], "ok", "{row:#}\n{}", self.logs());
            assert_eq!(self.runs_of(id), 1, "{row:#}");
        }
    }

    /// Waits for a condition.
    ///
    /// # Panics
    /// Panics with the logs of every host after two minutes.
    #[track_caller]
    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            let waited = begun.elapsed();
            assert!(
                waited < Duration::from_secs(WAIT_SEC) * time_factor(),
                "{what}: {}",
                self.logs()
            );
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until this number of requests has a state.
    #[track_caller]
    pub fn wait_for_states(&self, wanted: &[(&str, usize)]) {
        let what = format!("{wanted:?}");
        self.wait_for(&what, |fleet| {
            let rows = fleet.rows();
            let count = |state: &str| rows.iter().filter(|row| row["fleet_state"] == state).count();
            wanted.iter().all(|(state, number)| count(state) == *number)
        });
    }

    /// Fetches the record of a request below a directory.
    #[track_caller]
    pub fn fetch(&self, id: &str, into: &Path) -> PathBuf {
        let place = into.to_str().unwrap();
        let mut words = vec!["show", id, "--out", place, "--format", "json"];
        words.extend(self.store.iter().flat_map(|store| ["--store", store.as_str()]));
        let output = self.toolexec(&words);
        output.assert_code(0);
        PathBuf::from(output.json()["records"][0]["record"].as_str().unwrap())
    }

    /// Runs `toolexec verify` on records of any host, with the signed list.
    #[must_use]
    pub fn verify(&self, path: &Path) -> CliOutput {
        let mut command = self.client.command("toolexec");
        command.arg("verify").arg(path).arg("--fleet").arg(self.list_path());
        CliOutput::of(command.arg("--approvers").arg(&self.signers).args(["--format", "json"]))
    }

    /// Declares a host lost.
    #[must_use]
    pub fn declare_lost(&self, host: &str) -> CliOutput {
        self.declare_lost_with(host, &self.key)
    }

    /// Declares a host lost with the signature of another key.
    #[must_use]
    pub fn declare_lost_with(&self, host: &str, key: &Path) -> CliOutput {
        let (key, list) = (key.to_str().unwrap(), self.list_path());
        let (list, signers) = (list.to_str().unwrap(), self.signers.to_str().unwrap());
        let words = ["lost", host, "--sign-key", key, "--list", list, "--approvers", signers];
        self.fleet_command(&[&words[..], &["--format", "json"]].concat())
    }

    /// Returns the logs of every host, for messages.
    #[must_use]
    pub fn logs(&self) -> String {
        let log = |host: &TestFleetHost<'_>| {
            let (name, daemon, agent) = (&host.name, host.service.log(), host.agent_log());
            format!("{name}, daemon:\n{daemon}\n{name}, agent:\n{agent}\n")
        };
        self.hosts.iter().map(log).collect()
    }
}
