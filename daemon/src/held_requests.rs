//! Requests that wait for an approval, a permission or an operator. A held request is decided again
//! only after one of its inputs has changed, or a deadline has passed; the passing of time alone must
//! never start it.

use std::collections::BTreeMap;

use model::{Sha256, UtcTime};
use spool::{HeldRequest, HoldReason, SpoolError};
use validator::Violation;

/// The time for which a request may be held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HoldDeadline {
    /// The request must not be held: the caller of an embedded run needs the outcome now.
    None,
    /// The request may be held until this time; after it, the request is refused.
    Until(UtcTime),
}

impl HoldDeadline {
    pub(crate) fn allows_hold(self, now: UtcTime) -> bool {
        matches!(self, Self::Until(until) if now < until)
    }
}

pub(crate) type DecisionDigest = Sha256;

#[derive(Default)]
pub(crate) struct HeldRequests {
    entries: BTreeMap<String, HoldEntry>,
}

struct HoldEntry {
    digest: DecisionDigest,
    /// The end of the hold, or of the permission request if that is earlier.
    decide_at: UtcTime,
    /// Of the first look, so that touching the file does not extend the deadline.
    stamp: SubmissionStamp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SubmissionStamp {
    pub(crate) inode: u64,
    pub(crate) at: UtcTime,
}

impl HeldRequests {
    /// Returns whether no input has changed and the deadline has not passed.
    pub(crate) fn is_unchanged(&self, name: &str, digest: DecisionDigest, now: UtcTime) -> bool {
        self.entries.get(name).is_some_and(|it| it.digest == digest && now < it.decide_at)
    }

    pub(crate) fn hold(
        &mut self,
        name: &str,
        waits: (DecisionDigest, UtcTime),
        dropped: SubmissionStamp,
    ) {
        let (digest, decide_at) = waits;
        self.entries.insert(name.to_owned(), HoldEntry { digest, decide_at, stamp: dropped });
    }

    /// Returns the first known submission time of a held file, if the file still has this inode.
    pub(crate) fn submission_stamp(&self, name: &str, inode: u64) -> Option<SubmissionStamp> {
        self.entries.get(name).map(|it| it.stamp).filter(|it| it.inode == inode)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Removes a request. Returns whether it was held.
    pub(crate) fn release(&mut self, name: &str) -> bool {
        self.entries.remove(name).is_some()
    }

    /// Removes the requests whose file no longer exists, and returns their names.
    pub(crate) fn remove_missing(&mut self, is_there: impl Fn(&str) -> bool) -> Vec<String> {
        let gone: Vec<String> =
            self.entries.keys().filter(|name| !is_there(name)).cloned().collect();
        gone.iter().for_each(|name| {
            self.entries.remove(name);
        });
        gone
    }
}

/// The inputs: the files of the request, and the state of the host that may change meanwhile.
pub(crate) fn decision_digest(files: Option<&Sha256>, host: &[Sha256]) -> DecisionDigest {
    let rows: Vec<String> = files.into_iter().chain(host).map(Sha256::to_string).collect();
    Sha256::of(rows.join(" ").as_bytes())
}

/// A request held with this digest is decided again at each look, because no decision has it.
pub(crate) fn undecided_digest() -> DecisionDigest {
    Sha256::of(b"undecided")
}

pub(crate) fn public_entry(
    since: UtcTime,
    until: UtcTime,
    violations: &[Violation],
) -> HeldRequest {
    let waits = |violation: &Violation| HoldReason {
        code: violation.code.as_str().into_owned(),
        message: violation.message.clone(),
    };
    HeldRequest {
        since_utc: since.to_string(),
        until_utc: until.to_string(),
        waits_for: violations.iter().map(waits).collect(),
    }
}

/// Logs a failure to update the public list. No decision depends on the list.
pub(crate) fn warn_if_failed(result: Result<(), SpoolError>) {
    if let Err(error) = result {
        tracing::warn!("the list of held requests is incomplete: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(sec: i64) -> UtcTime {
        UtcTime::from_unix(sec)
    }

    #[test]
    fn held_request_waits_until_a_change_or_its_deadline() {
        let (then, now) = (Sha256::of(b"a"), Sha256::of(b"b"));
        let mut held = HeldRequests::default();
        assert!(!held.is_unchanged("TR.md", then, at(0)));
        let dropped = SubmissionStamp { inode: 7, at: at(1) };
        held.hold("TR.md", (then, at(100)), dropped);
        assert_eq!(held.submission_stamp("TR.md", 7), Some(dropped));
        assert_eq!(held.submission_stamp("TR.md", 8), None);
        assert!(held.is_unchanged("TR.md", then, at(99)));
        assert!(!held.is_unchanged("TR.md", now, at(99)));
        assert!(!held.is_unchanged("TR.md", then, at(100)));
        assert!(!held.is_unchanged("another.md", then, at(99)));
        assert_eq!(held.remove_missing(|name| name != "TR.md"), ["TR.md"]);
        assert!(!held.release("TR.md"));
    }

    #[test]
    fn hold_deadline_ends() {
        assert!(!HoldDeadline::None.allows_hold(at(0)));
        assert!(HoldDeadline::Until(at(5)).allows_hold(at(4)));
        assert!(
            !HoldDeadline::Until(at(5)).allows_hold(at(5)),
            "the deadline ends at the beginning of its second"
        );
    }
}
