//! Compiles rules to a classic BPF program: a search tree over ranges with equal answers. On
//! loading, the kernel runs a filter once for every system call of each architecture, to learn
//! which are always allowed (Linux 5.11), so short paths matter: the tree is balanced by calls, and
//! the architecture check at the front ends the compat half at once. Equal rules must give equal
//! bytes, because the record contains the digest.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::text::{ArgumentTest, Compare, Condition};

/// linux/audit.h: the architecture whose call numbers these programs use.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCH: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCH: u32 = 0xC000_00B7;

/// x86_64 has a second call table behind this bit (x32), which no list here covers.
#[cfg(target_arch = "x86_64")]
const SECOND_TABLE: Option<std::ops::Range<u32>> = Some(0x4000_0000..0x8000_0000);
#[cfg(not(target_arch = "x86_64"))]
const SECOND_TABLE: Option<std::ops::Range<u32>> = None;

// linux/bpf_common.h: load a word, compare with a constant, mask, jump, return.
const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_ANY_BIT: u16 = 0x45;
const MASK: u16 = 0x54;
const JUMP: u16 = 0x05;
const ANSWER: u16 = 0x06;

// struct seccomp_data of linux/seccomp.h: offsets in bytes.
const CALL_NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const FIRST_ARGUMENT_OFFSET: u32 = 16;
/// The halves of the sixth argument, which holds the token. No rule tests it: few calls have one.
const TOKEN_OFFSETS: [u32; 2] = [FIRST_ARGUMENT_OFFSET + 8 * 5, FIRST_ARGUMENT_OFFSET + 8 * 5 + 4];

/// More calls than any kernel has: numbers above it have no weight in the tree.
const CALLS_MAX: u32 = 512;

/// The reach of a conditional jump, minus the two trampolines that one jump may need.
const REACH: usize = 255 - 2;

/// The most single numbers compared one by one; a tree over them would be as deep and larger.
const SINGLES_MAX: usize = 3;

/// The result that a filter returns to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FilterAnswer {
    Action(u32),
    /// Notifies the listener; a caller with the [`ProbeToken`] gets this errno at once.
    Notify(i32),
}

impl FilterAnswer {
    pub(super) const ALLOW: Self = Self::Action(libc::SECCOMP_RET_ALLOW);
    pub(super) const KILL: Self = Self::Action(libc::SECCOMP_RET_KILL_PROCESS);

    pub(super) fn errno(errno: i32) -> Self {
        Self::Action(errno_action(errno))
    }
}

fn errno_action(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | (errno.unsigned_abs() & libc::SECCOMP_RET_DATA)
}

/// The token of the sandbox's own probe, known only to its init. The probe puts it behind the
/// arguments of a call that must be denied, so that it need not wait for the listener. It can only
/// cause a denial: a tool that guessed it could be denied without being counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::launch) struct ProbeToken(u64);

impl ProbeToken {
    /// Creates a token. It is never 0, the value of an unused argument.
    pub(in crate::launch) fn new(random: u64) -> Self {
        Self(random | 1)
    }

    pub(in crate::launch) fn value(self) -> u64 {
        self.0
    }

    fn halves(self) -> [u32; 2] {
        let [low, high] = [self.0 & u64::from(u32::MAX), self.0 >> 32];
        [low, high].map(|half| u32::try_from(half).unwrap_or(u32::MAX))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Leaf {
    Always(FilterAnswer),
    /// Allowed under a condition; otherwise this answer.
    Only(Condition, FilterAnswer),
}

/// A filter, complete except for the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::launch) struct FilterProgram {
    /// With 0 in place of the token.
    instructions: Vec<libc::sock_filter>,
    /// The positions of the token's halves.
    token_positions: [Vec<usize>; 2],
    sha256: [u8; 32],
}

impl FilterProgram {
    pub(in crate::launch) fn with_token(&self, word: ProbeToken) -> Vec<libc::sock_filter> {
        let mut instructions = self.instructions.clone();
        for (places, half) in self.token_positions.iter().zip(word.halves()) {
            for place in places {
                instructions[*place].k = half;
            }
        }
        instructions
    }

