//! The long-lived launcher: keeps what is slow to make, and one waiting process for the next cell.
//!
//! It holds the *seats*: a seat is what one cell at a time needs from the host (a uid, a network
//! namespace), and each seat in use has one process, forked ahead of the conversation it will serve.
//! This process reads nothing that a client sends, so nothing that a client sends can hurt the next
//! cell. A seat whose process did not end cleanly is never used again.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Failed;
use super::door::Door;
use super::house::House;
use super::identity::{Identity, Uids};
use super::options::Options;
use super::seat;
use crate::report::Layer;
use crate::sys::{self, Fork};

impl SeatState {
    fn waits(&self) -> bool {
        matches!(self, Self::Waiting(_))
    }

    fn works(&self) -> bool {
        matches!(self, Self::Busy(_))
    }
}

/// What ended a sleep.
enum Woken {
    Something,
    DoorClosed,
    /// Its time was up.
    Nothing,
}

/// What signals asked of us.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    ToEnd,
}

/// How long a taken seat's replacement may wait while another one still waits at the door.
const BREATHING_SPACE: Timespec = Timespec { tv_sec: 0, tv_nsec: 3_000_000 };

/// What one cell at a time is given.
pub(super) struct Seat {
    pub(super) identity: Identity,
    /// Keeps the uid ours for as long as any process of ours holds it.
    _uid_lock: Option<File>,
    /// A network namespace of the seat's own; `lo` in it is down and was never up.
    pub(super) network: OwnedFd,
    state: SeatState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SeatState {
    Free,
    /// Its process waits at the door.
    Waiting(Pid),
    /// Its process has a conversation.
    Busy(Pid),
    /// Its process was killed because the launcher ends.
    Ending(Pid),
    /// Its last process did not end cleanly: something of its cell may live.
    Retired,
}

struct Zygote<'a> {
    options: &'a Options,
    door: Door,
    house: Result<House, Failed>,
    uids: Option<Uids>,
    seats: Vec<Seat>,
    /// As asked, or what this host has room for.
    seats_max: usize,
    /// Seat processes write the number of their seat here when they are taken.
    taken: (OwnedFd, OwnedFd),
    signals: SignalFd,
}

/// Serves conversations until the door is closed.
pub(super) fn live(options: &Options, door: Door) -> io::Result<()> {
    let mut watched = SigSet::empty();
    watched.add(Signal::SIGCHLD);
    watched.add(Signal::SIGTERM);
    watched.thread_block()?;
    let signals = SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let taken = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // Before the host's files go out of sight.
    let uids = Uids::open(options.mode);
    // What fails here is every client's answer; it must not look like a launcher that is not there.
    let (house, uids) = match uids {
        Ok(uids) => (House::enter(options), uids),
        Err(failed) => (Err(failed), None),
    };
    let (seats, seats_max) = (Vec::new(), options.seats_max);
    Zygote { options, door, house, uids, seats, seats_max, taken, signals }.tend()
}

