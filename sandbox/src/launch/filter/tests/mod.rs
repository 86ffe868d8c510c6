//! Checks that the texts agree and that the compiled programs do what the texts say: for every
//! call, in our own interpreter and in the kernel. The checks must not depend on how the compiler
//! works.

mod answers;
mod kernel;
mod load;
mod machine;
mod programs;

use model::Language;

use super::MemoryWatch;
use super::names;
use super::policy::{Answered, Network, Policy, Profile};
use super::text::{Denial, Rule};
use super::tree::Word;

/// Returns every combination of arguments of `last`.
fn variants() -> Vec<(Profile, MemoryWatch, Network, Answered)> {
    let mut all = Vec::new();
    for profile in Profile::all() {
        for memory in [MemoryWatch::Kernel, MemoryWatch::Sampled] {
            for network in [Network::Nothing, Network::Hosts] {
                for answered in [Answered::ByErrno, Answered::ByListener] {
                    all.push((profile, memory, network, answered));
                }
            }
        }
    }
    all
}

fn policy() -> Policy {
    Policy::embedded().unwrap()
}

fn number(call: &str) -> u32 {
    names::number(call).unwrap_or_else(|| panic!("{call} has no number"))
}

#[test]
fn every_runtime_has_what_every_program_needs() {
    let policy = policy();
    let base = &policy.allowed[&Profile::Base];
    assert!(base.len() > 200, "{}", base.len());
    for profile in Profile::all() {
        for (call, rule) in base {
            assert_eq!(policy.allowed[&profile].get(call), Some(rule), "{profile:?} {call}");
        }
    }
    assert_eq!(
        policy.allowed[&Profile::Of(Language::Ts)],
        policy.allowed[&Profile::Of(Language::Node)]
    );
}

#[test]
fn node_has_the_longest_list() {
    let policy = policy();
    for profile in Profile::all() {
        for call in policy.allowed[&profile].keys() {
            assert!(
                policy.allowed[&Profile::Of(Language::Node)].contains_key(call),
                "{profile:?} {call}"
            );
        }
    }
    assert!(!policy.allowed[&Profile::Of(Language::Python)].contains_key(&number("pkey_alloc")));
}

#[test]
fn the_last_filter_takes_the_launchers_calls_away() {
    let policy = policy();
    assert!(policy.setup.contains(&number("clone3")));
    let base = policy.rules(Profile::Base, MemoryWatch::Kernel, Network::Nothing);
    for call in &policy.setup {
        let rule = base.get(call).unwrap_or(&Rule::Deny(Denial::Absent));
        assert!(matches!(rule, Rule::Deny(_)), "{:?} {rule:?}", names::name(*call));
    }
}

#[test]
fn a_denial_means_the_same_everywhere() {
    let policy = policy();
    let told = |call| {
        policy.denied(number(call)).map(|(name, denial)| {
            assert_eq!(name, call);
            denial
        })
    };
    for call in ["mount", "unshare", "ptrace", "keyctl", "bpf", "clone", "process_vm_readv"] {
        assert_eq!(told(call), Some(Denial::Escape), "{call}");
    }
    for call in ["io_uring_setup", "inotify_init1", "ioctl", "prlimit64", "sched_setaffinity"] {
        assert_eq!(told(call), Some(Denial::Refused(libc::EPERM)), "{call}");
    }
    assert_eq!(told("socket"), Some(Denial::Refused(libc::EAFNOSUPPORT)));
    assert_eq!(told("memfd_create"), Some(Denial::Refused(libc::ENOSYS)));
    for call in ["clone3", "read", "execve"] {
        assert_eq!(told(call), None, "{call}");
    }
}
