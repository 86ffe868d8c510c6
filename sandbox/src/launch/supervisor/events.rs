//! The events of a running sandbox, and their priority. Denied calls are answered here. No action
//! that a tool can repeat at will may keep the launcher from init's or the daemon's messages, or
//! from a deadline.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::Failed;
use super::super::cgroup::Alarm;
use super::super::denials::Denials;
use super::model::{SandboxSupervisor, SessionStop};
use crate::messages::{FromInit, ToLauncher};
use crate::wire;

/// The peers whose messages are accepted; the end of either is always noticed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageSources {
    Init,
    InitAndDaemon,
}

pub(super) enum SandboxEvent {
    Init(FromInit, Vec<OwnedFd>),
    Daemon(ToLauncher),
    /// A denied call for which the run must end.
    Violation,
    /// Memory may be exhausted; the counters decide.
    Alarm,
    DaemonGone,
    InitGone,
    /// Events of the sandbox can no longer be observed; its tree may be alive.
    Unobservable(io::Error),
    Timeout,
}

impl SandboxSupervisor<'_> {
    pub(super) fn wait_event(
        &mut self,
        timeout: Duration,
        listening: MessageSources,
    ) -> SandboxEvent {
        self.wait_event_until(Instant::now() + timeout, listening)
    }

    /// Waits for the next event until `deadline`. Denied calls are answered meanwhile, but never at
    /// the expense of another event: a tool can make any number of them.
    pub(super) fn wait_event_until(
        &mut self,
        deadline: Instant,
        listening: MessageSources,
    ) -> SandboxEvent {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let heard = match listening {
                MessageSources::InitAndDaemon => PollFlags::IN,
                MessageSources::Init => PollFlags::empty(),
            };
            // Without a filter no listener exists; init's pidfd fills its place in the list.
            let listener = self.denials.as_ref().map(Denials::listener);
            let end = PollFd::new(self.process.pidfd(), PollFlags::IN);
            let mut waited = [
                PollFd::new(&self.process.channel, PollFlags::IN),
                PollFd::new(self.control, heard),
                PollFd::new(self.process.pidfd(), PollFlags::IN),
                PollFd::from_borrowed_fd(
                    listener.unwrap_or(self.process.pidfd().as_fd()),
                    PollFlags::IN,
                ),
                self.alarm.map_or(end, Alarm::poll_fd),
            ];
            match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) => return SandboxEvent::Timeout,
                Err(rustix::io::Errno::INTR) => continue,
                // After a failed poll the tree must still be ended.
                Err(errno) => return SandboxEvent::Unobservable(errno.into()),
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
                return self.receive_from_init(daemon.contains(PollFlags::HUP));
            }
            if let Some(alarm) = self.alarm
                && !rung.is_empty()
            {
                self.reset_alarm(alarm);
                return SandboxEvent::Alarm;
            }
            // A daemon's messages before its hangup are ignored: their effect would go unrecorded.
            if daemon.intersects(PollFlags::HUP | PollFlags::ERR) {
                return SandboxEvent::DaemonGone;
            }
            if daemon.contains(PollFlags::IN) {
                return self.receive_from_daemon();
            }
            if !end.is_empty() || !init.is_empty() {
                return SandboxEvent::InitGone;
            }
            if left.is_zero() {
                return SandboxEvent::Timeout;
            }
        }
    }

    fn receive_from_init(&self, daemon_gone: bool) -> SandboxEvent {
        match wire::receive(&self.process.channel) {
            Ok(Some((bytes, fds))) => match FromInit::decode(&bytes) {
                Ok(verb) => SandboxEvent::Init(verb, fds),
                Err(error) => SandboxEvent::Unobservable(error.into()),
            },
            // Init also ends when the daemon is gone.
            Ok(None) if daemon_gone => SandboxEvent::DaemonGone,
            Ok(None) => SandboxEvent::InitGone,
            Err(error) => SandboxEvent::Unobservable(error),
        }
    }

    fn receive_from_daemon(&self) -> SandboxEvent {
        match wire::receive(self.control) {
            Ok(Some((bytes, _))) => match ToLauncher::decode(&bytes) {
                Ok(verb) => SandboxEvent::Daemon(verb),
                Err(_) => SandboxEvent::DaemonGone,
            },
            _ => SandboxEvent::DaemonGone,
        }
    }

    /// Drops an alarm that cannot be reset, which would fire for ever; regular checks suffice.
    fn reset_alarm(&mut self, alarm: &Alarm) {
        if let Err(error) = alarm.reset() {
            eprintln!("toolexec-launch: memory events: cannot be read: {error}");
            self.alarm = None;
        }
    }

    /// Answers one denied call. Returns an event only if the run must end for it.
    fn answer_denied(&mut self) -> Option<SandboxEvent> {
        let denials = self.denials.as_mut()?;
        if let Err(error) = denials.answer() {
            eprintln!("toolexec-launch: denied call: cannot be answered: {error}");
            // Missing evidence ends the run.
            return Some(SandboxEvent::Unobservable(error));
        }
        denials.violation().map(|_| SandboxEvent::Violation)
    }
}

/// Returns the reason why the session stopped, for an event before the start of the tool.
pub(super) fn session_stop(woken: SandboxEvent, doing: &str) -> SessionStop {
    let failed = |why: &str| SessionStop::Failed(Failed::here(&format!("cannot {doing}: {why}")));
    match woken {
        SandboxEvent::Init(FromInit::SetupFailed(unable), _) => SessionStop::Failed(unable.into()),
        SandboxEvent::DaemonGone => SessionStop::Abandoned,
        SandboxEvent::InitGone => failed("the sandbox's init died"),
        SandboxEvent::Unobservable(error) => {
            failed(&format!("the sandbox's init cannot be read: {error}"))
        }
        SandboxEvent::Timeout => failed("timed out"),
        SandboxEvent::Alarm => failed("memory ran out"),
        SandboxEvent::Init(..) | SandboxEvent::Daemon(_) | SandboxEvent::Violation => {
            failed("unexpected message")
        }
    }
}
