//! The long-lived launcher: keeps what is slow to make, and worker processes that wait for
//! sessions. A slot is what one sandbox at a time needs from the host (a uid, a network namespace),
//! with one process, forked before the session it will serve. This process reads nothing that a
//! client sends, so that no client can affect a later sandbox. A slot whose process did not end
//! cleanly must never be used again.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use model::LauncherMode;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Failed;
use super::base_root::BaseRoot;
use super::control_socket::ControlSocket;
use super::identity::{ToolIdentity, UidPool};
use super::options::Options;
use super::subordinate;
use super::worker::{self, CleanupState};
use super::worker_slot::{STUCK_CHECKS, SlotNetwork, WorkerSlot, WorkerSlotState};
use crate::process::ProcessState;
use crate::steps::SetupStep;
use crate::sys::{self, Fork};

enum WakeReason {
    Event,
    SocketClosed,
    Timeout,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SignalRequest {
    None,
    Exit,
}

/// The pause after a worker could not be started, unless a slot becomes free earlier.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// The delay before replacing a worker that took a session, while another one still waits.
const RESPAWN_DELAY: Duration = Duration::from_millis(3);
/// The workers that wait for a session while a sandbox is free.
const WORKERS_WAITING: usize = 2;

const STUCK_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The most time that workers may take to end after they are killed.
const KILLED_TIME_MAX: Duration = Duration::from_secs(3);

struct Zygote<'a> {
    options: &'a Options,
    control_socket: ControlSocket,
    base_root: Result<BaseRoot, Failed>,
    uids: Option<UidPool>,
    slots: Vec<WorkerSlot>,
    /// A process that reports to one client why no worker could be started.
    error_reporter: Option<Pid>,
    /// No worker is started before this time.
    not_before: Instant,
    next_check: Instant,
    /// The time by which killed workers must have ended.
    killed_until: Option<Instant>,
    /// Workers write the number of their slot here when they take a session.
    taken: (OwnedFd, OwnedFd),
    signals: SignalFd,
    /// No sandbox could be made in this process's view of the host. Another launcher has another
    /// view: after the host is repaired, a newly started launcher can make sandboxes.
    broken_host: bool,
}

/// Serves sessions until the control socket is closed.
pub(super) fn run_launcher(options: &Options, control_socket: ControlSocket) -> io::Result<()> {
    let mut watched = SigSet::empty();
    watched.add(Signal::SIGCHLD);
    watched.add(Signal::SIGTERM);
    watched.thread_block()?;
    let signals = SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let taken = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // Before the host's files become invisible.
    let uids = open_uids(options);
    // Report a failure here to every client; otherwise the launcher would seem not to run.
    let (base_root, uids) = match uids {
        Ok(mut uids) => (BaseRoot::enter(options, &mut uids), uids),
        Err(failed) => (Err(failed), None),
    };
    // A failed step has ended, too.
    SetupStep::end();
    let (slots, error_reporter, now) = (Vec::new(), None, Instant::now());
    let (not_before, next_check, killed_until) = (now, now, None);
    let zygote = Zygote {
        options,
        control_socket,
        base_root,
        uids,
        slots,
        error_reporter,
        not_before,
        next_check,
        killed_until,
        taken,
        signals,
        broken_host: false,
    };
    zygote.event_loop()
}

/// Opens the uids of sandboxes; `None` in user mode without subordinate ids: all share one uid.
fn open_uids(options: &Options) -> Result<Option<UidPool>, Failed> {
    match options.mode {
        LauncherMode::User => Ok(subordinate::uids(options)),
        LauncherMode::System => UidPool::of_host().map(Some),
    }
}

