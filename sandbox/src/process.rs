//! The state of a process from `/proc`, for error messages. It must never wait for that process:
//! the kernel alone answers every read here.

use std::fmt;
use std::fs;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::AsFd;
use std::time::Instant;

use crate::steps::SetupStep;

/// The most bytes of a kernel stack that are kept.
const STACK_BYTES_MAX: usize = 4096;

/// A snapshot of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessState {
    /// The process id.
    pub pid: u32,
    name: String,
    /// The state letter of proc_pid_stat(5).
    state: char,
    /// The kernel function in which it sleeps, where this user may read it.
    wchan: Option<String>,
    stack: Option<String>,
}

impl ProcessState {
    /// Reads the state of a process. Returns `None` if it does not exist.
    #[must_use]
    pub fn read(pid: u32) -> Option<Self> {
        let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
        let stat = file("stat")?;
        // The name is between the first and the last parenthesis and may contain parentheses.
        let (front, rest) = stat.rsplit_once(") ")?;
        let name = front.split_once('(')?.1;
        let printable = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '?' };
        let wchan = file("wchan").map(|it| it.trim().to_owned());
        let stack = file("stack").map(|it| it.chars().take(STACK_BYTES_MAX).collect::<String>());
        Some(Self {
            pid,
            name: name.chars().map(printable).collect(),
            state: rest.chars().next()?,
            wchan: wchan.filter(|it| !it.is_empty() && it != "0"),
            stack: stack.filter(|it: &String| !it.trim().is_empty()),
        })
    }

    /// Returns the existing children of a process.
    #[must_use]
    pub fn children_of(pid: u32) -> Vec<Self> {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children = children.unwrap_or_default();
        let pids = children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
        pids.filter_map(Self::read).collect()
    }

    /// Returns whether it cannot run: it sleeps uninterruptibly, or is stopped or frozen.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        matches!(self.state, 'D' | 'T' | 't')
    }

    /// Returns whether it has ended and waits to be reaped.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    pub(crate) fn step(&self) -> Option<SetupStep> {
        SetupStep::of_name(&self.name)
    }

    /// Returns its kernel stack, where this user may read it.
    #[must_use]
    pub fn stack(&self) -> Option<&str> {
        self.stack.as_deref()
    }
}

impl fmt::Display for ProcessState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            'D' => "in uninterruptible sleep",
            'T' => "stopped",
            't' => "stopped by a tracer",
            'R' => "running",
            'S' => "asleep",
            'Z' | 'X' => "dead",
            'I' => "idle",
            _ => "in an unknown state",
        };
        let Self { pid, name, state: letter, .. } = self;
        write!(f, "process {pid} ({name}) is {state} ({letter})")?;
        match &self.wchan {
            Some(wchan) => write!(f, " in {wchan}"),
            None => Ok(()),
        }
    }
}

/// Waits until a process has ended, by its pidfd. Returns false after `time_max`.
pub(crate) fn ends_within(pidfd: impl AsFd, time_max: Duration) -> bool {
    let deadline = Instant::now() + time_max;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut waited = [PollFd::new(&pidfd, PollFlags::IN)];
        match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) | Err(_) => return false,
            Ok(_) => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_described_by_its_state() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let asleep = |state: &ProcessState| state.state == 'S' && state.name == "sleep";
        while !ProcessState::read(pid).is_some_and(|state| asleep(&state)) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let state = ProcessState::read(pid).unwrap();
        assert!(!state.is_stuck() && !state.has_ended());
        assert!(state.to_string().starts_with(&format!("process {pid} (sleep) is asleep (S)")));
        let own = ProcessState::children_of(std::process::id());
        // A thread of this test started it, and /proc lists children by thread.
        assert!(own.iter().all(|one| one.pid != 1));
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&child),
            rustix::process::Signal::STOP,
        )
        .unwrap();
        while !ProcessState::read(pid).unwrap().is_stuck() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(ProcessState::read(pid).unwrap().to_string().contains("is stopped (T)"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(ProcessState::read(pid), None);
    }
}
