//! One host of a fleet: `toolexecd`, and `toolexec-fleet serve` beside it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{Bench, CliOutput};
use crate::processes::{Process, kill};
use crate::service::Service;
use crate::service_config::ServiceConfig;
use crate::shifted_clock::ShiftedClock;
use crate::slowdown::time_factor;

/// The longest wait of a daemon for the answer to one start, in seconds.
const START_WAIT_SEC: u32 = 30;
const READY_TIME_MAX: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);

/// A host, and its two programs if they were started.
pub struct TestFleetHost<'a> {
    pub name: String,
    pub bench: &'a Bench,
    pub service: Service<'a>,
    agent: Option<Child>,
    agent_starts: u32,
    /// The shift of its wall clock in seconds.
    clock: Option<(ShiftedClock, i64)>,
}

impl<'a> TestFleetHost<'a> {
    /// Makes the spool and the keys. The host has no list of the fleet yet.
    pub(super) fn prepare(name: &str, bench: &'a Bench, config: &ServiceConfig) -> Self {
        let service = Service::prepare(bench, config);
        service.configure(&format!("log: {{origin: {name}, heartbeat_sec: 0}}"));
        let host = Self {
            name: name.to_owned(),
            bench,
            service,
            agent: None,
            agent_starts: 0,
            clock: None,
        };
        host.service.configure(&format!(
            "metrics: {{file: {}, interval_sec: 1}}",
            host.metrics_path().display()
        ));
        host.keys(&["init"]);
        host
    }

    /// Runs `toolexec keys` on the keys of the daemon, and returns its output.
    pub(super) fn keys(&self, words: &[&str]) -> String {
        let mut command = self.bench.command("toolexec");
        command.arg("keys").args(words).arg("--config").arg(self.service.config());
        let output = CliOutput::of(&mut command);
        output.assert_code(0);
        output.stdout
    }

    /// Writes the configuration of the agent: short intervals, and every request without an
    /// audience.
    pub(super) fn configure_agent(&self, database: &str, signers: &Path) {
        let (home, spool) = (self.bench.home(), self.service.spool());
        let (home, spool) = (home.display(), spool.display());
        let text = format!(
            "host: {}\ndatabase: \"{database}\"\nspool: {spool}\nstate: {home}/agent\n\
             socket: {home}/gate\nfleet_list: {home}/fleet.yaml\nallowed_signers: {}\n\
             beat_sec: 1\ntakeover_sec: 3\npoll_sec: 2\nwithout_audience: true\n",
            self.name,
            signers.display()
        );
        fs::write(self.agent_config(), text).unwrap();
    }

    /// Makes the daemon a member of the fleet.
    pub(super) fn join(&self) {
        let home = self.bench.home();
        let home = home.display();
        self.service.configure(&format!(
            "fleet: {{socket: {home}/gate, list: {home}/fleet.yaml, start_wait_sec: \
             {START_WAIT_SEC}}}"
        ));
    }

    #[must_use]
    pub fn agent_config(&self) -> PathBuf {
        self.bench.home().join("toolexec-fleet.yaml")
    }

    /// The state directory of the agent.
    #[must_use]
    pub fn agent_state(&self) -> PathBuf {
        self.bench.home().join("agent")
    }

    /// The list of the fleet as this host has it.
    #[must_use]
    pub fn list_path(&self) -> PathBuf {
        self.bench.home().join("fleet.yaml")
    }

    fn metrics_path(&self) -> PathBuf {
        self.bench.home().join("toolexec.prom")
    }

    /// Sets a key of the agent's configuration. It counts from the next start.
    pub fn set_agent(&self, key: &str, value: &str) {
        let text = fs::read_to_string(self.agent_config()).unwrap();
        let begin = format!("{key}: ");
        let kept = text.lines().filter(|line| !line.starts_with(&begin));
        let kept: String = kept.map(|line| format!("{line}\n")).collect();
        fs::write(self.agent_config(), format!("{kept}{begin}{value}\n")).unwrap();
    }

    /// Shifts the wall clock of both programs from their next start on.
    pub fn shift_clock(&mut self, clock: ShiftedClock, seconds: i64) {
        self.clock = Some((clock, seconds));
    }

