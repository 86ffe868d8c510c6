//! A `toolexecd` with its own spool. The daemon is killed at the end of the test.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{Bench, CliOutput};
use crate::processes::{Process, kill};
use crate::record::Record;
use crate::request::{RequestText, SavedRequest};
use crate::scratch::list;
use crate::service_config::ServiceConfig;

/// A spool, and a daemon if one was started.
pub struct Service<'a> {
    bench: &'a Bench,
    child: Option<Child>,
    starts: u32,
}

impl<'a> Service<'a> {
    /// Creates the spool and the configuration. Starts nothing.
    #[must_use]
    pub fn prepare(bench: &'a Bench, config: &ServiceConfig) -> Self {
        let service = Self { bench, child: None, starts: 0 };
        let root = bench.home();
        fs::create_dir_all(service.spool().join("approved")).unwrap();
        for place in [service.spool(), service.spool().join("approved")] {
            chown(place, Some(bench.uid()), Some(bench.uid())).unwrap();
        }
        fs::write(root.join("policy.yaml"), &config.policy).unwrap();
        let mut text = format!(
            "config_version: 1\nspool: {0}/spool\nstate: {0}/daemon\npolicy: {0}/policy.yaml\n\
             scan_interval_sec: 30\nshutdown_grace_sec: {1}\n",
            root.display(),
            config.shutdown_grace_sec
        );
        if let Some(signers) = &config.allowed_signers {
            text.push_str(&format!("allowed_signers: {}\n", signers.display()));
        }
        if let Some(prewarmed_sandboxes) = config.prewarmed_sandboxes {
            text.push_str(&format!("prewarmed_sandboxes: {prewarmed_sandboxes}\n"));
        }
        fs::write(service.config(), text).unwrap();
        service
    }

