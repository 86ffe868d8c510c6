//! Checks the compiled programs against the rules: every number, every edge of every condition.

use std::collections::{BTreeMap, BTreeSet};

use super::bpf_vm::{SimulatedCall, run};
use super::*;
use crate::launch::filter::text::{Compare, Condition};
use crate::launch::filter::tree::{self, ARCH, FilterAnswer, FilterProgram, Leaf};

const EDGES: [u32; 12] = [
    601,
    1023,
    4095,
    0x3fff_ffff,
    0x4000_0000,
    0x4000_0001,
    0x4000_0000 + 56,
    0x7fff_ffff,
    0x8000_0000,
    0xc000_0000,
    0xffff_fffe,
    0xffff_ffff,
];
/// i386, x86_64, ARM, AArch64, RISC-V 64 and an invalid value.
const ARCHITECTURES: [u32; 6] =
    [0x4000_0003, 0xC000_003E, 0x4000_0028, 0xC000_00B7, 0xC000_00F3, 0];

fn numbers() -> impl Iterator<Item = u32> {
    (0..=600).chain(EDGES)
}

/// The token, which only some tests here use.
const TOKEN: u64 = 0x0123_4567_89ab_cdef;

pub(super) fn answer(instructions: &[libc::sock_filter], number: u32, arguments: [u64; 6]) -> u32 {
    run(instructions, SimulatedCall { number, arch: ARCH, arguments }).0
}

pub(super) fn loaded(program: &FilterProgram) -> Vec<libc::sock_filter> {
    program.with_token(ProbeToken::new(TOKEN))
}

fn holds(condition: &Condition, arguments: [u64; 6]) -> bool {
    condition.iter().any(|tests| {
        tests.iter().all(|test| {
            // The kernel truncates an int argument in the same way.
            let value = (arguments[test.argument as usize] & 0xffff_ffff) as u32;
            match &test.compare {
                Compare::In(values) => values.contains(&value),
                Compare::NotIn(values) => !values.contains(&value),
                Compare::Masked { mask, value: expected } => value & mask == *expected,
            }
        })
    })
}

fn denied(denial: CallDenial, answered: DenialMode) -> u32 {
    let errno = |errno: i32| libc::SECCOMP_RET_ERRNO | errno.unsigned_abs();
    match (answered, denial) {
        (_, CallDenial::Absent) => errno(libc::ENOSYS),
        (DenialMode::ByListener, _) => libc::SECCOMP_RET_USER_NOTIF,
        (DenialMode::ByErrno, CallDenial::Escape) => errno(libc::EPERM),
        (DenialMode::ByErrno, CallDenial::Refused(code) | CallDenial::Rationed(code)) => {
            errno(code)
        }
    }
}

fn expected(
    rule: Option<&CallRule>,
    number: u32,
    arguments: [u64; 6],
    answered: DenialMode,
) -> u32 {
    if cfg!(target_arch = "x86_64") && (0x4000_0000..0x8000_0000).contains(&number) {
        return libc::SECCOMP_RET_KILL_PROCESS;
    }
    match rule {
        None => denied(CallDenial::Absent, answered),
        Some(CallRule::Allow) => libc::SECCOMP_RET_ALLOW,
        Some(CallRule::Deny(denial)) => denied(*denial, answered),
        Some(CallRule::Only { when, .. }) if holds(when, arguments) => libc::SECCOMP_RET_ALLOW,
        Some(CallRule::Only { otherwise, .. }) => denied(*otherwise, answered),
    }
}

