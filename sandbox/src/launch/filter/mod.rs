//! Which system calls a tool may make: the policies of `sandbox/seccomp`, compiled and loaded.
//!
//! Two programs are in force in a cell. The *outer* one is loaded first and inherited: it allows what any
//! runtime or the launcher itself needs and what the last one wants to hear of, and answers ENOSYS to
//! every other number. The *last* one is loaded when the cell is finished and is by itself the whole
//! policy of one runtime. The kernel asks both and the stricter wins, where an errno is stricter than a
//! notification: so the outer one must allow what the last one notifies. Both kill foreign architectures.
//! Policy stands in the texts and nowhere else: nothing here may name a system call.

mod names;
mod policy;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use std::io;

use super::Failed;
use crate::report::Layer;
use crate::sys;
pub(super) use policy::{Answered, Network, Policy, Profile};

/// How memory is limited decides whether unmapped memory can be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemoryWatch {
    Kernel,
    Sampled,
}

/// Loads both programs and returns their digests, in the order they were loaded. An order does not name
/// its runtime yet, so that every cell has the longest list there is, which is Node's.
pub(super) fn load(watch: MemoryWatch) -> Result<Vec<[u8; 32]>, Failed> {
    let policy = Policy::embedded()
        .map_err(io::Error::other)
        .map_err(Failed::without(Layer::Seccomp, "read the seccomp policies"))?;
    let last = policy.last(Profile::Node, watch, Network::Nothing, Answered::ByErrno);
    let programs = [policy.outer(), last];
    for program in &programs {
        sys::load_seccomp(program.instructions())
            .map_err(Failed::without(Layer::Seccomp, "load a seccomp filter"))?;
    }
    Ok(programs.map(|program| program.sha256()).to_vec())
}
