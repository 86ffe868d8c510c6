//! The system call filters of a sandbox: the policies of `sandbox/seccomp`, compiled and loaded.
//! The *outer* program is loaded first and inherited. It allows the calls that any runtime or the
//! launcher needs, and those that the last one notifies, and answers ENOSYS to every other number.
//! The *last* one is loaded into the finished sandbox: the complete policy of one runtime. The
//! kernel runs both, and the stricter result wins; an errno is stricter than a notification, so the
//! outer one must allow every call that the last one notifies. Both kill calls of foreign
//! architectures. This module must never name a system call: the policy is in the texts only.

mod names;
mod policy;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use model::Layer;

use super::Failed;
use crate::sys;
pub(super) use policy::{DenialMode, FilterAccess, MemoryWatch, Profile, SeccompPolicy};
pub(super) use text::CallDenial;
use tree::FilterProgram;
pub(super) use tree::ProbeToken;

/// Every program of one launcher, compiled once.
pub(super) struct Filters {
    policy: SeccompPolicy,
    outer_sha256: [u8; 32],
    memory: MemoryWatch,
    last_programs: BTreeMap<Profile, FilterProgram>,
    collector: FilterProgram,
}

impl Filters {
    /// Reads the policies and loads the outer program into this process and all that it will fork.
    pub(super) fn load_outer(memory: MemoryWatch) -> Result<Self, Failed> {
        let policy = SeccompPolicy::embedded()
            .map_err(io::Error::other)
            .map_err(Failed::without(Layer::Seccomp, "read the seccomp policies"))?;
        let outer = policy.outer();
        // The outer program notifies nothing, so its token has no effect.
        sys::load_seccomp(&outer.with_token(ProbeToken::new(0)))
            .map_err(Failed::without(Layer::Seccomp, "load the outer seccomp filter"))?;
        let outer_sha256 = outer.sha256();
        let last = |profile| {
            (profile, policy.last(profile, memory, FilterAccess::Nothing, DenialMode::ByListener))
        };
        let last_programs = Profile::all().map(last).collect();
        let (unsampled, answered) = (MemoryWatch::Kernel, DenialMode::ByErrno);
        let collector = policy.last(Profile::Base, unsampled, FilterAccess::Nothing, answered);
        Ok(Self { policy, outer_sha256, memory, last_programs, collector })
    }

    pub(super) fn policy(&self) -> &SeccompPolicy {
        &self.policy
    }

    /// Loads the last program, after which only a tool's calls are possible. Returns the digests of
    /// both programs in loading order, and the listener for denied calls made without the token.
    pub(super) fn load_last(
        &self,
        profile: Profile,
        memory: MemoryWatch,
        access: FilterAccess,
        word: ProbeToken,
    ) -> Result<(Vec<[u8; 32]>, OwnedFd), Failed> {
        let made;
        let last = match self.last_programs.get(&profile) {
            Some(last) if (memory, access) == (self.memory, FilterAccess::Nothing) => last,
            _ => {
                made = self.policy.last(profile, memory, access, DenialMode::ByListener);
                &made
            }
        };
        let listener = sys::load_seccomp_listening(&last.with_token(word))
            .map_err(Failed::without(Layer::Seccomp, "load the last seccomp filter"))?;
        Ok((vec![self.outer_sha256, last.sha256()], listener))
    }

    /// Loads the last program for a process of our own, without a listener.
    pub(super) fn load_for_collector(&self) -> Result<(), Failed> {
        sys::load_seccomp(&self.collector.with_token(ProbeToken::new(0)))
            .map_err(Failed::without(Layer::Seccomp, "load the collector's seccomp filter"))
    }
}
