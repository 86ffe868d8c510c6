//! What tells the launcher that memory is out, so that it need not wait for its next look.
//!
//! An alarm says only that something happened: whether the OOM killer was at work stands in the counters,
//! and nothing may be ended for an alarm alone. On v1 it comes a moment before the kill; on v2 also
//! when a limit was merely met, and at most every 10 ms. A kernel without it leaves the regular looks.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};

use super::model::FILE_BYTES_MAX;
use super::write;

/// How long the kernel may take from its warning to the kill, as far as anybody hurries for it.
const KILL_TIME_MAX: Duration = Duration::from_millis(5);

pub(in crate::launch) enum Alarm {
    /// Counted up by the kernel (memory.txt of cgroup v1, section 10).
    V1(OwnedFd),
    /// `memory.events`: pollable for a change since it was last read through this descriptor.
    V2(File),
}

impl Alarm {
    /// `oom_control` is the open `memory.oom_control` of the group at `memory`. `None` where the kernel has
    /// no such events.
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
        // It rings until it was read once.
        alarm.silence()?;
        Ok(alarm)
    }

    /// How long after it the counters may not know yet.
    pub(in crate::launch) fn leads_by(&self) -> Duration {
        match self {
            Self::V1(_) => KILL_TIME_MAX,
            // Counted first, told afterwards.
            Self::V2(_) => Duration::ZERO,
        }
    }

    /// What to wait for.
    pub(in crate::launch) fn poll_fd(&self) -> PollFd<'_> {
        let (fd, flags): (BorrowedFd<'_>, _) = match self {
            Self::V1(bell) => (bell.as_fd(), PollFlags::IN),
            Self::V2(events) => (events.as_fd(), PollFlags::PRI),
        };
        PollFd::from_borrowed_fd(fd, flags)
    }

    /// Until the next event.
    pub(in crate::launch) fn silence(&self) -> io::Result<()> {
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