    /// Creates the spool and the configuration, and starts the daemon.
    #[must_use]
    pub fn start(bench: &'a Bench, config: &ServiceConfig) -> Self {
        let mut service = Self::prepare(bench, config);
        service.spawn();
        service
    }

    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.bench.home().join("toolexecd.yaml")
    }

    #[must_use]
    pub fn spool(&self) -> PathBuf {
        self.bench.home().join("spool")
    }

    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.bench.home().join("daemon")
    }

    /// Returns a path in the spool.
    #[must_use]
    pub fn path(&self, path: &str) -> PathBuf {
        self.spool().join(path)
    }

    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = self.bench.command("toolexecd");
        command.arg("--config").arg(self.config());
        command
    }

    /// Starts the daemon and waits until it is ready.
    pub fn spawn(&mut self) {
        let command = self.command();
        self.spawn_as(command);
        self.wait_for("the daemon to be ready", |service| service.log().contains("ready"));
    }

    /// Starts the daemon with a given command. Does not wait.
    pub fn spawn_as(&mut self, mut command: Command) {
        self.starts += 1;
        let log = self.log_path();
        let stderr = File::create(&log).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        self.child = Some(command.spawn().unwrap());
    }

    /// Returns true unless the daemon is known to have ended.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process().0));
        // A process that has ended and was not waited for is a zombie.
        stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
    }

    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        let status = self.child.as_mut().unwrap().try_wait().unwrap()?;
        self.child = None;
        Some(status)
    }

    fn log_path(&self) -> PathBuf {
        self.bench.home().join(format!("toolexecd-{}.log", self.starts))
    }

    /// Returns the daemon's log since its last start.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Waits for a condition.
    ///
    /// # Panics
    /// Panics if the condition does not hold within 90 seconds: on a busy host a guest needs 40 to start.
    #[track_caller]
    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < Duration::from_secs(90), "{what}: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Submits a request with `toolexec submit`.
    #[track_caller]
    pub fn submit(&self, request: &RequestText) -> SavedRequest {
        let saved = self.bench.save(request);
        self.submit_saved(&saved).assert_code(0);
        saved
    }

    /// Runs `toolexec submit` on a saved request.
    #[must_use]
    pub fn submit_saved(&self, request: &SavedRequest) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        CliOutput::of(command.arg("submit").arg(&request.path).arg("--spool").arg(self.spool()))
    }

    /// Writes a ledger in the format of an earlier version: lines without checksums, and no head.
    pub fn write_old_ledger(&self, lines: &str) {
        let without_sum = |line: &str| match line.split_once(",\"sum\":\"") {
            Some((content, _)) => format!("{content}}}\n"),
            None => format!("{line}\n"),
        };
        let text: String = lines.lines().map(without_sum).collect();
        fs::write(self.state().join("ledger"), text).unwrap();
        fs::remove_file(self.state().join("ledger.head")).unwrap_or_default();
    }

    #[must_use]
    pub fn staging_slots(&self) -> Vec<String> {
        list(&self.state().join("staging"))
    }

    /// Asserts that no input is staged. The slot of a prewarmed sandbox is empty.
    #[track_caller]
    pub fn assert_nothing_staged(&self) {
        for slot in self.staging_slots() {
            assert_eq!(
                list(&self.state().join("staging").join(&slot)),
                Vec::<String>::new(),
                "{slot}"
            );
        }
    }

    /// Returns every published record of a request.
    #[must_use]
    pub fn records_of(&self, request_id: &str) -> Vec<Record> {
        let mut records = self.records();
        records.retain(|record| record.id().ends_with(request_id));
        records
    }

    /// Returns the names of the published results.
    #[must_use]
    pub fn visible_results(&self) -> Vec<String> {
        let mut names = list(&self.path("results"));
        names.retain(|name| !name.starts_with('.'));
        names
    }

    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let results = self.path("results");
        self.visible_results().iter().map(|name| Record::at(&results.join(name))).collect()
    }

    /// Waits for the record of a request and for the end of its claim.
    #[must_use]
    #[track_caller]
    pub fn record_of(&self, request_id: &str) -> Record {
        self.wait_for("a record", |service| !service.records_of(request_id).is_empty());
        let file = self.path(&format!("approved/{request_id}.md"));
        self.wait_for("the request to leave approved/", |_| !file.exists());
        self.wait_for("the claim to be finished", |service| list(&service.path("work")).is_empty());
        let mut records = self.records_of(request_id);
        assert_eq!(records.len(), 1, "{records:#?}");
        records.remove(0)
    }

    /// Runs `toolexec verify` on all results with the daemon's key.
    #[must_use]
    pub fn verify(&self) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        command.arg("verify").arg(self.path("results")).arg("--state").arg(self.state());
        CliOutput::of(&mut command)
    }

    /// Runs `toolexec log fsck` on the daemon's log and the results.
    #[must_use]
    pub fn fsck(&self) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        command.args(["log", "fsck", "--spool"]).arg(self.spool());
        command.arg("--log-key").arg(self.state().join("keys/log.pub"));
        command.arg("--results").arg(self.path("results"));
        CliOutput::of(&mut command)
    }

    pub fn signal(&self, signal: &str) {
        kill(signal, self.process());
    }

    #[must_use]
    pub fn process(&self) -> Process {
        Process(self.child.as_ref().unwrap().id())
    }

    pub fn configure(&self, line: &str) {
        let text = fs::read_to_string(self.config()).unwrap();
        fs::write(self.config(), format!("{text}{line}\n")).unwrap();
    }

    /// Waits for the daemon to end, and returns its exit code.
    #[track_caller]
    pub fn wait(&mut self) -> Option<i32> {
        let begun = Instant::now();
        let child = self.child.as_mut().unwrap();
        while begun.elapsed() < Duration::from_secs(20) {
            if let Some(status) = child.try_wait().unwrap() {
                self.child = None;
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the daemon does not end: {}", self.log());
    }
}

impl Drop for Service<'_> {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
