//! Runs the collector on `/out` after the tree is dead.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, pidfd_send_signal};

use super::super::collector::{self, WorkOriginal};
use super::super::inner_fds::InnerFds;
use super::model::{SandboxSupervisor, StartedTool};
use crate::process::{ProcessState, ends_within};
use crate::sys::ClonedChild;

/// The most time that a killed collector may take to end.
const KILL_TIME_MAX: Duration = Duration::from_secs(2);

impl SandboxSupervisor<'_> {
    pub(super) fn collect(&self, windows: &InnerFds, started: &StartedTool) -> io::Result<()> {
        let inputs = windows.inputs();
        let work = started.work.as_ref().map(|folder| WorkOriginal { inputs, folder });
        let ClonedChild { pid, pidfd } = collector::fork(
            windows.out(),
            work,
            &self.evidence,
            &started.limits,
            self.process.identity,
            self.process.mode,
            &self.base_root.filters,
        )?;
        let waited = wait_for_either(&pidfd, self.control, started.limits.collect_time_max());
        if waited != CollectorWait::Process {
            pidfd_send_signal(&pidfd, Signal::KILL)?;
        }
        if !ends_within(&pidfd, KILL_TIME_MAX) {
            let state = ProcessState::read(pid.unsigned_abs());
            let state = state.map_or_else(String::new, |it| format!(": {it}"));
            return Err(io::Error::other(format!("collector: cannot be killed{state}")));
        }
        waitpid(Pid::from_raw(pid), Some(WaitPidFlag::__WALL))?;
        match waited {
            // After a hangup the daemon no longer receives files.
            CollectorWait::Process | CollectorWait::Hangup => Ok(()),
            CollectorWait::Timeout => {
                Err(io::Error::other("collector: took too long and was killed"))
            }
        }
    }
}

/// The event that came first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CollectorWait {
    Process,
    /// The connection to the daemon.
    Hangup,
    Timeout,
}

fn wait_for_either(pidfd: &OwnedFd, control: &OwnedFd, timeout: Duration) -> CollectorWait {
    let deadline = Instant::now() + timeout;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut waited =
            [PollFd::new(pidfd, PollFlags::IN), PollFd::new(control, PollFlags::empty())];
        match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) | Err(_) => return CollectorWait::Timeout,
            Ok(_) if waited[0].revents().is_empty() => return CollectorWait::Hangup,
            Ok(_) => return CollectorWait::Process,
        }
    }
}