impl Zygote<'_> {
    fn tend(mut self) -> io::Result<()> {
        loop {
            if self.count(SeatState::waits) == 0 {
                self.fill()?;
            }
            // Making the next one at once would compete with the cell that is being built.
            let at_most = self.wants_more().then_some(BREATHING_SPACE);
            let woken = self.sleep(at_most)?;
            match woken {
                Woken::DoorClosed => break,
                Woken::Nothing => self.fill()?,
                Woken::Something => {}
            }
            self.hear_taken()?;
            if self.hear_signals()? == Asked::ToEnd {
                self.kill_seats()?;
                break;
            }
        }
        // The waiting ones see the same end; the busy ones finish what they have.
        while self.seats.iter().any(|seat| seat.pid().is_some()) {
            let mut waited = [PollFd::new(&self.signals, PollFlags::IN)];
            wait_for(&mut waited, None)?;
            if self.hear_signals()? == Asked::ToEnd {
                self.kill_seats()?;
            }
        }
        if let Ok(House { cgroups: Ok(home), .. }) = &self.house {
            home.sweep();
        }
        Ok(())
    }

    /// Whoever asks us to end cannot wait for tools: their cells end with us, and what they leave is swept.
    fn kill_seats(&mut self) -> io::Result<()> {
        for seat in &mut self.seats {
            let Some(pid) = seat.pid() else { continue };
            match nix::sys::signal::kill(pid, Signal::SIGKILL) {
                Ok(()) | Err(nix::errno::Errno::ESRCH) => seat.state = SeatState::Ending(pid),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// Sees to it that as many processes wait at the door as were asked for.
    fn fill(&mut self) -> io::Result<()> {
        loop {
            if !self.wants_more() {
                return Ok(());
            }
            let free = self.seats.iter().position(|seat| seat.state == SeatState::Free);
            let number = match free {
                Some(number) => number,
                None => {
                    match self.new_seat() {
                        Ok(seat) => self.seats.push(seat),
                        // With nobody at the door yet, the next client must be told why.
                        Err(failed) if self.seats.is_empty() && self.house.is_ok() => {
                            self.house = Err(failed);
                            continue;
                        }
                        Err(failed) => {
                            eprintln!("toolexec-launch: no further seat: {}", failed.step);
                            self.seats_max = self.seats.len();
                            return Ok(());
                        }
                    }
                    self.seats.len() - 1
                }
            };
            self.fork_seat(number)?;
        }
    }

    fn new_seat(&self) -> Result<Seat, Failed> {
        let (identity, uid_lock, network) = match (&self.house, &self.uids) {
            // Nothing will be built, only told why: any descriptor will do.
            (Err(_), _) => (Identity::own(), None, null()?),
            (Ok(_), None) => (Identity::own(), None, new_network()?),
            (Ok(_), Some(uids)) => {
                let (identity, lock) = uids.take()?;
                (identity, lock, new_network()?)
            }
        };
        Ok(Seat { identity, _uid_lock: uid_lock, network, state: SeatState::Free })
    }

    fn fork_seat(&mut self, number: usize) -> io::Result<()> {
        match sys::fork()? {
            Fork::Child => {
                let seat = &self.seats[number];
                seat::live(self.options, seat, &self.house, &self.door, || {
                    let word = u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
                    rustix::io::write(&self.taken.1, &word).map(drop).map_err(Into::into)
                })
            }
            Fork::Parent(pid) => {
                self.seats[number].state = SeatState::Waiting(Pid::from_raw(pid));
                Ok(())
            }
        }
    }

    fn wants_more(&self) -> bool {
        let (waiting, busy) = (self.count(SeatState::waits), self.count(SeatState::works));
        waiting < self.options.seats_waiting && waiting + busy < self.seats_max
    }

    fn count(&self, wanted: impl Fn(&SeatState) -> bool) -> usize {
        self.seats.iter().filter(|seat| wanted(&seat.state)).count()
    }

    /// Until somebody was taken, has ended, or the door is closed.
    fn sleep(&self, at_most: Option<Timespec>) -> io::Result<Woken> {
        let mut waited = [
            PollFd::new(&self.taken.0, PollFlags::IN),
            PollFd::new(&self.signals, PollFlags::IN),
            // What arrives there is the seats' to take; only its end is told to us.
            PollFd::from_borrowed_fd(self.door.as_fd(), PollFlags::empty()),
        ];
        let woken = wait_for(&mut waited, at_most)?;
        let closed = waited[2].revents().contains(PollFlags::HUP);
        Ok(if closed { Woken::DoorClosed } else { woken })
    }

    fn hear_taken(&mut self) -> io::Result<()> {
        let mut words = [0; 4 * 64];
        let mut waited = [PollFd::new(&self.taken.0, PollFlags::IN)];
        if poll(&mut waited, Some(&Timespec::default()))? == 0 {
            return Ok(());
        }
        // Words of four bytes are written whole (pipe(7)), and the space is a multiple of it.
        let len = rustix::io::read(&self.taken.0, &mut words)?;
        for word in words[..len].as_chunks::<4>().0 {
            let seat = usize::try_from(u32::from_le_bytes(*word)).unwrap_or(usize::MAX);
            if let Some(seat) = self.seats.get_mut(seat)
                && let SeatState::Waiting(pid) = seat.state
            {
                seat.state = SeatState::Busy(pid);
            }
        }
        Ok(())
    }

    fn hear_signals(&mut self) -> io::Result<Asked> {
        let mut asked = Asked::Nothing;
        while let Some(signal) = self.signals.read_signal()? {
            if signal.ssi_signo == Signal::SIGTERM as u32 {
                asked = Asked::ToEnd;
            }
        }
        self.reap()?;
        Ok(asked)
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
            let clean = matches!(status, WaitStatus::Exited(_, 0));
            if let Some(seat) = self.seats.iter_mut().find(|seat| seat.pid() == Some(pid)) {
                let killed = matches!(seat.state, SeatState::Ending(_));
                seat.state = if clean { SeatState::Free } else { SeatState::Retired };
                if !clean && !killed {
                    eprintln!("toolexec-launch: a seat is given up: its process ended {status:?}");
                }
            }
        }
    }
}

impl Seat {
    fn pid(&self) -> Option<Pid> {
        match self.state {
            SeatState::Waiting(pid) | SeatState::Busy(pid) | SeatState::Ending(pid) => Some(pid),
            SeatState::Free | SeatState::Retired => None,
        }
    }
}

fn null() -> Result<OwnedFd, Failed> {
    let opened = File::open("/dev/null");
    opened.map(OwnedFd::from).map_err(Failed::at("open /dev/null"))
}

/// A network namespace with nothing in it but `lo`, which is down. This process moves into it and, with
/// the next one, out of it again; it has no use for a network itself.
fn new_network() -> Result<OwnedFd, Failed> {
    let layer = Layer::Namespaces;
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET)
        .map_err(Failed::without(layer, "unshare the network namespace"))?;
    let opened = File::open("/proc/self/ns/net");
    opened.map(OwnedFd::from).map_err(Failed::without(layer, "open the network namespace"))
}

fn wait_for(waited: &mut [PollFd<'_>], at_most: Option<Timespec>) -> io::Result<Woken> {
    match poll(waited, at_most.as_ref()) {
        Ok(0) => Ok(Woken::Nothing),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(Woken::Something),
        Err(errno) => Err(errno.into()),
    }
}
