//! From rules to a program of the kernel's classic BPF: a search tree over ranges of equal answers.
//!
//! When a filter is loaded the kernel runs it once for every system call of each architecture, to learn
//! which are always allowed (Linux 5.11), so what counts is the way to each answer: a tree that is balanced
//! by calls makes it short, and the architecture check in front ends the compat half at once. The same
//! rules give the same bytes, because the digest of a program stands in the record.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::text::{Compare, Condition, Test};

/// linux/audit.h: the architecture whose call numbers these programs know.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCH: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
pub(super) const ARCH: u32 = 0xC000_00B7;

/// x86_64 has a second table of calls behind this bit (x32), which no list here covers.
#[cfg(target_arch = "x86_64")]
const SECOND_TABLE: Option<std::ops::Range<u32>> = Some(0x4000_0000..0x8000_0000);
#[cfg(not(target_arch = "x86_64"))]
const SECOND_TABLE: Option<std::ops::Range<u32>> = None;

// linux/bpf_common.h: load a word, compare with a constant, mask, jump, answer.
const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_ANY_BIT: u16 = 0x45;
const MASK: u16 = 0x54;
const JUMP: u16 = 0x05;
const ANSWER: u16 = 0x06;

// struct seccomp_data of linux/seccomp.h: offsets in bytes.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
/// The halves of the sixth argument, which no rule tests: few calls have one.
const WORD: [u32; 2] = [FIRST_ARGUMENT + 8 * 5, FIRST_ARGUMENT + 8 * 5 + 4];

/// No kernel has as many calls: what lies above carries no weight in the tree.
const CALLS_MAX: u32 = 512;

/// How far a conditional jump reaches, with room for the two stand-ins that one jump may need.
const REACH: usize = 255 - 2;

/// Up to so many numbers are found by comparing with each: a tree over them and what lies between would
/// be as deep and twice as large.
const SINGLES_MAX: usize = 3;

/// What a filter answers the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// An action and its data.
    Action(u32),
    /// The listener is told, and answers; but whoever knows the [`Word`] has this errno at once.
    Told(i32),
}

impl Answer {
    pub(super) const ALLOW: Self = Self::Action(libc::SECCOMP_RET_ALLOW);
    pub(super) const KILL: Self = Self::Action(libc::SECCOMP_RET_KILL_PROCESS);

    pub(super) fn errno(errno: i32) -> Self {
        Self::Action(errno_action(errno))
    }
}

fn errno_action(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | (errno.unsigned_abs() & libc::SECCOMP_RET_DATA)
}

/// What the cell's own probe puts behind the arguments of a call that must be denied, so that it need not
/// wait for the listener. Drawn for one cell, known to its init only, and of use for nothing but a
/// denial: a tool that guessed it could be denied without being counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::launch) struct Word(u64);

impl Word {
    /// Never 0, which is what stands in an argument that nobody set.
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

/// What the tree leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Leaf {
    Always(Answer),
    /// Allowed under a condition, and else answered this.
    Only(Condition, Answer),
}

/// A filter, ready to be loaded but for the word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::launch) struct Program {
    /// With 0 where the word belongs.
    instructions: Vec<libc::sock_filter>,
    /// Where the halves of the word belong.
    word_places: [Vec<usize>; 2],
    sha256: [u8; 32],
}

impl Program {
    pub(in crate::launch) fn with_word(&self, word: Word) -> Vec<libc::sock_filter> {
        let mut instructions = self.instructions.clone();
        for (places, half) in self.word_places.iter().zip(word.halves()) {
            for place in places {
                instructions[*place].k = half;
            }
        }
        instructions
    }

    /// SHA-256 over the instructions as they lie in memory, with 0 where the word belongs.
    pub(in crate::launch) fn sha256(&self) -> [u8; 32] {
        self.sha256
    }
}

/// Compiles `leaves` by call number; every other number is answered `unknown`.
pub(super) fn compile(leaves: &BTreeMap<u32, Leaf>, unknown: Answer) -> Program {
    let mut code = Backward::default();
    let tree = code.tree(&ranges(leaves, unknown));
    debug_assert_eq!(tree + 1, code.reversed.len(), "the tree's root stands first");
    code.push(LOAD, NUMBER);
    let known = code.last();
    let foreign = code.answer(Answer::KILL);
    code.branch(IF_EQUAL, ARCH, known, foreign);
    code.push(LOAD, ARCHITECTURE);
    code.reversed.reverse();
    let instructions = code.reversed;
    let mut hash = Sha256::new();
    for instruction in &instructions {
        hash.update(instruction.code.to_ne_bytes());
        hash.update([instruction.jt, instruction.jf]);
        hash.update(instruction.k.to_ne_bytes());
    }
    let word_places = WORD.map(|half| compared_with(&instructions, half));
    Program { instructions, word_places, sha256: hash.finalize().into() }
}

