//! Runs the collector on `/out` after the tree is dead.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, pidfd_send_signal};

use super::super::collector;
use super::super::windows::Windows;
use super::model::Cell;
use crate::plan::Limits;
use crate::process::{ProcessState, ends_within};
use crate::sys::Cloned;

/// The most time that collecting may take.
const COLLECT_TIME_MAX: Duration = Duration::from_secs(120);
/// The most time that a killed collector may take to end.
const KILL_TIME_MAX: Duration = Duration::from_secs(2);

impl Cell<'_> {
    pub(super) fn collect(&self, windows: &Windows, limits: &Limits) -> io::Result<()> {
        let Cloned { pid, pidfd } = collector::fork(
            windows.out(),
            &self.evidence,
            limits,
            self.shell.identity,
            self.shell.mode,
            &self.house.filters,
        )?;
        let waited = wait_for_either(&pidfd, self.control, COLLECT_TIME_MAX);
        if waited != First::Process {
            pidfd_send_signal(&pidfd, Signal::KILL)?;
        }
        if !ends_within(&pidfd, KILL_TIME_MAX) {
            let stands = ProcessState::read(pid.unsigned_abs());
            let stands = stands.map_or_else(String::new, |it| format!(": {it}"));
            return Err(io::Error::other(format!("collector: cannot be killed{stands}")));
        }
        waitpid(Pid::from_raw(pid), Some(WaitPidFlag::__WALL))?;
        match waited {
            // After a hangup the daemon no longer receives files.
            First::Process | First::Hangup => Ok(()),
            First::Neither => Err(io::Error::other("collector: took too long and was killed")),
        }
    }
}

/// The event that came first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Process,
    /// The connection to the daemon.
    Hangup,
    Neither,
}

fn wait_for_either(pidfd: &OwnedFd, control: &OwnedFd, patience: Duration) -> First {
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut waited =
            [PollFd::new(pidfd, PollFlags::IN), PollFd::new(control, PollFlags::empty())];
        match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) | Err(_) => return First::Neither,
            Ok(_) if waited[0].revents().is_empty() => return First::Hangup,
            Ok(_) => return First::Process,
        }
    }
}
