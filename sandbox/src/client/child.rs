//! A launcher that is our child: starting it, talking to it and stopping it. Every wait here is
//! bounded, because a launcher can be stuck in the kernel, where even SIGKILL has no effect.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::error::BuildError;
use super::session::{SessionOpening, limit_sending, pair};
use super::start::{ASK_INTERVAL, Peer, StartLimit};
use crate::process::ProcessState;
use crate::wire;

/// The most time that our own launcher may take to exit when no longer needed.
const EXIT_TIME_MAX: Duration = Duration::from_secs(5);
/// The same for a launcher that is stuck, and for one that was killed.
const STUCK_TIME_MAX: Duration = Duration::from_secs(1);
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// A launcher to start.
#[derive(Clone, Debug)]
pub struct LauncherProgram {
    /// The path of the program.
    pub path: PathBuf,
    /// The staging root: the directory whose slots hold the inputs of runs.
    pub staging: PathBuf,
    /// Directories that runtimes may need; the launcher's default list if empty.
    pub mounts_allowed: Vec<PathBuf>,
    /// The most concurrent sandboxes.
    pub max_sandboxes: u32,
}

impl LauncherProgram {
    /// Describes a launcher of one sandbox at a time.
    #[must_use]
    pub fn new(path: PathBuf, staging: PathBuf) -> Self {
        Self { path, staging, mounts_allowed: Vec::new(), max_sandboxes: 1 }
    }
}

#[derive(Debug)]
pub(super) struct ChildLauncher {
    /// The control socket, to which new sessions are sent. Closing it asks the launcher to exit.
    control_socket: Option<OwnedFd>,
    process: Child,
    /// It did not respond; do not wait for it.
    is_retired: bool,
}

/// A launcher that another thread starts, because exec can hang on the program's file system.
#[derive(Debug)]
pub(super) struct StartingLauncher {
    path: PathBuf,
    started: Receiver<io::Result<ChildLauncher>>,
}

impl StartingLauncher {
    pub(super) fn begin(program: LauncherProgram) -> Result<Self, BuildError> {
        let path = program.path.clone();
        let (sender, started) = channel();
        let start = move || {
            // If the caller no longer waits, this launcher exits when its control socket closes.
            sender.send(ChildLauncher::spawn(&program)).unwrap_or_default();
        };
        match thread::Builder::new().name("start-launcher".to_owned()).spawn(start) {
            Ok(_) => Ok(Self { path, started }),
            Err(error) => Err(BuildError::Launcher(path, error)),
        }
    }

    pub(super) fn wait(self, limit: &mut StartLimit<'_>) -> Result<ChildLauncher, BuildError> {
        let failed = |error| BuildError::Launcher(self.path.clone(), error);
        loop {
            match self.started.recv_timeout(ASK_INTERVAL) {
                Ok(started) => return started.map_err(failed),
                Err(RecvTimeoutError::Timeout) => {
                    limit.check(Peer::default(), "start the launcher")?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(failed(io::ErrorKind::BrokenPipe.into()));
                }
            }
        }
    }

    /// Ends a launcher that was not needed.
    pub(super) fn give_up(self) {
        drop(self.started.recv_timeout(EXIT_TIME_MAX));
    }
}

impl ChildLauncher {
    fn spawn(program: &LauncherProgram) -> io::Result<Self> {
        let LauncherProgram { path, staging, mounts_allowed, max_sandboxes } = program;
        let (control_socket, theirs) = pair()?;
        let mut command = Command::new(path);
        command.arg("--staging").arg(staging).env_clear();
        command.arg("--sandboxes-max").arg(max_sandboxes.to_string());
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null());
        // The caller handles Ctrl-C. The launcher must survive it to report the end of the run.
        command.process_group(0);
        for mount in mounts_allowed {
            command.arg("--allow-mount").arg(mount);
        }
        Ok(Self {
            control_socket: Some(control_socket),
            process: command.spawn()?,
            is_retired: false,
        })
    }

    /// Begins a session. The first message precedes the socket, so that the worker wakes only once.
    pub(super) fn open_session(
        &self,
        first: &SessionOpening<'_>,
        deadline: Instant,
    ) -> io::Result<OwnedFd> {
        let (control, theirs) = pair()?;
        limit_sending(&control, deadline)?;
        first.send(&control)?;
        let socket = self.control_socket.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        wire::send_at_once(socket, b"session", &[theirs.as_fd()])?;
        Ok(control)
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn state(&self) -> Option<ProcessState> {
        ProcessState::read(self.pid()).filter(|state| !state.has_ended())
    }

    /// Sends it no more sessions, and lets it exit with its last sandbox.
    pub(super) fn close_control_socket(&mut self) {
        self.control_socket = None;
    }

    /// As [`Self::close_control_socket`]. Its exit is not waited for.
    pub(super) fn retire(&mut self) {
        self.is_retired = true;
        self.close_control_socket();
    }

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
            thread::sleep(CHECK_INTERVAL);
        }
        true
    }
}

impl Drop for ChildLauncher {
    /// The launcher exits with its last sandbox. One that hangs is killed, with its sandboxes; one
    /// that cannot be killed stays. The caller has no sandbox in it any more.
    fn drop(&mut self) {
        self.control_socket = None;
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