/// The comparisons with what is loaded from this offset.
fn compared_with(instructions: &[libc::sock_filter], offset: u32) -> Vec<usize> {
    let pairs = instructions.array_windows().enumerate();
    let found = pairs.filter(|(_, [load, compare])| {
        (load.code, load.k, compare.code) == (LOAD, offset, IF_EQUAL)
    });
    found.map(|(at, _)| at + 1).collect()
}

/// Neighbouring numbers with one answer; `last` is among them.
#[derive(Debug)]
struct Range {
    first: u32,
    last: u32,
    leaf: Leaf,
}

impl Range {
    /// How many calls the kernel may have here.
    fn calls(&self) -> u32 {
        self.last.min(CALLS_MAX - 1).saturating_sub(self.first) + 1
    }
}

/// Where to divide these ranges, of which there are two or more, so that both sides have as many calls.
fn middle(ranges: &[Range]) -> usize {
    let all: u32 = ranges.iter().map(Range::calls).sum();
    let mut below = 0;
    let half = ranges.iter().position(|range| {
        below += range.calls();
        below >= all / 2
    });
    half.map_or(1, |at| (at + 1).min(ranges.len() - 1))
}

/// All numbers there are, in order.
fn ranges(leaves: &BTreeMap<u32, Leaf>, unknown: Answer) -> Vec<Range> {
    let mut starts = leaves.clone();
    let unknown = Leaf::Always(unknown);
    for after in leaves.keys().filter_map(|number| number.checked_add(1)).chain([0]) {
        starts.entry(after).or_insert_with(|| unknown.clone());
    }
    if let Some(second) = SECOND_TABLE {
        starts.insert(second.start, Leaf::Always(Answer::KILL));
        starts.insert(second.end, unknown);
    }
    let mut ranges: Vec<Range> = Vec::new();
    for (first, leaf) in starts {
        if let Some(before) = ranges.last_mut() {
            if before.leaf == leaf {
                continue;
            }
            before.last = first - 1;
        }
        ranges.push(Range { first, last: u32::MAX, leaf });
    }
    ranges
}

/// The answer of all these ranges but for a few single numbers, if that is what they are.
fn background(ranges: &[Range]) -> Option<&Leaf> {
    let widest = ranges.iter().max_by_key(|range| range.last - range.first)?;
    let others = ranges.iter().filter(|range| range.leaf != widest.leaf);
    let single = others.clone().all(|range| range.first == range.last);
    (single && others.count() <= SINGLES_MAX).then_some(&widest.leaf)
}

/// A program that is written from its end, since jumps only go forward: every target is there before
/// the jump to it. Places are counted from the end.
#[derive(Default)]
struct Backward {
    reversed: Vec<libc::sock_filter>,
    /// Where the nearest copy of a leaf stands.
    leaves: BTreeMap<Leaf, usize>,
}

impl Backward {
    fn last(&self) -> usize {
        self.reversed.len().saturating_sub(1)
    }

    fn push(&mut self, code: u16, k: u32) {
        self.reversed.push(libc::sock_filter { code, jt: 0, jf: 0, k });
    }

    /// A place within reach from which `target` goes on: itself, or a stand-in for it.
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
                unreachable!("the kernel takes 4,096 instructions");
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
            unreachable!("what is near is less than 256 instructions away");
        };
        self.reversed.push(libc::sock_filter { code, jt, jf, k });
    }

    fn answer(&mut self, answer: Answer) -> usize {
        self.leaf(&Leaf::Always(answer))
    }

    fn leaf(&mut self, leaf: &Leaf) -> usize {
        if let Some(place) = self.leaves.get(leaf).copied()
            && self.reversed.len() - place <= REACH
        {
            return place;
        }
        match leaf {
            Leaf::Always(Answer::Action(value)) => self.push(ANSWER, *value),
            Leaf::Always(Answer::Told(errno)) => self.told(*errno),
            Leaf::Only(condition, otherwise) => self.condition(condition, *otherwise),
        }
        self.leaves.insert(leaf.clone(), self.last());
        self.last()
    }

    /// This errno for whoever knows the word, and the listener for everybody else.
    fn told(&mut self, errno: i32) {
        let at_once = self.answer(Answer::errno(errno));
        let notified = self.answer(Answer::Action(libc::SECCOMP_RET_USER_NOTIF));
        let mut known = at_once;
        for half in WORD.into_iter().rev() {
            self.branch(IF_EQUAL, 0, known, notified);
            self.push(LOAD, half);
            known = self.last();
        }
    }

    fn condition(&mut self, condition: &Condition, otherwise: Answer) {
        let allowed = self.answer(Answer::ALLOW);
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

    fn test(&mut self, test: &Test, holds: usize, fails: usize) {
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
        self.push(LOAD, FIRST_ARGUMENT + 8 * test.argument);
    }

    fn any_of(&mut self, values: &[u32], yes: usize, no: usize) {
        let mut otherwise = no;
        for value in values.iter().rev() {
            self.branch(IF_EQUAL, *value, yes, otherwise);
            otherwise = self.last();
        }
    }

    /// Returns the place of the root of the tree over these ranges.
    fn tree(&mut self, ranges: &[Range]) -> usize {
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
