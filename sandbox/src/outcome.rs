//! How a run ended: the facts of a run, and the one function that decides its outcome.
//!
//! The decision is pure: it looks at facts that were gathered elsewhere and at nothing else, so that
//! the same facts give the same outcome for ever.

use model::Outcome;

/// How the tool's own process ended, as its parent saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEnd {
    Exited(u8),
    Signaled { signal: u8, core_dumped: bool },
}

impl ToolEnd {
    /// Upstream's `exit_code`: the tool's own, 128+n after signal n.
    #[must_use]
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Exited(code) => i32::from(code),
            Self::Signaled { signal, .. } => 128 + i32::from(signal),
        }
    }
}

model::closed_set! {
    /// Why the launcher or the daemon ended the tree before the tool did. The launcher tells it by its
    /// position.
    pub enum Killed {
        /// It ran too long.
        Wall = "wall",
        /// It used too much time on processors.
        Cpu = "cpu",
        /// It used too much memory.
        Memory = "memory",
        /// stdout or stderr went over its cap.
        Stream = "stream",
        /// The daemon or its client asked for it.
        Cancelled = "cancelled",
        /// The tool called what only an attempt to leave the cell calls, or too much that is denied.
        Violation = "violation",
    }
}

/// What is known at the end of a run that started.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// `None` when the launcher or the cell's init was lost.
    pub tool: Option<ToolEnd>,
    pub killed: Option<Killed>,
    /// Processes that the kernel's OOM killer ended in this cell.
    pub oom_kills: u64,
    /// Whether a fork or clone was refused for the pids limit.
    pub pids_limit_hit: bool,
    /// Whether `/out` was full, in bytes or in inodes, when the tool ended.
    pub out_full: bool,
    /// Whether a file that came out of `/out` was as long as one file may be.
    pub file_full: bool,
    /// Whether something in `/out` was refused.
    pub output_rejected: bool,
    /// Whether `/out` was walked to its end.
    pub collected_all: bool,
}

/// SIGSYS: what a seccomp filter kills with.
pub(crate) const SIGSYS: u8 = 31;
/// SIGXFSZ: what the kernel sends to whoever writes beyond the limit of one file.
const SIGXFSZ: u8 = 25;

/// The outcome of a run that started. When several hold, the first of this order is it:
/// `seccomp_violation`, `memory_limit`, `pids_limit`, `output_limit`, `cpu_limit`, `wall_limit`,
/// `cancelled`, `signal`, `exit_nonzero`, `output_rejected`, `ok` (DESIGN section 5).
#[must_use]
pub fn decide(facts: &Facts) -> Outcome {
    let failed = facts.killed.is_some() || facts.tool != Some(ToolEnd::Exited(0));
    let signal = match facts.tool {
        Some(ToolEnd::Signaled { signal, .. }) => Some(signal),
        _ => None,
    };
    if signal == Some(SIGSYS) || facts.killed == Some(Killed::Violation) {
        return Outcome::SeccompViolation;
    }
    if facts.oom_kills > 0 || facts.killed == Some(Killed::Memory) {
        return Outcome::MemoryLimit;
    }
    if failed && facts.pids_limit_hit {
        return Outcome::PidsLimit;
    }
    // A program that ignores the signal is left with an error and with a file as long as can be.
    let file_limit = signal == Some(SIGXFSZ) || (failed && facts.file_full);
    if facts.killed == Some(Killed::Stream) || (failed && facts.out_full) || file_limit {
        return Outcome::OutputLimit;
    }
    match (facts.killed, facts.tool) {
        (Some(Killed::Cpu), _) => Outcome::CpuLimit,
        (Some(Killed::Wall), _) => Outcome::WallLimit,
        (Some(Killed::Cancelled), _) => Outcome::Cancelled,
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

    const CLEAN: Facts = Facts {
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
    fn check(facts: Facts, expected: Outcome) {
        assert_eq!(decide(&facts), expected, "{facts:?}");
    }

    #[test]
    fn each_outcome_has_its_facts() {
        check(CLEAN, Outcome::Ok);
        check(Facts { output_rejected: true, ..CLEAN }, Outcome::OutputRejected);
        check(Facts { collected_all: false, ..CLEAN }, Outcome::OutputRejected);
        check(Facts { tool: Some(ToolEnd::Exited(7)), ..CLEAN }, Outcome::ExitNonzero(7));
        check(Facts { tool: SIGKILLED, ..CLEAN }, Outcome::Signal(9));
        check(Facts { tool: SIGKILLED, killed: Some(Killed::Wall), ..CLEAN }, Outcome::WallLimit);
        check(Facts { tool: SIGKILLED, killed: Some(Killed::Cpu), ..CLEAN }, Outcome::CpuLimit);
        check(
            Facts { tool: SIGKILLED, killed: Some(Killed::Cancelled), ..CLEAN },
            Outcome::Cancelled,
        );
        check(
            Facts { tool: SIGKILLED, killed: Some(Killed::Stream), ..CLEAN },
            Outcome::OutputLimit,
        );
        check(Facts { tool: None, ..CLEAN }, Outcome::Indeterminate);
        let sigsys = Some(ToolEnd::Signaled { signal: 31, core_dumped: false });
        check(Facts { tool: sigsys, oom_kills: 1, ..CLEAN }, Outcome::SeccompViolation);
        let escaping = Facts { killed: Some(Killed::Violation), ..CLEAN };
        check(escaping, Outcome::SeccompViolation);
        check(Facts { tool: SIGKILLED, oom_kills: 1, ..escaping }, Outcome::SeccompViolation);
    }

    #[test]
    fn the_kernels_oom_killer_wins_over_a_clean_exit() {
        check(Facts { oom_kills: 1, ..CLEAN }, Outcome::MemoryLimit);
        check(
            Facts { oom_kills: 1, killed: Some(Killed::Wall), tool: SIGKILLED, ..CLEAN },
            Outcome::MemoryLimit,
        );
    }

    #[test]
    fn a_limit_that_was_hit_without_harm_is_no_outcome() {
        check(Facts { pids_limit_hit: true, ..CLEAN }, Outcome::Ok);
        check(Facts { out_full: true, ..CLEAN }, Outcome::Ok);
        check(Facts { file_full: true, ..CLEAN }, Outcome::Ok);
        check(
            Facts { pids_limit_hit: true, tool: Some(ToolEnd::Exited(1)), ..CLEAN },
            Outcome::PidsLimit,
        );
        check(
            Facts { out_full: true, tool: Some(ToolEnd::Exited(1)), ..CLEAN },
            Outcome::OutputLimit,
        );
        check(
            Facts { file_full: true, tool: Some(ToolEnd::Exited(1)), ..CLEAN },
            Outcome::OutputLimit,
        );
        let too_long = Some(ToolEnd::Signaled { signal: 25, core_dumped: false });
        check(Facts { tool: too_long, ..CLEAN }, Outcome::OutputLimit);
    }
}