    fn shifted(&self, mut command: Command) -> Command {
        if let Some((clock, seconds)) = &self.clock {
            clock.shift(&mut command, *seconds);
        }
        command
    }

    /// Returns the command of the agent with these words and its configuration.
    #[must_use]
    pub fn agent_command(&self, word: &str) -> Command {
        let mut command = self.bench.command("toolexec-fleet");
        command.arg(word).arg("--config").arg(self.agent_config());
        self.shifted(command)
    }

    /// Starts the agent and waits until it serves.
    ///
    /// # Panics
    /// Panics if it ends, or does not serve within a minute.
    pub fn spawn_agent(&mut self) {
        self.agent_starts += 1;
        let log = File::create(self.agent_log_path()).unwrap();
        let mut command = self.agent_command("serve");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.agent = Some(command.spawn().unwrap());
        let begun = Instant::now();
        while !self.agent_log().contains("serving host") {
            let ended = self.agent.as_mut().unwrap().try_wait().unwrap();
            assert_eq!(ended, None, "{}", self.agent_log());
            let waited = begun.elapsed();
            assert!(waited < READY_TIME_MAX * time_factor(), "silent: {}", self.agent_log());
            std::thread::sleep(LOOK);
        }
    }

    fn agent_log_path(&self) -> PathBuf {
        self.bench.home().join(format!("toolexec-fleet-{}.log", self.agent_starts))
    }

    /// Returns the log of the agent since its last start.
    #[must_use]
    pub fn agent_log(&self) -> String {
        fs::read_to_string(self.agent_log_path()).unwrap_or_default()
    }

    /// Starts the daemon without waiting for it.
    pub fn begin_daemon(&mut self) {
        let command = self.shifted(self.service.command());
        self.service.spawn_as(command);
    }

    /// Starts both programs, and waits until the daemon is ready.
    pub fn spawn(&mut self) {
        self.spawn_agent();
        self.begin_daemon();
        self.service.wait_for("the daemon to be ready", |service| service.log().contains("ready"));
    }

    /// Ends the agent at once.
    ///
    /// # Panics
    /// Panics if it does not run.
    pub fn kill_agent(&mut self) {
        let mut agent = self.agent.take().unwrap();
        agent.kill().unwrap();
        agent.wait().unwrap();
    }

    /// Ends the daemon at once.
    pub fn kill_daemon(&mut self) {
        self.service.signal("KILL");
        self.service.wait();
    }

    /// Ends both programs at once, as a loss of the host does.
    pub fn kill(&mut self) {
        self.kill_daemon();
        self.kill_agent();
    }

    /// Stops the agent in order.
    #[track_caller]
    pub fn stop_agent(&mut self) {
        let mut agent = self.agent.take().unwrap();
        kill("TERM", Process(agent.id()));
        assert_eq!(agent.wait().unwrap().code(), Some(0), "{}", self.agent_log());
    }

    /// Stops both programs in order.
    #[track_caller]
    pub fn stop(&mut self) {
        self.service.signal("TERM");
        assert_eq!(self.service.wait(), Some(0), "{}", self.service.log());
        self.stop_agent();
    }

    /// The process of the agent.
    ///
    /// # Panics
    /// Panics if it does not run.
    #[must_use]
    pub fn agent_process(&self) -> Process {
        Process(self.agent.as_ref().unwrap().id())
    }

    /// Returns the reason why the daemon admits nothing, as it publishes it. It looks for one only
    /// while a request waits.
    #[must_use]
    pub fn published_status(&self) -> String {
        fs::read_to_string(self.service.path("public/status.json")).unwrap_or_default()
    }

    /// Returns a sample of the daemon's metrics, as last written.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<f64> {
        let text = fs::read_to_string(self.metrics_path()).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")))?;
        line.trim().parse().ok()
    }
}

impl Drop for TestFleetHost<'_> {
    fn drop(&mut self) {
        if let Some(mut agent) = self.agent.take() {
            // It may have crashed, which a test then reports.
            agent.kill().unwrap_or_default();
            agent.wait().unwrap();
        }
    }
}
