//! The kernel's notification of exhausted memory; without it, the regular checks remain. An alarm
//! only means that something happened: the counters show whether the OOM killer ran, and a run must
//! never be ended for an alarm alone. On v1 the alarm comes shortly before the kill. On v2 it also
//! comes when a limit was merely reached, and at most every 10 ms.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};

use super::model::FILE_BYTES_MAX;
use super::write;

/// The most time from the warning to the kill, during which the counters are checked more often.
const KILL_TIME_MAX: Duration = Duration::from_millis(5);

pub(in crate::launch) enum Alarm {
    /// An eventfd that the kernel increments (memory.txt of cgroup v1, section 10).
    V1(OwnedFd),
    /// `memory.events`: pollable for a change since the last read through this descriptor.
    V2(File),
}

impl Alarm {
    /// Opens the alarm of the group at `memory`. Returns `None` if the kernel has no such events.
    pub(super) fn open_v1(memory: &Path, oom_control: &File) -> io::Result<Option<Self>> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let wanted = format!("{} {}", bell.as_raw_fd(), oom_control.as_raw_fd());
        match write(&memory.join("cgroup.event_control"), &wanted) {
            Ok(()) => Ok(Some(Self::V1(bell))),
            Err(error) if is_unknown(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn open_v2(group: &Path) -> io::Result<Self> {
        let alarm = Self::V2(File::open(group.join("memory.events"))?);
        // It fires until it is read once.
        alarm.reset()?;
        Ok(alarm)
    }

    /// Returns how long after the alarm the counters may lag behind.
    pub(in crate::launch) fn lead_time(&self) -> Duration {
        match self {
            Self::V1(_) => KILL_TIME_MAX,
            // The kernel counts before it notifies.
            Self::V2(_) => Duration::ZERO,
        }
    }

    pub(in crate::launch) fn poll_fd(&self) -> PollFd<'_> {
        let (fd, flags): (BorrowedFd<'_>, _) = match self {
            Self::V1(bell) => (bell.as_fd(), PollFlags::IN),
            Self::V2(events) => (events.as_fd(), PollFlags::PRI),
        };
        PollFd::from_borrowed_fd(fd, flags)
    }

    pub(in crate::launch) fn reset(&self) -> io::Result<()> {
        match self {
            Self::V1(bell) => match rustix::io::read(bell, &mut [0; 8]) {
                Ok(_) | Err(rustix::io::Errno::AGAIN) => Ok(()),
                Err(errno) => Err(errno.into()),
            },
            Self::V2(events) => events.read_at(&mut [0; FILE_BYTES_MAX], 0).map(drop),
        }
    }
}

fn is_unknown(error: &io::Error) -> bool {
    let known = [libc::ENOENT, libc::EOPNOTSUPP, libc::EINVAL];
    error.raw_os_error().is_some_and(|errno| known.contains(&errno))
}
