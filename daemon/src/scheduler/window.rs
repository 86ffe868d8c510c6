//! The next submissions: a bounded number of each submitter's oldest, taken in turns. Its size does
//! not depend on the number of submissions behind them. Pure: it opens no file and reads no clock.

use std::collections::BTreeMap;

use spool::{SubmissionEntry, SubmissionName};

/// Submissions per submitter; a later look finds the rest.
const EACH_MAX: usize = 1024;
/// Submitters at one time.
const SUBMITTERS_MAX: usize = 256;

#[derive(Default)]
pub(super) struct SubmissionWindow {
    submitters: BTreeMap<u32, BTreeMap<SubmissionAge, WindowEntry>>,
    /// The submitter of the last turn.
    last: Option<u32>,
    cut: bool,
}

/// The submission time and the name, because two may have the same time.
type SubmissionAge = (i64, i64, String);

struct WindowEntry {
    waiting: SubmissionName,
    inode: u64,
}

impl SubmissionWindow {
    /// Adds a submission, unless there are enough older ones.
    pub(super) fn offer(&mut self, submitted: SubmissionEntry) {
        let SubmissionEntry {
            submission: waiting, owner, identity: (inode, sec, nanosecond), ..
        } = submitted;
        if !self.submitters.contains_key(&owner) && self.submitters.len() >= SUBMITTERS_MAX {
            self.cut = true;
            return;
        }
        let of_one = self.submitters.entry(owner).or_default();
        let age = (sec, nanosecond, waiting.name().to_owned());
        of_one.insert(age, WindowEntry { waiting, inode });
        if of_one.len() > EACH_MAX {
            of_one.pop_last();
            self.cut = true;
        }
    }

    /// Adds a submission regardless of the limits.
    pub(super) fn add(&mut self, submitted: SubmissionEntry) {
        let SubmissionEntry {
            submission: waiting, owner, identity: (inode, sec, nanosecond), ..
        } = submitted;
        let age = (sec, nanosecond, waiting.name().to_owned());
        self.submitters.entry(owner).or_default().insert(age, WindowEntry { waiting, inode });
    }

    /// Takes the oldest submission of the submitter whose turn it is.
    pub(super) fn next(&mut self) -> Option<(SubmissionName, (u64, i64, i64))> {
        let after = self.last.and_then(|last| last.checked_add(1)).unwrap_or(0);
        let turn = self.submitters.range(after..).next().or(self.submitters.iter().next());
        let owner = *turn?.0;
        let of_one = self.submitters.get_mut(&owner)?;
        let ((sec, nanosecond, _), WindowEntry { waiting, inode }) = of_one.pop_first()?;
        if of_one.is_empty() {
            self.submitters.remove(&owner);
        }
        self.last = Some(owner);
        Some((waiting, (inode, sec, nanosecond)))
    }

    /// Returns the oldest submissions of all submitters, in turns, with their times in seconds.
    pub(super) fn oldest(&self, most: usize) -> Vec<(&str, i64)> {
        let mut lines: Vec<_> = self.submitters.values().map(BTreeMap::iter).collect();
        let mut oldest = Vec::new();
        while oldest.len() < most && !lines.is_empty() {
            lines.retain_mut(|line| {
                let first = line.next();
                oldest.extend(first.map(|((sec, ..), one)| (one.waiting.name(), *sec)));
                first.is_some()
            });
        }
        oldest.truncate(most);
        oldest
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    pub(super) fn len(&self) -> usize {
        self.submitters.values().map(BTreeMap::len).sum()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.submitters.values().flat_map(BTreeMap::values).map(|one| one.waiting.name())
    }

    /// Removes all submissions, but keeps the turn.
    pub(super) fn clear(&mut self) {
        self.submitters.clear();
        self.cut = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submitted(owner: u32, sec: i64, name: &str) -> SubmissionEntry {
        let waiting = SubmissionName::Request(name.to_owned());
        SubmissionEntry { submission: waiting, owner, identity: (7, sec, 0), is_empty: false }
    }

    fn names(window: &mut SubmissionWindow) -> Vec<String> {
        std::iter::from_fn(|| window.next()).map(|(it, _)| it.name().to_owned()).collect()
    }

    #[test]
    fn submitters_take_turns_and_the_oldest_is_first() {
        let mut window = SubmissionWindow::default();
        for (owner, sec, name) in
            [(1, 5, "e"), (1, 1, "a"), (1, 3, "c"), (9, 9, "z"), (4, 2, "b"), (1, 1, "0")]
        {
            window.offer(submitted(owner, sec, name));
        }
        assert_eq!(names(&mut window), ["0", "b", "z", "a", "c", "e"]);
        window.offer(submitted(1, 1, "a"));
        window.offer(submitted(9, 1, "b"));
        assert_eq!(names(&mut window), ["b", "a"], "the turn goes on where it was");
    }

    #[test]
    fn full_window_keeps_the_oldest_and_other_submitters() {
        let mut window = SubmissionWindow::default();
        for sec in (0..5000).rev() {
            window.offer(submitted(1, sec, &format!("n{sec}")));
        }
        window.offer(submitted(2, 9999, "late"));
        assert!(window.is_cut());
        assert_eq!(window.len(), EACH_MAX + 1);
        let order = names(&mut window);
        assert_eq!(order[..3], ["n0", "late", "n1"]);
        assert_eq!(order.last().map(String::as_str), Some("n1023"));
    }

    #[test]
    fn oldest_are_listed_and_stay() {
        let mut window = SubmissionWindow::default();
        for (owner, sec, name) in [(1, 1, "a"), (1, 2, "b"), (1, 3, "c"), (2, 9, "z")] {
            window.offer(submitted(owner, sec, name));
        }
        assert_eq!(window.oldest(3), [("a", 1), ("z", 9), ("b", 2)]);
        assert_eq!(window.oldest(9).len(), 4);
        assert_eq!(window.oldest(0), []);
        assert_eq!(window.len(), 4);
    }

    #[test]
    fn same_submission_is_kept_once() {
        let mut window = SubmissionWindow::default();
        window.offer(submitted(1, 1, "a"));
        window.offer(submitted(1, 1, "a"));
        assert_eq!(window.len(), 1);
    }
}
