//! The facts about the end of a run, and the pure function that derives the outcome from them.

use model::Outcome;

/// The end of the tool's own process, as its parent saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEnd {
    /// The tool exited with this status.
    Exited(u8),
    /// A signal ended the tool.
    Signaled {
        /// The number of the signal, as in signal(7).
        signal: u8,
        /// The core flag of its wait status (`WCOREDUMP` in wait(2)).
        core_dumped: bool,
    },
}

impl ToolEnd {
    /// Returns upstream's `exit_code`: the tool's own, or 128+n after signal n.
    #[must_use]
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Exited(code) => i32::from(code),
            Self::Signaled { signal, .. } => 128 + i32::from(signal),
        }
    }
}

model::closed_set! {
    /// The reason why the launcher or the daemon ended the tree before the tool exited. Messages
    /// encode it by position.
    pub enum KillReason {
        /// It ran too long.
        Wall = "wall",
        /// It used too much processor time.
        Cpu = "cpu",
        /// It used too much memory.
        Memory = "memory",
        /// stdout or stderr exceeded its limit.
        Stream = "stream",
        /// The daemon or its client cancelled the run.
        Cancelled = "cancelled",
        /// The tool made a call that only an escape attempt makes, or too many denied calls.
        Violation = "violation",
    }
}

/// The facts known at the end of a run that started.
#[derive(Clone, Copy, Debug)]
pub struct OutcomeFacts {
    /// `None` when the launcher or the sandbox's init was lost.
    pub tool: Option<ToolEnd>,
    /// The reason if the tree was killed.
    pub killed: Option<KillReason>,
    /// Processes of this sandbox that the kernel's OOM killer ended.
    pub oom_kills: u64,
    /// A fork or clone was refused because of the pids limit.
    pub pids_limit_hit: bool,
    /// `/out` was full, in bytes or in inodes, when the tool ended.
    pub out_full: bool,
    /// A collected file had the largest size that one file may have.
    pub file_full: bool,
    /// At least one object in `/out` was rejected.
    pub output_rejected: bool,
    /// The walk of `/out` reached its end.
    pub collected_all: bool,
}

/// SIGSYS, the signal with which a seccomp filter kills.
pub(crate) const SIGSYS: u8 = 31;
/// SIGXFSZ, the signal for a write beyond the file size limit.
const SIGXFSZ: u8 = 25;

