//! A launcher that is our child: starting it, talking to it and stopping it. Every wait here is
//! bounded, because a launcher can be stuck in the kernel, where even SIGKILL has no effect.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::conversation::{First, limit_sending, pair};
use super::error::BuildError;
use super::start::{ASK_INTERVAL, Peer, StartLimit};
use crate::process::ProcessState;
use crate::wire;

/// The most time that our own launcher may take to exit when no longer needed.
const EXIT_TIME_MAX: Duration = Duration::from_secs(5);
/// The same for a launcher that is stuck, and for one that was killed.
const STUCK_TIME_MAX: Duration = Duration::from_secs(1);
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// The arguments to start a launcher.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) staging: PathBuf,
    pub(super) mounts_allowed: Vec<PathBuf>,
    pub(super) seats_max: u32,
}

/// A launcher that is our child.
#[derive(Debug)]
pub(super) struct OwnLauncher {
    /// The control socket, to which new sessions are sent. Closing it asks the launcher to exit.
    door: Option<OwnedFd>,
    process: Child,
    /// It did not respond; do not wait for it.
    is_retired: bool,
}

impl OwnLauncher {
    /// Starts a launcher on another thread, because exec can hang on the program's file system.
    pub(super) fn start(program: Program, limit: &mut StartLimit<'_>) -> Result<Self, BuildError> {
        let path = program.path.clone();
        let failed = |error| BuildError::Launcher(path.clone(), error);
        let (told, started) = channel();
        let start = move || {
            // If the caller no longer waits, the launcher is not needed; it exits with its control
            // socket.
            told.send(Self::spawn(&program)).unwrap_or_default();
        };
        thread::Builder::new().name("start-launcher".to_owned()).spawn(start).map_err(failed)?;
        loop {
            match started.recv_timeout(ASK_INTERVAL) {
                Ok(started) => return started.map_err(failed),
                Err(RecvTimeoutError::Timeout) => {
                    limit.go_on(Peer::default(), "start the launcher")?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(failed(io::ErrorKind::BrokenPipe.into()));
                }
            }
        }
    }

    fn spawn(program: &Program) -> io::Result<Self> {
        let Program { path, staging, mounts_allowed, seats_max } = program;
        let (door, theirs) = pair()?;
        let mut command = Command::new(path);
        command.arg("--staging").arg(staging).env_clear();
        command.arg("--seats-max").arg(seats_max.to_string());
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null());
        // The caller handles Ctrl-C. The launcher must survive it to report the end of the run.
        command.process_group(0);
        for mount in mounts_allowed {
            command.arg("--allow-mount").arg(mount);
        }
        Ok(Self { door: Some(door), process: command.spawn()?, is_retired: false })
    }

    /// Begins a session. The first message is sent before the launcher has the socket, so that the
    /// worker wakes up only once.
    pub(super) fn converse(&self, first: &First<'_>, deadline: Instant) -> io::Result<OwnedFd> {
        let (control, theirs) = pair()?;
        limit_sending(&control, deadline)?;
        first.send(&control)?;
        let door = self.door.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        wire::send_at_once(door, b"conversation", &[theirs.as_fd()])?;
        Ok(control)
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns its process state unless it has ended.
    pub(super) fn state(&self) -> Option<ProcessState> {
        ProcessState::read(self.pid()).filter(|state| !state.has_ended())
    }

    /// Sends it no more sessions, and lets it exit with its last sandbox.
    pub(super) fn retire(&mut self) {
        self.is_retired = true;
        self.door = None;
    }

    /// Returns whether it has ended and was reaped.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    fn ends_within(&mut self, time_max: Duration) -> bool {
        let begun = Instant::now();
        while !self.has_ended() {
            let stuck = || self.state().is_some_and(|state| state.is_stuck());
            let elapsed = begun.elapsed();
            if elapsed >= time_max || elapsed >= STUCK_TIME_MAX && stuck() {
                return false;
            }
            thread::sleep(LOOK_INTERVAL);
        }
        true
    }
}

impl Drop for OwnLauncher {
    /// Closes the control socket, so that the launcher exits with its last sandbox, and reaps it. A
    /// launcher that hangs is killed, and its sandboxes end with it. One that cannot be killed is
    /// left behind. The caller has no sandbox in it any more.
    fn drop(&mut self) {
        self.door = None;
        if !self.is_retired && self.ends_within(EXIT_TIME_MAX) {
            return;
        }
        if let Err(error) = self.process.kill() {
            eprintln!("toolexec: launcher: cannot be killed: {error}");
        }
        if !self.ends_within(STUCK_TIME_MAX)
            && let Some(state) = self.state()
        {
            eprintln!("toolexec: launcher: did not exit and is left behind: {state}");
        }
    }
}
