//! Requests that wait for somebody's answer: what is remembered of each between two looks. Whether one is
//! asked about again is decided by what changed; a clock alone must never let one run.

use std::collections::BTreeMap;

use model::{Sha256, UtcTime};
use spool::{Held, SpoolError, WaitsFor};
use validator::Violation;

/// How long a held request may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HoldDeadline {
    /// Nobody holds it: who asked wants to be told now.
    None,
    /// Before then it waits; from then on it is refused.
    Until(UtcTime),
}

impl HoldDeadline {
    pub(crate) fn lasts(self, now: UtcTime) -> bool {
        matches!(self, Self::Until(until) if now < until)
    }
}

/// What a decision hung on when it was made.
pub(crate) type DecisionDigest = Sha256;

/// The requests that wait, by the name of the file.
#[derive(Default)]
pub(crate) struct HeldRequests {
    waiting: BTreeMap<String, Waits>,
}

struct Waits {
    standing: DecisionDigest,
    until: UtcTime,
    /// The inode, and when it was dropped: whoever touches it makes it no younger.
    dropped: DroppedFile,
}

/// Which file, and when it was put there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DroppedFile {
    pub(crate) inode: u64,
    pub(crate) at: UtcTime,
}

impl HeldRequests {
    /// Whether nothing changed since it was held, and it may wait on.
    pub(crate) fn rests(&self, name: &str, standing: DecisionDigest, now: UtcTime) -> bool {
        self.waiting.get(name).is_some_and(|it| it.standing == standing && now < it.until)
    }

    pub(crate) fn hold(
        &mut self,
        name: &str,
        waits: (DecisionDigest, UtcTime),
        dropped: DroppedFile,
    ) {
        let (standing, until) = waits;
        self.waiting.insert(name.to_owned(), Waits { standing, until, dropped });
    }

    /// When a file of this name was dropped, if it is held already: the first time that was seen.
    pub(crate) fn dropped(&self, name: &str, inode: u64) -> Option<DroppedFile> {
        self.waiting.get(name).map(|it| it.dropped).filter(|it| it.inode == inode)
    }

    /// Whether one of this name waits.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.waiting.contains_key(name)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether it was held.
    pub(crate) fn release(&mut self, name: &str) -> bool {
        self.waiting.remove(name).is_some()
    }

    /// The names of those that are not among these any more, which are forgotten.
    pub(crate) fn forget_others(&mut self, is_there: impl Fn(&str) -> bool) -> Vec<String> {
        let gone: Vec<String> =
            self.waiting.keys().filter(|name| !is_there(name)).cloned().collect();
        gone.iter().for_each(|name| {
            self.waiting.remove(name);
        });
        gone
    }
}

/// What a decision about a request hangs on: the files beside it, and everything of the host's that may
/// change while it waits.
pub(crate) fn standing(files: Option<&Sha256>, host: &[Sha256]) -> DecisionDigest {
    let rows: Vec<String> = files.into_iter().chain(host).map(Sha256::to_string).collect();
    Sha256::of(rows.join(" ").as_bytes())
}

/// What no decision hangs on: whoever waits with it is asked about again at each look.
pub(crate) fn never() -> DecisionDigest {
    Sha256::of(b"nobody was asked")
}

/// What is told of it.
pub(crate) fn told(since: UtcTime, until: UtcTime, violations: &[Violation]) -> Held {
    let waits = |violation: &Violation| WaitsFor {
        code: violation.code.as_str().into_owned(),
        message: violation.message.clone(),
    };
    Held {
        since_utc: since.to_string(),
        until_utc: until.to_string(),
        waits_for: violations.iter().map(waits).collect(),
    }
}

/// For the daemon's own list alone: nothing hangs on it.
pub(crate) fn told_or_warned(result: Result<(), SpoolError>) {
    if let Err(error) = result {
        tracing::warn!("{error}; the list of what waits is not whole");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sec: i64) -> UtcTime {
        UtcTime::from_unix(sec)
    }

    #[test]
    fn a_held_request_rests_until_something_changes_or_its_time_is_over() {
        let (then, now) = (Sha256::of(b"a"), Sha256::of(b"b"));
        let mut held = HeldRequests::default();
        assert!(!held.rests("TR.md", then, at(0)));
        let dropped = DroppedFile { inode: 7, at: at(1) };
        held.hold("TR.md", (then, at(100)), dropped);
        assert_eq!(held.dropped("TR.md", 7), Some(dropped));
        assert_eq!(held.dropped("TR.md", 8), None);
        assert!(held.rests("TR.md", then, at(99)));
        assert!(!held.rests("TR.md", now, at(99)));
        assert!(!held.rests("TR.md", then, at(100)));
        assert!(!held.rests("another.md", then, at(99)));
        assert_eq!(held.forget_others(|name| name != "TR.md"), ["TR.md"]);
        assert!(!held.release("TR.md"));
    }

    #[test]
    fn patience_ends() {
        assert!(!HoldDeadline::None.lasts(at(0)));
        assert!(HoldDeadline::Until(at(5)).lasts(at(4)));
        assert!(
            !HoldDeadline::Until(at(5)).lasts(at(5)),
            "no patience is none within the same second"
        );
    }
}