/// Returns arguments on both sides of every compared value, with and without upper halves.
fn arguments_for(rule: Option<&CallRule>) -> Vec<[u64; 6]> {
    let mut all = vec![[0; 6], [u64::MAX; 6]];
    let Some(CallRule::Only { when, .. }) = rule else { return all };
    let mut values = BTreeMap::<u32, BTreeSet<u64>>::new();
    for test in when.iter().flatten() {
        let named = match &test.compare {
            Compare::In(values) | Compare::NotIn(values) => values.clone(),
            Compare::Masked { mask, value } => {
                let bits = (0..32).map(|bit| 1 << bit);
                bits.chain([*mask, *value, !mask, mask | 1, *value | !mask]).collect()
            }
        };
        let of_argument = values.entry(test.argument).or_default();
        of_argument.extend([0, 1, u64::from(u32::MAX), 1 << 32]);
        for value in named.into_iter().map(u64::from) {
            let around = [value, value + 1, value.wrapping_sub(1) & 0xffff_ffff];
            of_argument.extend(around);
            of_argument.extend(around.map(|it| it | 0xdead_0000_0000_0000));
        }
    }
    for (argument, values) in values {
        for arguments in all.clone() {
            for value in &values {
                let mut more = arguments;
                more[argument as usize] = *value;
                all.push(more);
            }
        }
    }
    all
}

#[test]
fn every_call_is_answered_as_the_texts_say() {
    let policy = policy();
    for (profile, memory, access, answered) in variants() {
        let rules = policy.rules(profile, memory, access);
        let program = loaded(&policy.last(profile, memory, access, answered));
        let mut counts = BTreeMap::<u32, u32>::new();
        for number in numbers() {
            let rule = rules.get(&number);
            for arguments in arguments_for(rule) {
                let got = answer(&program, number, arguments);
                let want = expected(rule, number, arguments, answered);
                assert_eq!(got, want, "{number} {arguments:?} {profile:?} {memory:?} {access:?}");
                *counts.entry(got).or_default() += 1;
            }
        }
        assert!(counts.len() >= 4, "{counts:?}");
    }
}

#[test]
fn the_outer_filter_allows_exactly_the_named_calls() {
    let policy = policy();
    let outer = loaded(&policy.outer());
    for number in numbers() {
        let named = Profile::all().any(|profile| policy.allowed[&profile].contains_key(&number))
            || policy.denied.contains_key(&number)
            || policy.setup.contains(&number);
        let rule = if named { Some(CallRule::Allow) } else { None };
        for arguments in [[0; 6], [u64::MAX; 6]] {
            let want = expected(rule.as_ref(), number, arguments, DenialMode::ByErrno);
            assert_eq!(answer(&outer, number, arguments), want, "{number}");
        }
    }
    // An errno is stricter than a notification: the outer filter must allow every notified call.
    for (profile, memory, access, answered) in variants() {
        let last = loaded(&policy.last(profile, memory, access, answered));
        for number in numbers() {
            if answer(&last, number, [u64::MAX; 6]) == libc::SECCOMP_RET_USER_NOTIF {
                assert_eq!(answer(&outer, number, [0; 6]), libc::SECCOMP_RET_ALLOW, "{number}");
                assert!(policy.denied(number).is_some(), "{number}");
            }
        }
    }
}

/// The token changes an answer only where a listener would be notified, and only to a denial.
#[test]
fn a_call_with_the_token_is_denied_at_once() {
    let policy = policy();
    let near = [0, 1, TOKEN ^ 1, TOKEN ^ (1 << 63), TOKEN & 0xffff_ffff, TOKEN << 32, TOKEN >> 32];
    for (profile, memory, access, answered) in variants() {
        let rules = policy.rules(profile, memory, access);
        let last = loaded(&policy.last(profile, memory, access, answered));
        let mut notified = 0;
        for number in numbers() {
            let with = |word| answer(&last, number, [u64::MAX, 0, 0, 0, 0, word]);
            let plain = with(u64::MAX);
            for word in near {
                assert_eq!(with(word), plain, "{number} {word:#x}");
            }
            if plain != libc::SECCOMP_RET_USER_NOTIF {
                assert_eq!(with(TOKEN), plain, "{number}");
                continue;
            }
            let (CallRule::Deny(denial) | CallRule::Only { otherwise: denial, .. }) =
                &rules[&number]
            else {
                panic!("{number} is allowed and notified");
            };
            assert_eq!(with(TOKEN), denied(*denial, DenialMode::ByErrno), "{number}");
            notified += 1;
        }
        assert_eq!(notified > 50, answered == DenialMode::ByListener, "{notified}");
    }
}

