//! The process of a server, and the files that it is started with.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::programs::PostgresPrograms;
use crate::bench::{Bench, CliOutput};
use crate::ports::unused_port;
use crate::processes::{Process, kill};
use crate::slowdown::time_factor;

/// The role that owns every object.
pub(super) const OWNER: &str = "postgres";
/// The database of the fleet.
pub(super) const DATABASE: &str = "toolexec";
const PORT: u16 = 5432;
const START_TIME_MAX: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// A server, which runs unless the test has stopped it.
pub struct PostgresServer {
    pub(super) bench: Bench,
    pub(super) programs: PostgresPrograms,
    pub(super) port: u16,
    server: Option<Child>,
}

impl PostgresServer {
    /// Starts a server with an empty database `toolexec`. It listens at a Unix socket, and every
    /// user may log in as every role. Logs a skip and returns `None` without PostgreSQL.
    #[must_use]
    pub fn start(test: &str) -> Option<Self> {
        let bench = Bench::of_ordinary_user();
        let programs = PostgresPrograms::find(test, &bench)?;
        let mut server = Self { bench, programs, port: PORT, server: None };
        let mut initdb = server.programs.command(&server.bench, "initdb");
        initdb.arg("-D").arg(server.data()).args(["-U", OWNER, "--auth=trust", "-E", "UTF8"]);
        CliOutput::of(initdb.args(["--locale=C", "--no-sync"])).assert_code(0);
        server.append_settings();
        server.run();
        server.query_in("postgres", &format!("CREATE DATABASE {DATABASE}"));
        Some(server)
    }

    /// Copies the server, and starts the copy as a standby, which accepts no changes.
    #[must_use]
    pub fn start_standby(&self) -> Self {
        self.copied(&["-R"])
    }

    /// Copies the server, and starts the copy as a server of its own: a backup that is restored.
    #[must_use]
    pub fn start_copy(&self) -> Self {
        self.copied(&[])
    }

    fn copied(&self, words: &[&str]) -> Self {
        let bench = Bench::of_ordinary_user();
        let mut copy = Self { bench, programs: self.programs.clone(), port: PORT, server: None };
        let mut backup = self.programs.command(&copy.bench, "pg_basebackup");
        backup.arg("-D").arg(copy.data()).args(["-X", "stream", "-c", "fast", "-U", OWNER, "-h"]);
        backup.arg(self.socket_directory()).args(["-p", &self.port.to_string()]).args(words);
        CliOutput::of(&mut backup).assert_code(0);
        copy.append_settings();
        copy.run();
        copy
    }

    /// Starts again, so that it also listens at a free port of loopback, which is returned.
    pub fn listen_on_loopback(&mut self) -> u16 {
        self.stop();
        let begun = Instant::now();
        loop {
            let free = unused_port();
            self.port = free;
            self.append(&format!("listen_addresses = '127.0.0.1'\nport = {free}\n"));
            self.spawn();
            if self.is_ready_in_time() {
                return free;
            }
            // Another program has taken the port.
            assert!(begun.elapsed() < START_TIME_MAX * time_factor(), "{}", self.log());
        }
    }

    fn append_settings(&self) {
        let socket = self.socket_directory();
        self.append(&format!(
            "listen_addresses = ''\nport = {}\nunix_socket_directories = '{}'\n\
             max_connections = 200\nshared_buffers = '32MB'\n",
            self.port,
            socket.display()
        ));
    }

    /// Appends lines to `postgresql.conf`. They count from the next start, and the last one wins.
    pub fn append(&self, lines: &str) {
        let path = self.data().join("postgresql.conf");
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
    }

    /// The directory of the data.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.bench.home().join("data")
    }

    pub(super) fn socket_directory(&self) -> PathBuf {
        self.bench.home()
    }

    /// The user who runs the server.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.bench.uid()
    }

    /// Starts the server and waits until it answers.
    ///
    /// # Panics
    /// Panics if it does not answer within a minute.
    pub fn run(&mut self) {
        let begun = Instant::now();
        loop {
            self.spawn();
            if self.is_ready_in_time() {
                return;
            }
            // The processes of the server before may be ending.
            assert!(begun.elapsed() < START_TIME_MAX * time_factor(), "{}", self.log());
            std::thread::sleep(LOOK * 4);
        }
    }

    fn spawn(&mut self) {
        assert!(self.server.is_none(), "it runs");
        let log = OpenOptions::new().create(true).append(true).open(self.log_path()).unwrap();
        let mut server = self.programs.command(&self.bench, "postgres");
        server.arg("-D").arg(self.data());
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.server = Some(server.spawn().unwrap());
    }

    /// Returns false if it ended before it answered.
    fn is_ready_in_time(&mut self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < START_TIME_MAX * time_factor() {
            if self.sql_in(OWNER, "postgres", "SELECT 1").code == Some(0) {
                return true;
            }
            if self.server.as_mut().is_none_or(|it| it.try_wait().unwrap().is_some()) {
                self.server = None;
                return false;
            }
            std::thread::sleep(LOOK);
        }
        panic!("the server does not answer: {}", self.log());
    }

    /// Stops the server. Every connection is cut, and what was committed is written first.
    ///
    /// # Panics
    /// Panics if it does not run.
    pub fn stop(&mut self) {
        self.end("INT");
    }

    /// Ends the server at once, as a crash does: the next start recovers.
    ///
    /// # Panics
    /// Panics if it does not run.
    pub fn crash(&mut self) {
        self.end("QUIT");
    }

    fn end(&mut self, signal: &str) {
        let mut server = self.server.take().unwrap();
        kill(signal, Process(server.id()));
        server.wait().unwrap();
    }

    fn log_path(&self) -> PathBuf {
        self.bench.scratch().path().join("postgresql.log")
    }

    /// Returns the log of the server.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            if server.try_wait().unwrap().is_none() {
                kill("QUIT", Process(server.id()));
            }
            server.wait().unwrap();
        }
    }
}
