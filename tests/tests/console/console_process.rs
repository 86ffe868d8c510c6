//! The process of a console.

use std::fs::{self, File};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, Service};

use super::exchange::get;

/// A running `toolexec-console`. It is killed at the end.
pub(super) struct ConsoleProcess {
    child: Child,
    /// 0 at a Unix socket.
    pub(super) port: u16,
    log: PathBuf,
}

impl ConsoleProcess {
    /// Starts the program with a command at a port of loopback, and waits until it listens.
    pub(super) fn start(
        mut command: Command,
        files: (&Bench, &Service<'_>, &Path),
        port: u16,
    ) -> Self {
        command.arg("--listen").arg(format!("127.0.0.1:{port}"));
        let mut process = Self::spawn(command, files, port);
        process.wait_until_it_listens(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        process
    }

    /// Starts the program with a command at a Unix socket, and waits until it listens.
    pub(super) fn start_at_socket(
        mut command: Command,
        files: (&Bench, &Service<'_>, &Path),
        socket: &Path,
    ) -> Self {
        command.arg("--socket").arg(socket);
        let mut process = Self::spawn(command, files, 0);
        process.wait_until_it_listens(|| UnixStream::connect(socket).is_ok());
        process
    }

    fn spawn(
        mut command: Command,
        (bench, service, signers): (&Bench, &Service<'_>, &Path),
        port: u16,
    ) -> Self {
        let log = bench.home().join(format!("console-{port}.log"));
        command.arg("--spool").arg(service.spool()).arg("--allowed-signers").arg(signers);
        command.arg("--result-keys").arg(service.state().join("keys/allowed_signers"));
        command.arg("--log-key").arg(service.state().join("keys/log.pub"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log).unwrap());
        Self { child: command.spawn().unwrap(), port, log }
    }

    fn wait_until_it_listens(&mut self, is_listening: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_listening() {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}: {}", self.log());
            let waited = begun.elapsed();
            assert!(waited < Duration::from_secs(20) * time_factor(), "silent: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Returns the origin under which a browser reaches it.
    pub(super) fn origin(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// Asserts that it still answers.
    #[track_caller]
    pub(super) fn assert_answers(&self) {
        let answer = get(self.port, "/");
        assert_eq!(answer.status, 200, "{answer:?}\n{}", self.log());
    }
}

impl Drop for ConsoleProcess {
    fn drop(&mut self) {
        // It may have crashed, which a test then reports.
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
    }
}
