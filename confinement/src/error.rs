//! The errors of a restriction. A program that gets one must not serve.

use std::fmt;

/// A restriction that the kernel refused although it has it, or that cannot be built.
#[derive(Debug)]
pub enum ConfinementError {
    /// Executed programs could still gain rights.
    NoNewPrivs(rustix::io::Errno),
    /// A rule of Landlock was refused.
    Landlock(landlock::RulesetError),
    /// The kernel has no seccomp, or the filter cannot be built for this architecture.
    SyscallFilter(seccompiler::Error),
}

impl fmt::Display for ConfinementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNewPrivs(error) => write!(f, "no_new_privs: {error}"),
            Self::Landlock(error) => {
                write!(f, "landlock: {error}; help: check what confines this process")
            }
            Self::SyscallFilter(error) => write!(f, "system call filter: {error}"),
        }
    }
}

impl std::error::Error for ConfinementError {}
