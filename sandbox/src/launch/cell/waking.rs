//! The events of a running sandbox, and their priority.
//!
//! Denied calls are answered here. No action that a tool can repeat at will may keep the launcher
//! from init's or the daemon's messages, or from a deadline.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::Failed;
use super::super::cgroup::Alarm;
use super::super::denials::Denials;
use super::model::{Cell, Stopped};
use crate::messages::{FromInit, ToLauncher};
use crate::wire;

/// The peers whose messages are accepted; the end of either is always noticed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Listening {
    ToInit,
    ToBoth,
}

/// The event that woke the launcher.
pub(super) enum Woken {
    Init(FromInit, Vec<OwnedFd>),
    Daemon(ToLauncher),
    /// A denied call for which the run must end.
    Violation,
    /// Memory may be exhausted; the counters decide.
    Alarm,
    /// The daemon's connection is gone.
    DaemonGone,
    /// Init has ended.
    InitGone,
    /// Events of the sandbox can no longer be observed; its tree may be alive.
    Blind(io::Error),
    /// No event within the given time.
    Nothing,
}

impl Cell<'_> {
    pub(super) fn wake(&mut self, patience: Duration, listening: Listening) -> Woken {
        self.wake_until(Instant::now() + patience, listening)
    }

    /// Waits for the next event until `deadline`. Denied calls are answered meanwhile, but never at
    /// the expense of another event: a tool can make any number of them.
    pub(super) fn wake_until(&mut self, deadline: Instant, listening: Listening) -> Woken {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let heard = match listening {
                Listening::ToBoth => PollFlags::IN,
                Listening::ToInit => PollFlags::empty(),
            };
            // Without a filter no listener exists; init's pidfd fills its place in the list.
            let listener = self.denials.as_ref().map(Denials::listener);
            let end = PollFd::new(self.shell.pidfd(), PollFlags::IN);
            let mut waited = [
                PollFd::new(&self.shell.channel, PollFlags::IN),
                PollFd::new(self.control, heard),
                PollFd::new(self.shell.pidfd(), PollFlags::IN),
                PollFd::from_borrowed_fd(
                    listener.unwrap_or(self.shell.pidfd().as_fd()),
                    PollFlags::IN,
                ),
                self.alarm.map_or(end, Alarm::poll_fd),
            ];
            match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) => return Woken::Nothing,
                Err(rustix::io::Errno::INTR) => continue,
                // After a failed poll the tree must still be ended.
                Err(errno) => return Woken::Blind(errno.into()),
                Ok(_) => {}
            }
            let [init, daemon, end, denied, rung] = waited.map(|fd| fd.revents());
            if denied.contains(PollFlags::IN)
                && let Some(woken) = self.answer_denied()
            {
                return woken;
            }
            // Init's messages are handled before its end.
            if init.contains(PollFlags::IN) {
                return self.hear_init(daemon.contains(PollFlags::HUP));
            }
            if let Some(alarm) = self.alarm
                && !rung.is_empty()
            {
                self.silence(alarm);
                return Woken::Alarm;
            }
            // A daemon's messages before its hangup are ignored: their effect would not be
            // recorded.
            if daemon.intersects(PollFlags::HUP | PollFlags::ERR) {
                return Woken::DaemonGone;
            }
            if daemon.contains(PollFlags::IN) {
                return self.hear_daemon();
            }
            if !end.is_empty() || !init.is_empty() {
                return Woken::InitGone;
            }
            if left.is_zero() {
                return Woken::Nothing;
            }
        }
    }

    fn hear_init(&self, daemon_gone: bool) -> Woken {
        match wire::receive(&self.shell.channel) {
            Ok(Some((bytes, fds))) => match FromInit::decode(&bytes) {
                Ok(verb) => Woken::Init(verb, fds),
                Err(error) => Woken::Blind(error.into()),
            },
            // Init also ends when the daemon is gone.
            Ok(None) if daemon_gone => Woken::DaemonGone,
            Ok(None) => Woken::InitGone,
            Err(error) => Woken::Blind(error),
        }
    }

    fn hear_daemon(&self) -> Woken {
        match wire::receive(self.control) {
            Ok(Some((bytes, _))) => match ToLauncher::decode(&bytes) {
                Ok(verb) => Woken::Daemon(verb),
                Err(_) => Woken::DaemonGone,
            },
            _ => Woken::DaemonGone,
        }
    }

    /// Drops an alarm that cannot be reset: it would fire for ever. The regular checks are
    /// sufficient.
    fn silence(&mut self, alarm: &Alarm) {
        if let Err(error) = alarm.silence() {
            eprintln!("toolexec-launch: memory events: cannot be read: {error}");
            self.alarm = None;
        }
    }

    /// Answers one denied call. Returns an event only if the run must end for it.
    fn answer_denied(&mut self) -> Option<Woken> {
        let denials = self.denials.as_mut()?;
        if let Err(error) = denials.answer() {
            eprintln!("toolexec-launch: denied call: cannot be answered: {error}");
            // Missing evidence ends the run.
            return Some(Woken::Blind(error));
        }
        denials.violation().map(|_| Woken::Violation)
    }
}

/// Returns the reason why the session stopped, for an event before the start of the tool.
pub(super) fn stopped(woken: Woken, doing: &str) -> Stopped {
    let failed = |why: &str| Stopped::Failed(Failed::here(&format!("cannot {doing}: {why}")));
    match woken {
        Woken::Init(FromInit::Unable(unable), _) => Stopped::Failed(unable.into()),
        Woken::DaemonGone => Stopped::Abandoned,
        Woken::InitGone => failed("the sandbox's init died"),
        Woken::Blind(error) => failed(&format!("the sandbox's init cannot be read: {error}")),
        Woken::Nothing => failed("timed out"),
        Woken::Alarm => failed("memory ran out"),
        Woken::Init(..) | Woken::Daemon(_) | Woken::Violation => failed("unexpected message"),
    }
}
