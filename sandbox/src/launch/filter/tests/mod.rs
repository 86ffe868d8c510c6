//! Checks that the texts agree and that the compiled programs do what they say, for every call, in
//! our own interpreter and in the kernel. Must not depend on how the compiler works.

mod answers;
mod bpf_vm;
mod kernel;
mod load;
mod programs;

use model::Language;

use super::MemoryWatch;
use super::names;
use super::policy::{DenialMode, FilterAccess, Profile, SeccompPolicy};
use super::text::{CallDenial, CallRule};
use super::tree::ProbeToken;

/// Returns every combination of arguments of `last`.
fn variants() -> Vec<(Profile, MemoryWatch, FilterAccess, DenialMode)> {
    let mut all = Vec::new();
    for profile in Profile::all() {
        for memory in [MemoryWatch::Kernel, MemoryWatch::Sampled] {
            for access in [FilterAccess::Nothing, FilterAccess::Hosts, FilterAccess::Kvm] {
                for answered in [DenialMode::ByErrno, DenialMode::ByListener] {
                    all.push((profile, memory, access, answered));
                }
            }
        }
    }
    all
}

fn policy() -> SeccompPolicy {
    SeccompPolicy::embedded().unwrap()
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
    let base = policy.rules(Profile::Base, MemoryWatch::Kernel, FilterAccess::Nothing);
    for call in &policy.setup {
        let rule = base.get(call).unwrap_or(&CallRule::Deny(CallDenial::Absent));
        assert!(matches!(rule, CallRule::Deny(_)), "{:?} {rule:?}", names::name(*call));
    }
}

#[test]
fn a_denial_means_the_same_everywhere() {
    let policy = policy();
    let denial_of = |call| {
        policy.denied(number(call)).map(|(name, denial)| {
            assert_eq!(name, call);
            denial
        })
    };
    for call in ["mount", "unshare", "ptrace", "keyctl", "bpf", "clone", "process_vm_readv"] {
        assert_eq!(denial_of(call), Some(CallDenial::Escape), "{call}");
    }
    for call in ["io_uring_setup", "inotify_init1", "ioctl", "prlimit64", "sched_setaffinity"] {
        assert_eq!(denial_of(call), Some(CallDenial::Refused(libc::EPERM)), "{call}");
    }
    assert_eq!(denial_of("socket"), Some(CallDenial::Refused(libc::EAFNOSUPPORT)));
    assert_eq!(denial_of("memfd_create"), Some(CallDenial::Refused(libc::ENOSYS)));
    for call in ["clone3", "read", "execve"] {
        assert_eq!(denial_of(call), None, "{call}");
    }
}
