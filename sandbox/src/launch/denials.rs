//! What the tool tried and was denied: answers the calls that the filter hands out, and counts them.
//!
//! The answer is always an error, and depends on nothing but the call's number: arguments that are
//! pointers could change after they are looked at. Whoever answers must be outside the cell, and must
//! never stand in a vfork(2) of what it answers.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::filter::{Denial, Policy};
use crate::report::DeniedCall;
use crate::sys;

/// Denied calls of one run; a tool that goes on after so many is not asking, it is probing.
const DENIED_MAX: u64 = 10_000;

pub(super) struct Denials<'a> {
    policy: &'a Policy,
    listener: OwnedFd,
    caller: Caller,
    counts: BTreeMap<&'static str, u64>,
    total: u64,
    violation: Option<String>,
}

/// Who is denied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// The cell's own probe, which asks for what must be denied.
    Probe,
    Tool,
}

impl<'a> Denials<'a> {
    pub(super) fn new(policy: &'a Policy, listener: OwnedFd) -> Self {
        let (caller, counts) = (Caller::Probe, BTreeMap::new());
        Self { policy, listener, caller, counts, total: 0, violation: None }
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// From here on it is the tool that calls.
    pub(super) fn begin(&mut self) {
        self.caller = Caller::Tool;
    }

    /// Answers one call.
    pub(super) fn answer(&mut self) -> io::Result<()> {
        let Some(told) = sys::receive_notification(self.listener.as_fd())? else {
            return Ok(());
        };
        // No program of ours tells of a call that has no name here.
        let (name, denial) = self.policy.denied(told.call).unwrap_or(("?", Denial::Escape));
        sys::answer_notification(self.listener.as_fd(), told.id, denial.errno())?;
        if self.caller == Caller::Tool {
            self.count(name, denial);
        }
        Ok(())
    }

    fn count(&mut self, name: &'static str, denial: Denial) {
        *self.counts.entry(name).or_default() += 1;
        self.total += 1;
        if self.violation.is_some() {
            return;
        }
        if denial == Denial::Escape {
            self.violation = Some(name.to_owned());
        } else if self.total > DENIED_MAX {
            self.violation = Some(format!("more than {DENIED_MAX} denied calls"));
        }
    }

    /// The first call, or what else, for which the run must end.
    pub(super) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    pub(super) fn counted(&self) -> Vec<DeniedCall> {
        let row =
            |(name, count): (&&str, &u64)| DeniedCall { name: (*name).to_owned(), count: *count };
        self.counts.iter().map(row).collect()
    }
}
