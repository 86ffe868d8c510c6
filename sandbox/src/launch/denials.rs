//! Answers and counts the denied calls of the tool that the filter notifies. Every answer is an
//! error, except for rationed calls, and depends only on the call's number and count: memory behind
//! pointers could change after a check. The answering process must be outside the sandbox, and must
//! never wait in a vfork(2) for a process that it answers.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::filter::{CallDenial, SeccompPolicy};
use crate::report::DeniedCall;
use crate::sys;

/// The most denied calls of one run; a tool that makes more is probing the sandbox.
const DENIED_MAX: u64 = 10_000;

/// The number of runs of one user that may use their whole ration of epoll watches concurrently.
const RUNS_MAX: u64 = 64;
/// The watches that a program needs on the smallest host.
const WATCHES_MIN: u64 = 1024;
/// More than a program with a few hundred descriptors needs.
const WATCHES_MAX: u64 = 32_768;

pub(super) struct Denials<'a> {
    policy: &'a SeccompPolicy,
    listener: OwnedFd,
    caller: Caller,
    counts: BTreeMap<&'static str, u64>,
    total: u64,
    /// The rationed calls that remain; unknown before the first one.
    ration_left: Option<u64>,
    violation: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// The sandbox's own probe, which makes calls that must be denied.
    Probe,
    Tool,
}

impl<'a> Denials<'a> {
    pub(super) fn new(policy: &'a SeccompPolicy, listener: OwnedFd) -> Self {
        let (caller, counts) = (Caller::Probe, BTreeMap::new());
        Self { policy, listener, caller, counts, total: 0, ration_left: None, violation: None }
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Attributes further calls to the tool.
    pub(super) fn begin(&mut self) {
        self.caller = Caller::Tool;
    }

    pub(super) fn answer(&mut self) -> io::Result<()> {
        let Some(notification) = sys::receive_notification(self.listener.as_fd())? else {
            return Ok(());
        };
        // Our filters notify no call without a name.
        let (name, denial) =
            self.policy.denied(notification.call).unwrap_or(("?", CallDenial::Escape));
        if matches!(denial, CallDenial::Rationed(_)) && self.take_ration() {
            return sys::allow_notified(self.listener.as_fd(), notification.id);
        }
        sys::answer_notification(self.listener.as_fd(), notification.id, denial.errno())?;
        if self.caller == Caller::Tool {
            self.count(name, denial);
        }
        Ok(())
    }

    /// Takes one of the rationed calls; returns false if none is left.
    fn take_ration(&mut self) -> bool {
        let left = self.ration_left.unwrap_or_else(ration);
        self.ration_left = Some(left.saturating_sub(1));
        left > 0
    }

    fn count(&mut self, name: &'static str, denial: CallDenial) {
        *self.counts.entry(name).or_default() += 1;
        self.total += 1;
        if self.violation.is_some() {
            return;
        }
        if denial == CallDenial::Escape {
            self.violation = Some(name.to_owned());
        } else if self.total > DENIED_MAX {
            self.violation = Some(format!("more than {DENIED_MAX} denied calls"));
        }
    }

    /// Returns the first call or other reason for which the run must end.
    pub(super) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    pub(super) fn counted(&self) -> Vec<DeniedCall> {
        let row =
            |(name, count): (&&str, &u64)| DeniedCall { name: (*name).to_owned(), count: *count };
        self.counts.iter().map(row).collect()
    }
}

/// Returns one run's share of the epoll watches that the kernel grants its user.
fn ration() -> u64 {
    let text = fs::read_to_string("/proc/sys/fs/epoll/max_user_watches").unwrap_or_default();
    share_of(text.trim().parse().unwrap_or(0))
}

fn share_of(watches_of_user: u64) -> u64 {
    (watches_of_user / RUNS_MAX).clamp(WATCHES_MIN, WATCHES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_runs_together_leave_the_user_its_watches() {
        for of_user in [100_000, 5_491_533] {
            assert!(share_of(of_user) * RUNS_MAX <= of_user);
        }
        // If the limit cannot be read or is tiny, a run still gets what a program needs.
        assert_eq!((share_of(0), share_of(u64::MAX)), (WATCHES_MIN, WATCHES_MAX));
    }
}