#[test]
fn calls_of_another_architecture_are_killed() {
    let policy = policy();
    let mut programs = vec![policy.outer()];
    programs.extend(variants().into_iter().map(|(p, m, n, a)| policy.last(p, m, n, a)));
    for program in programs {
        let instructions = loaded(&program);
        for arch in ARCHITECTURES.into_iter().filter(|arch| *arch != ARCH) {
            for number in numbers() {
                let call = SimulatedCall { number, arch, arguments: [0; 6] };
                let (got, steps) = run(&instructions, call);
                assert_eq!((got, steps), (libc::SECCOMP_RET_KILL_PROCESS, 3), "{arch:#x} {number}");
            }
        }
    }
}

#[test]
fn programs_are_small_and_the_same_every_time() {
    let policy = policy();
    let outer = policy.outer();
    assert_eq!(outer, self::policy().outer());
    let mut digests = BTreeSet::from([outer.sha256()]);
    let mut largest = 0;
    for (profile, memory, access, answered) in variants() {
        let last = policy.last(profile, memory, access, answered);
        assert_eq!(last, self::policy().last(profile, memory, access, answered));
        largest = largest.max(loaded(&last).len());
        digests.insert(last.sha256());
    }
    println!("outer {}, last at most {largest} instructions", loaded(&outer).len());
    assert!(largest <= 260, "{largest}");
    // Python, Go and Ruby have the calls of base; TypeScript those of Node.
    assert_eq!(digests.len(), 1 + 2 * 12);
}

/// An endless pseudo-random sequence (xorshift).
struct TestRng(u64);

impl TestRng {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn action(answer: FilterAnswer) -> u32 {
    match answer {
        FilterAnswer::Action(value) => value,
        FilterAnswer::Notify(_) => libc::SECCOMP_RET_USER_NOTIF,
    }
}

/// Tables of up to 1,500 entries: their trees are far larger than the reach of a conditional jump.
#[test]
fn a_tree_of_any_size_finds_every_answer() {
    let policy = policy();
    let rules = policy.rules(Profile::Base, MemoryWatch::Sampled, FilterAccess::Hosts);
    let only = rules.values().filter_map(|rule| match rule {
        CallRule::Only { when, .. } => Some(when.clone()),
        CallRule::Allow | CallRule::Deny(_) => None,
    });
    let conditions: Vec<Condition> = only.collect();
    let mut dice = TestRng(0x9e37_79b9_7f4a_7c15);
    let mut longest = 0;
    for size in [0, 1, 2, 3, 5, 40, 130, 260, 300, 700, 1500] {
        for kinds in [2, 9, 4000] {
            let mut leaves = BTreeMap::new();
            for _ in 0..size {
                let number = u32::try_from(dice.below(2 * size)).unwrap();
                let answer = FilterAnswer::Action(u32::try_from(dice.below(kinds)).unwrap());
                let at = usize::try_from(dice.below(9)).unwrap();
                let leaf = match conditions.get(at) {
                    Some(when) => Leaf::Only(when.clone(), answer),
                    None => Leaf::Always(answer),
                };
                leaves.insert(number, leaf);
            }
            let program = loaded(&tree::compile(&leaves, FilterAnswer::Action(0xffff)));
            longest = longest.max(program.len());
            for number in (0..u32::try_from(2 * size + 3).unwrap()).chain([0x3fff_ffff]) {
                for arguments in [[0; 6], [1; 6], [0x10; 6], [u64::MAX; 6]] {
                    let want = match leaves.get(&number) {
                        None => 0xffff,
                        Some(Leaf::Always(answer)) => action(*answer),
                        Some(Leaf::Only(when, _)) if holds(when, arguments) => {
                            libc::SECCOMP_RET_ALLOW
                        }
                        Some(Leaf::Only(_, answer)) => action(*answer),
                    };
                    assert_eq!(answer(&program, number, arguments), want, "{number} of {size}");
                }
            }
        }
    }
    assert!(longest > 3000, "{longest}");
}
