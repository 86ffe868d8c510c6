//! The events of the results directory. An event is only a hint to look at its name: when two names
//! are exchanged, the last event of one of them is that it left.

use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use records::request_of;
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// After more events than this the directory is listed: so many looks cost as much.
pub(super) const EVENTS_MAX: usize = 4096;
/// The bytes of events that are read at once. An event has at most 272.
const BUFFER_BYTES: usize = 8 * 1024;

/// The changes of the results directory that events report.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ResultChanges {
    /// The names of results that may have appeared or left.
    pub(super) names: BTreeSet<OsString>,
    /// The number of events, including those about other names.
    pub(super) count: usize,
    /// True if events were lost or not read, or the directory itself was moved or removed.
    pub(super) is_incomplete: bool,
}

impl ResultChanges {
    /// Returns whether no event came, and none was lost.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && !self.is_incomplete
    }

    /// Notes an event. One without a name is about the directory itself, or about lost events.
    fn note(&mut self, name: Option<&CStr>) {
        self.count += 1;
        self.is_incomplete |= name.is_none() || self.count > EVENTS_MAX;
        // A result that is still being collected has another name.
        let named = name.filter(|name| request_of(&name.to_string_lossy()).is_some());
        self.names.extend(named.map(|name| OsStr::from_bytes(name.to_bytes()).to_owned()));
    }
}

/// The results directory, watched while this value lives.
pub(super) struct ResultEvents(OwnedFd);

impl ResultEvents {
    /// Begins to watch. Every later change of a name has an event.
    ///
    /// # Errors
    /// The directory is missing, or a limit of the kernel for watches is reached.
    pub(super) fn of(results: &Path) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let names =
            WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MOVED_FROM | WatchFlags::DELETE;
        let directory = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR;
        inotify::add_watch(&inotify, results, names | directory)?;
        Ok(Self(inotify))
    }

    /// Returns the changes since the last call. Changes that are not complete must be the last ones
    /// that are taken.
    pub(super) fn take(&self) -> ResultChanges {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&self.0, &mut buffer);
        let mut changes = ResultChanges::default();
        while !changes.is_incomplete {
            match reader.next() {
                Ok(event) => changes.note(event.file_name()),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => changes.is_incomplete = true,
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_without_a_name_makes_the_changes_incomplete() {
        let mut changes = ResultChanges::default();
        changes.note(Some(c"TS-20261127-080001Z-TR-1"));
        assert!(!changes.is_incomplete);
        changes.note(None);
        assert!(changes.is_incomplete);
        assert_eq!(changes.count, 2);
        assert!(ResultChanges::default().is_empty());
        assert!(!ResultChanges { is_incomplete: true, ..ResultChanges::default() }.is_empty());
    }

    #[test]
    fn only_names_of_results_are_kept() {
        let mut changes = ResultChanges::default();
        let name = c"TS-20261127-080001Z-TR-1";
        for name in [c".TS-20261127-080001Z-TR-1", name, c"TS-short", c"other", name] {
            changes.note(Some(name));
        }
        let names = BTreeSet::from([OsString::from("TS-20261127-080001Z-TR-1")]);
        assert_eq!(changes, ResultChanges { names, count: 5, is_incomplete: false });
    }

    #[test]
    fn more_events_than_the_limit_make_the_changes_incomplete() {
        let mut changes = ResultChanges::default();
        for _ in 0..EVENTS_MAX {
            changes.note(Some(c"TS-20261127-080001Z-TR-1"));
        }
        assert!(!changes.is_incomplete);
        changes.note(Some(c"TS-20261127-080001Z-TR-1"));
        assert!(changes.is_incomplete);
    }
}