impl Zygote<'_> {
    fn event_loop(mut self) -> io::Result<()> {
        loop {
            if self.count(WorkerSlotState::waits) == 0 {
                self.fill();
            }
            let woken = self.sleep(self.pause())?;
            match woken {
                WakeReason::SocketClosed => break,
                WakeReason::Timeout => self.fill(),
                WakeReason::Event => {}
            }
            self.check_for_stuck();
            self.read_taken()?;
            let is_done = self.broken_host && self.count(WorkerSlotState::works) == 0;
            if self.read_signals()? == SignalRequest::Exit || is_done {
                self.kill_workers()?;
                break;
            }
        }
        // Waiting workers see the closed socket as well; busy ones finish their session.
        while self.may_still_end() {
            let mut waited = [PollFd::new(&self.signals, PollFlags::IN)];
            wait_for(&mut waited, Timespec::try_from(STUCK_CHECK_INTERVAL).ok())?;
            self.check_for_stuck();
            if self.read_signals()? == SignalRequest::Exit {
                self.kill_workers()?;
            }
        }
        for pid in self.pids() {
            if let Some(left) = ProcessState::read(pid.as_raw().unsigned_abs()) {
                eprintln!("toolexec-launch: {left}; left behind");
            }
        }
        if let Ok(base_root) = &self.base_root {
            base_root.sweep_groups();
        }
        Ok(())
    }

    /// Returns whether a child may still end: it is not stuck, and was not killed long ago.
    fn may_still_end(&self) -> bool {
        let in_time = self.killed_until.is_none_or(|until| Instant::now() < until);
        let mut slots = self.slots.iter().filter(|slot| slot.pid().is_some());
        in_time && (self.error_reporter.is_some() || slots.any(|slot| !slot.is_stuck()))
    }

    /// Checks the workers for stuck ones at an interval. A worker that is stuck in the kernel, or
    /// stopped, is not counted until it recovers: another takes its place.
    fn check_for_stuck(&mut self) {
        let now = Instant::now();
        if now < self.next_check {
            return;
        }
        self.next_check = now + STUCK_CHECK_INTERVAL;
        for slot in &mut self.slots {
            let Some(pid) = slot.pid() else { continue };
            let state = ProcessState::read(pid.as_raw().unsigned_abs());
            let Some(state) = state.filter(ProcessState::is_stuck) else {
                slot.stuck_checks = 0;
                continue;
            };
            slot.stuck_checks = slot.stuck_checks.saturating_add(1);
            if slot.stuck_checks == STUCK_CHECKS {
                let step = state.step().map_or_else(String::new, |step| format!(" ({step})"));
                eprintln!("toolexec-launch: worker slot: stuck{step}: {state}");
                if let Some(stack) = state.stack() {
                    eprintln!("{}", stack.trim_end());
                }
            }
        }
    }

    /// Kills the workers, because a launcher that must end cannot wait for tools. Their sandboxes
    /// end with them, and their leftovers are swept.
    fn kill_workers(&mut self) -> io::Result<()> {
        self.killed_until.get_or_insert_with(|| Instant::now() + KILLED_TIME_MAX);
        for pid in self.pids() {
            match nix::sys::signal::kill(pid, Signal::SIGKILL) {
                Ok(()) | Err(nix::errno::Errno::ESRCH) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        for slot in &mut self.slots {
            if let Some(pid) = slot.pid() {
                slot.state = WorkerSlotState::Ending(pid);
            }
        }
        Ok(())
    }

    fn pids(&self) -> impl Iterator<Item = Pid> {
        self.slots.iter().filter_map(WorkerSlot::pid).chain(self.error_reporter)
    }

    /// Starts workers until enough wait. A failure is retried later, and ends no running sandbox.
    fn fill(&mut self) {
        while self.wants_more() {
            let Err(failed) = self.start_worker() else { continue };
            self.not_before = Instant::now() + RETRY_AFTER;
            eprintln!("toolexec-launch: worker slot: not created: {failed}");
            // With no worker waiting or due to return, the next client must learn the reason.
            let expected = |state: &WorkerSlotState| state.waits() || state.works();
            if self.count(expected) == 0
                && let Err(error) = self.fork_error_reporter(failed)
            {
                eprintln!("toolexec-launch: worker slot: cannot report this failure: {error}");
            }
        }
    }

    fn start_worker(&mut self) -> Result<(), Failed> {
        let base_root = self.base_root.as_mut().map_err(|failed| failed.clone())?;
        base_root.sweep_due |= self.slots.iter().any(|it| it.state == WorkerSlotState::Retired);
        let base_root = &*base_root;
        let in_state =
            |wanted: WorkerSlotState| self.slots.iter().position(|slot| slot.state == wanted);
        let number = if let Some(free) = in_state(WorkerSlotState::Free) {
            free
        } else if let Some(traced) = in_state(WorkerSlotState::NetworkUsed) {
            let slot = &mut self.slots[traced];
            slot.network = SlotNetwork::new()?;
            slot.state = WorkerSlotState::Free;
            traced
        } else {
            let (identity, uid_lock) = match &self.uids {
                None => (ToolIdentity::own(), None),
                Some(uids) => uids.take()?,
            };
            let (network, state) = (SlotNetwork::new()?, WorkerSlotState::Free);
            let stuck_checks = 0;
            self.slots.push(WorkerSlot {
                identity,
                _uid_lock: uid_lock,
                network,
                state,
                stuck_checks,
            });
            self.slots.len() - 1
        };
        match sys::fork().map_err(Failed::at("fork a worker process"))? {
            Fork::Child => {
                let slot = &self.slots[number];
                worker::run_worker(self.options, slot, base_root, &self.control_socket, || {
                    let word = u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
                    rustix::io::write(&self.taken.1, &word).map(drop).map_err(Into::into)
                })
            }
            Fork::Parent(pid) => {
                let slot = &mut self.slots[number];
                slot.state = WorkerSlotState::Waiting(Pid::from_raw(pid));
                slot.stuck_checks = 0;
                if let Ok(base_root) = &mut self.base_root {
                    base_root.sweep_due = false;
                }
                Ok(())
            }
        }
    }

    fn fork_error_reporter(&mut self, failed: Failed) -> io::Result<()> {
        match sys::fork()? {
            Fork::Child => worker::refuse(self.options, &self.control_socket, failed),
            Fork::Parent(pid) => {
                self.error_reporter = Some(Pid::from_raw(pid));
                Ok(())
            }
        }
    }

    /// Returns the longest time to sleep.
    fn pause(&self) -> Option<Timespec> {
        if self.lacks_worker() && self.error_reporter.is_none() {
            // Starting the next worker at once would compete with the sandbox being built.
            let left = self.not_before.saturating_duration_since(Instant::now());
            return Timespec::try_from(left.max(RESPAWN_DELAY)).ok();
        }
        Timespec::try_from(self.next_check.saturating_duration_since(Instant::now())).ok()
    }

    /// Returns whether a worker is missing. At most as many may be stuck as busy, to spare the
    /// host.
    fn lacks_worker(&self) -> bool {
        let (waiting, busy) =
            (self.count(WorkerSlotState::waits), self.count(WorkerSlotState::works));
        let stuck = self.slots.iter().filter(|slot| slot.pid().is_some() && slot.is_stuck());
        waiting < WORKERS_WAITING
            && waiting + busy < self.options.max_sandboxes
            && stuck.count() <= self.options.max_sandboxes
    }

    fn wants_more(&self) -> bool {
        self.lacks_worker() && self.error_reporter.is_none() && Instant::now() >= self.not_before
    }

    fn count(&self, wanted: impl Fn(&WorkerSlotState) -> bool) -> usize {
        self.slots.iter().filter(|slot| wanted(&slot.state) && !slot.is_stuck()).count()
    }

    /// Sleeps until a worker took a session, a child has ended, or the control socket is closed.
    fn sleep(&self, at_most: Option<Timespec>) -> io::Result<WakeReason> {
        let mut waited = [
            PollFd::new(&self.taken.0, PollFlags::IN),
            PollFd::new(&self.signals, PollFlags::IN),
            // Sessions are for the workers; this process only watches for the socket's end.
            PollFd::from_borrowed_fd(self.control_socket.as_fd(), PollFlags::empty()),
        ];
        let woken = wait_for(&mut waited, at_most)?;
        let closed = waited[2].revents().contains(PollFlags::HUP);
        Ok(if closed { WakeReason::SocketClosed } else { woken })
    }

    fn read_taken(&mut self) -> io::Result<()> {
        let mut words = [0; 4 * 64];
        let mut waited = [PollFd::new(&self.taken.0, PollFlags::IN)];
        if poll(&mut waited, Some(&Timespec::default()))? == 0 {
            return Ok(());
        }
        // Writes of four bytes are atomic (pipe(7)), and the buffer's size is a multiple of four.
        let len = rustix::io::read(&self.taken.0, &mut words)?;
        for word in words[..len].as_chunks::<4>().0 {
            let number = usize::try_from(u32::from_le_bytes(*word)).unwrap_or(usize::MAX);
            if let Some(slot) = self.slots.get_mut(number)
                && let WorkerSlotState::Waiting(pid) = slot.state
            {
                slot.state = WorkerSlotState::Busy(pid);
            }
        }
        Ok(())
    }

    fn read_signals(&mut self) -> io::Result<SignalRequest> {
        let mut request = SignalRequest::None;
        while let Some(signal) = self.signals.read_signal()? {
            if signal.ssi_signo == Signal::SIGTERM as u32 {
                request = SignalRequest::Exit;
            }
        }
        self.reap()?;
        Ok(request)
    }

    fn reap(&mut self) -> io::Result<()> {
        loop {
            let status = match waitpid(None, Some(WaitPidFlag::WNOHANG | WaitPidFlag::__WALL)) {
                Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::ECHILD) => return Ok(()),
                Ok(status) => status,
                Err(nix::errno::Errno::EINTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            let Some(pid) = status.pid() else { continue };
            // A child has ended, so the next client is worth another attempt.
            self.not_before = Instant::now();
            if self.error_reporter == Some(pid) {
                self.error_reporter = None;
                self.broken_host |= self.base_root.is_err();
            }
            let cleanup = match status {
                WaitStatus::Exited(_, status) => CleanupState::of_status(status),
                _ => CleanupState::MaybeProcesses,
            };
            self.broken_host |= cleanup == CleanupState::BrokenHost;
            if let Some(slot) = self.slots.iter_mut().find(|slot| slot.pid() == Some(pid)) {
                let killed = matches!(slot.state, WorkerSlotState::Ending(_));
                slot.state = match cleanup {
                    CleanupState::Nothing | CleanupState::BrokenHost => WorkerSlotState::Free,
                    CleanupState::NetworkCounters => WorkerSlotState::NetworkUsed,
                    CleanupState::MaybeProcesses => WorkerSlotState::Retired,
                };
                if slot.state == WorkerSlotState::Retired && !killed {
                    eprintln!("toolexec-launch: worker slot: retired; process ended {status:?}");
                }
            }
        }
    }
}

fn wait_for(waited: &mut [PollFd<'_>], at_most: Option<Timespec>) -> io::Result<WakeReason> {
    match poll(waited, at_most.as_ref()) {
        Ok(0) => Ok(WakeReason::Timeout),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(WakeReason::Event),
        Err(errno) => Err(errno.into()),
    }
}
