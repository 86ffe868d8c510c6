//! The system call filters of a sandbox: the policies of `sandbox/seccomp`, compiled and loaded.
//!
//! Two programs are active in a sandbox. The *outer* one is loaded first and inherited. It allows
//! the calls that any runtime or the launcher needs, and those that the last one notifies, and
//! answers ENOSYS to every other number. The *last* one is loaded when the sandbox is finished and
//! is the complete policy of one runtime. The kernel runs both and the stricter result wins. An
//! errno is stricter than a notification, so the outer one must allow every call that the last one
//! notifies. Both kill calls of foreign architectures. The policy is in the texts only: this module
//! must never name a system call.

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
use crate::plan;
use crate::sys;
pub(super) use policy::{Answered, MemoryWatch, Network, Policy, Profile};
pub(super) use text::Denial;
use tree::Program;
pub(super) use tree::Word;

/// Every program of one launcher, compiled once.
pub(super) struct Filters {
    policy: Policy,
    outer_sha256: [u8; 32],
    memory: MemoryWatch,
    lasts: BTreeMap<Profile, Program>,
}

impl Filters {
    /// Reads the policies and loads the outer program into this process and all that it will fork.
    pub(super) fn load_outer(memory: MemoryWatch) -> Result<Self, Failed> {
        let policy = Policy::embedded()
            .map_err(io::Error::other)
            .map_err(Failed::without(Layer::Seccomp, "read the seccomp policies"))?;
        let outer = policy.outer();
        // The outer program notifies nothing, so its token has no effect.
        sys::load_seccomp(&outer.with_word(Word::new(0)))
            .map_err(Failed::without(Layer::Seccomp, "load the outer seccomp filter"))?;
        let outer_sha256 = outer.sha256();
        let last = |profile| {
            (profile, policy.last(profile, memory, Network::Nothing, Answered::ByListener))
        };
        let lasts = Profile::all().map(last).collect();
        Ok(Self { policy, outer_sha256, memory, lasts })
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Loads the last program, after which only a tool's calls are possible. Returns the digests of
    /// both programs in loading order, and the listener for denied calls made without the token.
    pub(super) fn load_last(
        &self,
        profile: Profile,
        memory: MemoryWatch,
        network: plan::Network,
        word: Word,
    ) -> Result<(Vec<[u8; 32]>, OwnedFd), Failed> {
        let network = Network::of(network);
        let made;
        let last = match self.lasts.get(&profile) {
            Some(last) if (memory, network) == (self.memory, Network::Nothing) => last,
            _ => {
                made = self.policy.last(profile, memory, network, Answered::ByListener);
                &made
            }
        };
        let listener = sys::load_seccomp_listening(&last.with_word(word))
            .map_err(Failed::without(Layer::Seccomp, "load the last seccomp filter"))?;
        Ok((vec![self.outer_sha256, last.sha256()], listener))
    }

    /// Loads the last program for a process of our own, without a listener.
    pub(super) fn load_for_collector(&self) -> Result<(), Failed> {
        let (memory, answered) = (MemoryWatch::Kernel, Answered::ByErrno);
        let last = self.policy.last(Profile::Base, memory, Network::Nothing, answered);
        sys::load_seccomp(&last.with_word(Word::new(0)))
            .map_err(Failed::without(Layer::Seccomp, "load the collector's seccomp filter"))
    }
}
