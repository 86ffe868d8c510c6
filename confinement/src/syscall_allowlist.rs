//! The builder of a filter of system calls (seccomp). A call that is not listed, or whose arguments
//! no alternative allows, fails with ENOSYS, so that the C library uses an older call instead.

use std::collections::BTreeMap;

use libc::c_int;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch,
};

use crate::argument_rule::ArgumentRule;
use crate::call_groups::RUNTIME_CALLS;
use crate::error::ConfinementError;

/// The `ioctl` of a socket that must not block.
const FIONBIO: c_int = 0x5421;

/// The system calls that a program may make once it has applied this list. A later statement about
/// a call replaces the earlier one.
#[derive(Clone, Debug)]
pub struct SyscallAllowlist {
    /// The alternatives of each call, each a list of conditions. A call without alternatives is
    /// allowed with any arguments.
    calls: BTreeMap<i64, Vec<Vec<ArgumentRule>>>,
}

impl SyscallAllowlist {
    /// Starts a list with the calls of an asynchronous runtime of this process: waiting, memory,
    /// threads, and sockets and files that are open. No call of it opens a file, makes a socket,
    /// starts a program or signals another process.
    #[must_use]
    pub fn of_runtime() -> Self {
        let own_pid = rustix::process::getpid().as_raw_nonzero().get();
        let thread = ArgumentRule::masked(0, libc::CLONE_THREAD, libc::CLONE_THREAD);
        Self { calls: BTreeMap::new() }
            .with(RUNTIME_CALLS)
            // Threads, not processes.
            .with_arguments(libc::SYS_clone, [vec![thread]])
            .with_arguments(libc::SYS_ioctl, [vec![ArgumentRule::equal(1, FIONBIO)]])
            .with_arguments(libc::SYS_prctl, [vec![ArgumentRule::equal(0, libc::PR_SET_NAME)]])
            // The implementation of abort(3) needs it.
            .with_arguments(libc::SYS_tgkill, [vec![ArgumentRule::equal(0, own_pid)]])
    }

    /// Allows calls with any arguments.
    #[must_use]
    pub fn with(mut self, calls: &[i64]) -> Self {
        self.calls.extend(calls.iter().map(|call| (*call, Vec::new())));
        self
    }

    /// Allows a call if all conditions of one alternative are met. Without alternatives the call is
    /// denied.
    #[must_use]
    pub fn with_arguments(
        mut self,
        call: i64,
        alternatives: impl IntoIterator<Item = Vec<ArgumentRule>>,
    ) -> Self {
        let alternatives: Vec<_> = alternatives.into_iter().collect();
        // The filter would allow a call without alternatives.
        match alternatives.is_empty() {
            true => drop(self.calls.remove(&call)),
            false => drop(self.calls.insert(call, alternatives)),
        }
        self
    }

    /// Returns the numbers of the listed calls, in ascending order.
    #[must_use]
    pub fn numbers(&self) -> Vec<i64> {
        self.calls.keys().copied().collect()
    }

    /// Restricts this thread, and the threads that it starts later, to the listed calls.
    ///
    /// # Errors
    /// The kernel has no seccomp, or the filter cannot be built: an alternative has no condition,
    /// or the architecture is unknown.
    pub fn apply(self) -> Result<(), ConfinementError> {
        let program = self.program().map_err(seccompiler::Error::Backend);
        program
            .and_then(|program| seccompiler::apply_filter(&program))
            .map_err(ConfinementError::SyscallFilter)
    }

    fn program(self) -> Result<BpfProgram, BackendError> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        for (call, alternatives) in self.calls {
            let any = alternatives.into_iter().map(rule).collect::<Result<_, _>>()?;
            rules.insert(call, any);
        }
        let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let here = TargetArch::try_from(std::env::consts::ARCH)?;
        SeccompFilter::new(rules, unknown, SeccompAction::Allow, here)?.try_into()
    }
}

fn rule(conditions: Vec<ArgumentRule>) -> Result<SeccompRule, BackendError> {
    let conditions = conditions.into_iter().map(ArgumentRule::condition);
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}
