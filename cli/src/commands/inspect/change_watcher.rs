//! Change notifications for polling: soon after the kernel reports a change, and at intervals
//! without one. A notification is only a hint to look again.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// Directories that are watched while this value lives.
pub(crate) struct ChangeWatcher(Option<OwnedFd>);

impl ChangeWatcher {
    /// Watches those of the directories that can be watched. The others are read at intervals.
    pub(crate) fn of(place: &Path, parts: &[&str]) -> Self {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let Ok(inotify) = inotify::init(flags) else { return Self(None) };
        let events =
            WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MOVED_FROM | WatchFlags::DELETE;
        let watched = parts.iter().filter(|part| {
            inotify::add_watch(&inotify, place.join(part), events | WatchFlags::ONLYDIR).is_ok()
        });
        Self((watched.count() > 0).then_some(inotify))
    }

    /// Waits for a change, the end of the time, or `other`. Returns whether `other` is ready.
    pub(crate) fn wait(&self, longest: Duration, other: Option<PollFd<'_>>) -> bool {
        let has_other = other.is_some();
        let mut waited: Vec<PollFd<'_>> = other.into_iter().collect();
        waited.extend(self.0.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let longest = Timespec {
            tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: longest.subsec_nanos().into(),
        };
        // A signal ends the wait early, which is also a reason to look.
        let ready = poll(&mut waited, Some(&longest)).unwrap_or(0) > 0;
        let first_ready = waited.first().is_some_and(|polled| !polled.revents().is_empty());
        self.take_changes();
        has_other && ready && first_ready
    }

    /// Returns whether something changed since the last call, and consumes all notifications.
    pub(crate) fn take_changes(&self) -> bool {
        let Some(inotify) = &self.0 else { return false };
        let (mut bytes, mut came) = ([0_u8; 4096], false);
        while rustix::io::read(inotify, &mut bytes).is_ok_and(|read| read > 0) {
            came = true;
        }
        came
    }
}