    /// Returns the SHA-256 of the instructions in memory, with 0 in place of the token.
    pub(in crate::launch) fn sha256(&self) -> [u8; 32] {
        self.sha256
    }
}

/// Compiles `leaves` by call number; every other number gets `unknown`.
pub(super) fn compile(leaves: &BTreeMap<u32, Leaf>, unknown: FilterAnswer) -> FilterProgram {
    let mut code = BackwardBuilder::default();
    let tree = code.tree(&ranges(leaves, unknown));
    debug_assert_eq!(tree + 1, code.reversed.len(), "the tree's root is first");
    code.push(LOAD, CALL_NUMBER_OFFSET);
    let known = code.last();
    let foreign = code.answer(FilterAnswer::KILL);
    code.branch(IF_EQUAL, ARCH, known, foreign);
    code.push(LOAD, ARCHITECTURE_OFFSET);
    code.reversed.reverse();
    let instructions = code.reversed;
    let mut hash = Sha256::new();
    for instruction in &instructions {
        hash.update(instruction.code.to_ne_bytes());
        hash.update([instruction.jt, instruction.jf]);
        hash.update(instruction.k.to_ne_bytes());
    }
    let word_places = TOKEN_OFFSETS.map(|half| compared_with(&instructions, half));
    FilterProgram { instructions, token_positions: word_places, sha256: hash.finalize().into() }
}

/// Returns the positions of comparisons with the value loaded from this offset.
fn compared_with(instructions: &[libc::sock_filter], offset: u32) -> Vec<usize> {
    let pairs = instructions.array_windows().enumerate();
    let found = pairs.filter(|(_, [load, compare])| {
        (load.code, load.k, compare.code) == (LOAD, offset, IF_EQUAL)
    });
    found.map(|(at, _)| at + 1).collect()
}

/// Consecutive numbers with one answer, including `last`.
#[derive(Debug)]
struct CallRange {
    first: u32,
    last: u32,
    leaf: Leaf,
}

impl CallRange {
    /// Returns the number of kernel calls in this range.
    fn calls(&self) -> u32 {
        self.last.min(CALLS_MAX - 1).saturating_sub(self.first) + 1
    }
}

/// Returns the index that divides two or more ranges so that both sides have about as many calls.
fn middle(ranges: &[CallRange]) -> usize {
    let all: u32 = ranges.iter().map(CallRange::calls).sum();
    let mut below = 0;
    let half = ranges.iter().position(|range| {
        below += range.calls();
        below >= all / 2
    });
    half.map_or(1, |at| (at + 1).min(ranges.len() - 1))
}

/// Divides all numbers into ranges, in order.
fn ranges(leaves: &BTreeMap<u32, Leaf>, unknown: FilterAnswer) -> Vec<CallRange> {
    let mut starts = leaves.clone();
    let unknown = Leaf::Always(unknown);
    for after in leaves.keys().filter_map(|number| number.checked_add(1)).chain([0]) {
        starts.entry(after).or_insert_with(|| unknown.clone());
    }
    if let Some(second) = SECOND_TABLE {
        starts.insert(second.start, Leaf::Always(FilterAnswer::KILL));
        starts.insert(second.end, unknown);
    }
    let mut ranges: Vec<CallRange> = Vec::new();
    for (first, leaf) in starts {
        if let Some(before) = ranges.last_mut() {
            if before.leaf == leaf {
                continue;
            }
            before.last = first - 1;
        }
        ranges.push(CallRange { first, last: u32::MAX, leaf });
    }
    ranges
}

/// Returns the common answer of these ranges, if only a few single numbers differ.
fn background(ranges: &[CallRange]) -> Option<&Leaf> {
    let widest = ranges.iter().max_by_key(|range| range.last - range.first)?;
    let others = ranges.iter().filter(|range| range.leaf != widest.leaf);
    let single = others.clone().all(|range| range.first == range.last);
    (single && others.count() <= SINGLES_MAX).then_some(&widest.leaf)
}

/// A program written from its end, from which positions count: jumps only go forward.
#[derive(Default)]
struct BackwardBuilder {
    reversed: Vec<libc::sock_filter>,
    /// The position of the nearest copy of each leaf.
    leaves: BTreeMap<Leaf, usize>,
}

impl BackwardBuilder {
    fn last(&self) -> usize {
        self.reversed.len().saturating_sub(1)
    }

    fn push(&mut self, code: u16, k: u32) {
        self.reversed.push(libc::sock_filter { code, jt: 0, jf: 0, k });
    }