/// Returns the outcome of a run that started. If several apply, the first in this order wins:
/// `seccomp_violation`, `memory_limit`, `pids_limit`, `output_limit`, `cpu_limit`, `wall_limit`,
/// `cancelled`, `signal`, `exit_nonzero`, `output_rejected`, `ok`.
#[must_use]
pub fn decide(facts: &OutcomeFacts) -> Outcome {
    let failed = facts.killed.is_some() || facts.tool != Some(ToolEnd::Exited(0));
    let signal = match facts.tool {
        Some(ToolEnd::Signaled { signal, .. }) => Some(signal),
        _ => None,
    };
    if signal == Some(SIGSYS) || facts.killed == Some(KillReason::Violation) {
        return Outcome::SeccompViolation;
    }
    if facts.oom_kills > 0 || facts.killed == Some(KillReason::Memory) {
        return Outcome::MemoryLimit;
    }
    if failed && facts.pids_limit_hit {
        return Outcome::PidsLimit;
    }
    // A program that ignores the signal gets EFBIG and leaves a file of the largest permitted size.
    let file_limit = signal == Some(SIGXFSZ) || (failed && facts.file_full);
    if facts.killed == Some(KillReason::Stream) || (failed && facts.out_full) || file_limit {
        return Outcome::OutputLimit;
    }
    match (facts.killed, facts.tool) {
        (Some(KillReason::Cpu), _) => Outcome::CpuLimit,
        (Some(KillReason::Wall), _) => Outcome::WallLimit,
        (Some(KillReason::Cancelled), _) => Outcome::Cancelled,
        (_, None) => Outcome::Indeterminate,
        (_, Some(ToolEnd::Signaled { signal, .. })) => Outcome::Signal(signal),
        (_, Some(ToolEnd::Exited(0))) if facts.output_rejected || !facts.collected_all => {
            Outcome::OutputRejected
        }
        (_, Some(ToolEnd::Exited(0))) => Outcome::Ok,
        (_, Some(ToolEnd::Exited(code))) => Outcome::ExitNonzero(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: OutcomeFacts = OutcomeFacts {
        tool: Some(ToolEnd::Exited(0)),
        killed: None,
        oom_kills: 0,
        pids_limit_hit: false,
        out_full: false,
        file_full: false,
        output_rejected: false,
        collected_all: true,
    };
    const SIGKILLED: Option<ToolEnd> = Some(ToolEnd::Signaled { signal: 9, core_dumped: false });

    #[track_caller]
    fn check(facts: OutcomeFacts, expected: Outcome) {
        assert_eq!(decide(&facts), expected, "{facts:?}");
    }

    #[test]
    fn each_outcome_has_its_facts() {
        check(CLEAN, Outcome::Ok);
        check(OutcomeFacts { output_rejected: true, ..CLEAN }, Outcome::OutputRejected);
        check(OutcomeFacts { collected_all: false, ..CLEAN }, Outcome::OutputRejected);
        check(OutcomeFacts { tool: Some(ToolEnd::Exited(7)), ..CLEAN }, Outcome::ExitNonzero(7));
        check(OutcomeFacts { tool: SIGKILLED, ..CLEAN }, Outcome::Signal(9));
        check(
            OutcomeFacts { tool: SIGKILLED, killed: Some(KillReason::Wall), ..CLEAN },
            Outcome::WallLimit,
        );
        check(
            OutcomeFacts { tool: SIGKILLED, killed: Some(KillReason::Cpu), ..CLEAN },
            Outcome::CpuLimit,
        );
        check(
            OutcomeFacts { tool: SIGKILLED, killed: Some(KillReason::Cancelled), ..CLEAN },
            Outcome::Cancelled,
        );
        check(
            OutcomeFacts { tool: SIGKILLED, killed: Some(KillReason::Stream), ..CLEAN },
            Outcome::OutputLimit,
        );
        check(OutcomeFacts { tool: None, ..CLEAN }, Outcome::Indeterminate);
        let sigsys = Some(ToolEnd::Signaled { signal: 31, core_dumped: false });
        check(OutcomeFacts { tool: sigsys, oom_kills: 1, ..CLEAN }, Outcome::SeccompViolation);
        let escaping = OutcomeFacts { killed: Some(KillReason::Violation), ..CLEAN };
        check(escaping, Outcome::SeccompViolation);
        check(
            OutcomeFacts { tool: SIGKILLED, oom_kills: 1, ..escaping },
            Outcome::SeccompViolation,
        );
    }

    #[test]
    fn the_kernels_oom_killer_wins_over_a_clean_exit() {
        check(OutcomeFacts { oom_kills: 1, ..CLEAN }, Outcome::MemoryLimit);
        check(
            OutcomeFacts { oom_kills: 1, killed: Some(KillReason::Wall), tool: SIGKILLED, ..CLEAN },
            Outcome::MemoryLimit,
        );
    }

    #[test]
    fn a_limit_hit_without_failure_is_ok() {
        check(OutcomeFacts { pids_limit_hit: true, ..CLEAN }, Outcome::Ok);
        check(OutcomeFacts { out_full: true, ..CLEAN }, Outcome::Ok);
        check(OutcomeFacts { file_full: true, ..CLEAN }, Outcome::Ok);
        check(
            OutcomeFacts { pids_limit_hit: true, tool: Some(ToolEnd::Exited(1)), ..CLEAN },
            Outcome::PidsLimit,
        );
        check(
            OutcomeFacts { out_full: true, tool: Some(ToolEnd::Exited(1)), ..CLEAN },
            Outcome::OutputLimit,
        );
        check(
            OutcomeFacts { file_full: true, tool: Some(ToolEnd::Exited(1)), ..CLEAN },
            Outcome::OutputLimit,
        );
        let too_long = Some(ToolEnd::Signaled { signal: 25, core_dumped: false });
        check(OutcomeFacts { tool: too_long, ..CLEAN }, Outcome::OutputLimit);
    }
}