    /// Returns a position within reach that leads to `target`: itself, or a trampoline.
    fn near(&mut self, target: usize) -> usize {
        let distance = self.reversed.len() - target - 1;
        if distance <= REACH {
            return target;
        }
        let there = self.reversed[target];
        if there.code == ANSWER {
            self.reversed.push(there);
        } else {
            let Ok(distance) = u32::try_from(distance) else {
                unreachable!("the kernel accepts at most 4,096 instructions");
            };
            self.push(JUMP, distance);
        }
        self.last()
    }

    fn branch(&mut self, code: u16, k: u32, yes: usize, no: usize) {
        let (yes, no) = (self.near(yes), self.near(no));
        let here = self.reversed.len();
        let offset = |target: usize| u8::try_from(here - target - 1);
        let (Ok(jt), Ok(jf)) = (offset(yes), offset(no)) else {
            unreachable!("a near target is less than 256 instructions away");
        };
        self.reversed.push(libc::sock_filter { code, jt, jf, k });
    }

    fn answer(&mut self, answer: FilterAnswer) -> usize {
        self.leaf(&Leaf::Always(answer))
    }

    fn leaf(&mut self, leaf: &Leaf) -> usize {
        if let Some(place) = self.leaves.get(leaf).copied()
            && self.reversed.len() - place <= REACH
        {
            return place;
        }
        match leaf {
            Leaf::Always(FilterAnswer::Action(value)) => self.push(ANSWER, *value),
            Leaf::Always(FilterAnswer::Notify(errno)) => self.notify(*errno),
            Leaf::Only(condition, otherwise) => self.condition(condition, *otherwise),
        }
        self.leaves.insert(leaf.clone(), self.last());
        self.last()
    }

    /// Answers this errno to a caller with the token, and notifies the listener otherwise.
    fn notify(&mut self, errno: i32) {
        let at_once = self.answer(FilterAnswer::errno(errno));
        let notified = self.answer(FilterAnswer::Action(libc::SECCOMP_RET_USER_NOTIF));
        let mut known = at_once;
        for half in TOKEN_OFFSETS.into_iter().rev() {
            self.branch(IF_EQUAL, 0, known, notified);
            self.push(LOAD, half);
            known = self.last();
        }
    }

    fn condition(&mut self, condition: &Condition, otherwise: FilterAnswer) {
        let allowed = self.answer(FilterAnswer::ALLOW);
        let mut fails = self.answer(otherwise);
        for alternative in condition.iter().rev() {
            let mut holds = allowed;
            for test in alternative.iter().rev() {
                self.test(test, holds, fails);
                holds = self.last();
            }
            fails = self.last();
        }
    }

    fn test(&mut self, test: &ArgumentTest, holds: usize, fails: usize) {
        match &test.compare {
            Compare::In(values) => self.any_of(values, holds, fails),
            Compare::NotIn(values) => self.any_of(values, fails, holds),
            Compare::Masked { mask, value: 0 } => self.branch(IF_ANY_BIT, *mask, fails, holds),
            Compare::Masked { mask, value } => {
                self.branch(IF_EQUAL, *value, holds, fails);
                self.push(MASK, *mask);
            }
        }
        // The low half: both architectures are little-endian.
        self.push(LOAD, FIRST_ARGUMENT_OFFSET + 8 * test.argument);
    }

    fn any_of(&mut self, values: &[u32], yes: usize, no: usize) {
        let mut otherwise = no;
        for value in values.iter().rev() {
            self.branch(IF_EQUAL, *value, yes, otherwise);
            otherwise = self.last();
        }
    }

    /// Writes the tree over these ranges. Returns the position of its root.
    fn tree(&mut self, ranges: &[CallRange]) -> usize {
        if let Some(common) = background(ranges) {
            let mut place = self.leaf(common);
            for single in ranges.iter().filter(|range| range.leaf != *common).rev() {
                let leaf = self.leaf(&single.leaf);
                self.branch(IF_EQUAL, single.first, leaf, place);
                place = self.last();
            }
            return place;
        }
        let (lower, upper) = ranges.split_at(middle(ranges));
        let start = upper[0].first;
        let (upper, lower) = (self.tree(upper), self.tree(lower));
        self.branch(IF_AT_LEAST, start, upper, lower);
        self.last()
    }
}
