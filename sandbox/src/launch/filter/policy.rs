//! The texts of `sandbox/seccomp`, combined: the allowed calls of each runtime, and the meaning of
//! each denial.
//!
//! Contradictory files are refused when they are read: a call has one meaning, independent of the
//! runtime. A [`Policy`] only answers and compiles; it loads nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use model::Language;

use super::names;
use super::text::{self, Bare, Denial, Rule, Rules, Text, Wrong};
use super::tree::{self, Answer, Leaf, Program};
use crate::seccomp;

/// The mechanism that enforces the memory limit; it decides whether unmapped memory can be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::launch) enum MemoryWatch {
    Kernel,
    Sampled,
}

/// The list of calls that a sandbox is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::launch) enum Profile {
    /// The calls that every program needs, also for a process of our own.
    Base,
    /// The calls of one runtime.
    Of(Language),
}

impl Profile {
    /// Returns every profile; a text may include an earlier one.
    pub(in crate::launch) fn all() -> impl Iterator<Item = Self> {
        iter::once(Self::Base).chain(Language::ALL.iter().copied().map(Self::Of))
    }

    fn text(self) -> Text {
        let text = match self {
            Self::Base => seccomp::BASE,
            Self::Of(language) => seccomp::of(language),
        };
        Text::of(text, Bare::Allowed)
    }
}

/// The network access that a filter permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::launch) enum Network {
    Nothing,
    Hosts,
}

impl Network {
    /// Returns the access that corresponds to a sandbox's network.
    pub(in crate::launch) fn of(asked: crate::plan::Network) -> Self {
        match asked {
            crate::plan::Network::Nothing => Self::Nothing,
            crate::plan::Network::Proxy => Self::Hosts,
        }
    }
}

/// The party that answers a denied call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::launch) enum Answered {
    /// The kernel; no listener is notified.
    ByErrno,
    /// The holder of the listener that loading the program returns.
    ByListener,
}

const REFUSED: Text = Text::of(seccomp::REFUSED, Bare::Is(Denial::Refused(libc::EPERM)));
const ESCAPE: Text = Text::of(seccomp::ESCAPE, Bare::Is(Denial::Escape));
const SETUP: Text = Text::of(seccomp::SETUP, Bare::Is(Denial::Absent));
const SAMPLED: Text = Text::of(seccomp::SAMPLED, Bare::Nothing);
const HOSTS: Text = Text::of(seccomp::HOSTS, Bare::Nothing);

/// The texts, parsed and checked for contradictions.
#[derive(Debug)]
pub(in crate::launch) struct Policy {
    /// The allowed calls of each runtime, including those of included files.
    pub(super) allowed: BTreeMap<Profile, Rules>,
    /// `refused.txt` and `escape.txt`.
    pub(super) denied: Rules,
    pub(super) setup: BTreeSet<u32>,
    /// Lines that replace those of base.
    sampled: Rules,
    hosts: Rules,
    /// Every call that a listener may be notified of.
    told: BTreeMap<u32, Denial>,
}

impl Policy {
    /// Reads the texts that are compiled in.
    pub(in crate::launch) fn embedded() -> Result<Self, Wrong> {
        let mut allowed = BTreeMap::new();
        for profile in Profile::all() {
            let rules = with_included(profile.text(), &allowed)?;
            allowed.insert(profile, rules);
        }
        let mut denied = text::read(REFUSED)?.rules;
        add(&mut denied, text::read(ESCAPE)?.rules, ESCAPE.file)?;
        for rules in allowed.values() {
            disjoint(rules, &denied, "refused.txt or escape.txt")?;
        }
        let base = allowed.get(&Profile::Base).cloned().unwrap_or_default();
        let setup = text::read(SETUP)?.rules;
        disjoint(&base, &setup, SETUP.file)?;
        let instead = |text: Text| {
            let rules = text::read(text)?.rules;
            match rules.keys().find(|call| !base.contains_key(call)) {
                Some(call) => Err(clash(text.file, *call, "is not listed in base.txt")),
                None => Ok(rules),
            }
        };
        let (sampled, hosts) = (instead(SAMPLED)?, instead(HOSTS)?);
        let lists = allowed.values().chain([&denied, &sampled, &hosts]);
        let told = told(lists)?;
        let setup = setup.into_keys().collect();
        Ok(Self { allowed, denied, setup, sampled, hosts, told })
    }

    /// Compiles the filter that is loaded once and inherited by every sandbox.
    pub(in crate::launch) fn outer(&self) -> Program {
        let named = self.allowed.values().chain([&self.denied]).flat_map(Rules::keys);
        let mut calls: Vec<u32> = named.chain(&self.setup).copied().collect();
        // Every runtime includes base: a map would be filled six times.
        calls.sort_unstable();
        calls.dedup();
        let leaves = calls.into_iter().map(|call| (call, Leaf::Always(Answer::ALLOW))).collect();
        tree::compile(&leaves, Answer::errno(Denial::Absent.errno()))
    }

    /// Compiles the filter that is loaded last in a sandbox, after which only the tool's calls are
    /// possible.
    pub(in crate::launch) fn last(
        &self,
        profile: Profile,
        memory: MemoryWatch,
        network: Network,
        answered: Answered,
    ) -> Program {
        let deny = |denial: Denial| match (answered, denial) {
            (Answered::ByListener, Denial::Refused(_) | Denial::Rationed(_) | Denial::Escape) => {
                Answer::Told(denial.errno())
            }
            (_, denial) => Answer::errno(denial.errno()),
        };
        let leaf = |(call, rule): (u32, Rule)| {
            let leaf = match rule {
                Rule::Allow => Leaf::Always(Answer::ALLOW),
                Rule::Deny(denial) => Leaf::Always(deny(denial)),
                Rule::Only { when, otherwise } => Leaf::Only(when, deny(otherwise)),
            };
            (call, leaf)
        };
        let leaves = self.rules(profile, memory, network).into_iter().map(leaf).collect();
        tree::compile(&leaves, Answer::errno(Denial::Absent.errno()))
    }

    /// Returns every rule except ENOSYS ones.
    pub(super) fn rules(&self, profile: Profile, memory: MemoryWatch, network: Network) -> Rules {
        let mut rules = self.denied.clone();
        rules.extend(self.allowed.get(&profile).cloned().unwrap_or_default());
        if memory == MemoryWatch::Sampled {
            rules.extend(self.sampled.clone());
        }
        if network == Network::Hosts {
            rules.extend(self.hosts.clone());
        }
        rules
    }

    /// Returns name and denial of a notified call; `None` if no program here notifies it.
    pub(in crate::launch) fn denied(&self, call: u32) -> Option<(&'static str, Denial)> {
        let denial = self.told.get(&call)?;
        Some((names::name(call)?, *denial))
    }
}

fn clash(file: &'static str, call: u32, what: &str) -> Wrong {
    Wrong::throughout(file, format!("`{}` {what}", names::name(call).unwrap_or("?")))
}

fn with_included(text: Text, before: &BTreeMap<Profile, Rules>) -> Result<Rules, Wrong> {
    let read = text::read(text)?;
    let mut rules = Rules::new();
    if let Some(word) = read.includes {
        let named = |profile: &Profile| profile.text().file.strip_suffix(".txt") == Some(word);
        let included = Profile::all().find(named).and_then(|profile| before.get(&profile));
        let unknown = || Wrong::throughout(text.file, format!("`{word}` is not an earlier file"));
        rules = included.ok_or_else(unknown)?.clone();
    }
    add(&mut rules, read.rules, text.file)?;
    Ok(rules)
}

fn add(rules: &mut Rules, more: Rules, file: &'static str) -> Result<(), Wrong> {
    disjoint(rules, &more, file)?;
    rules.extend(more);
    Ok(())
}

fn disjoint(rules: &Rules, others: &Rules, file: &'static str) -> Result<(), Wrong> {
    match others.keys().find(|call| rules.contains_key(call)) {
        Some(call) => Err(clash(file, *call, "is also listed in another file")),
        None => Ok(()),
    }
}

/// Collects the denial of each notified call; two different denials of one call are an error.
fn told<'a>(lists: impl Iterator<Item = &'a Rules>) -> Result<BTreeMap<u32, Denial>, Wrong> {
    let mut told = BTreeMap::new();
    for (call, rule) in lists.flatten() {
        let (Rule::Deny(denial) | Rule::Only { otherwise: denial, .. }) = rule else { continue };
        if *denial != Denial::Absent && told.insert(*call, *denial).is_some_and(|it| it != *denial)
        {
            return Err(clash("base.txt", *call, "has two different denials"));
        }
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &'static str, bare: Bare) -> Rules {
        text::read(Text { file: "t.txt", text, bare }).unwrap().rules
    }

    #[test]
    fn texts_that_contradict_each_other_are_no_policy() {
        let mut list = rules("read\nmount", Bare::Allowed);
        let wrong = add(&mut list, rules("write\nmount", Bare::Allowed), "o.txt").unwrap_err();
        assert_eq!(wrong.to_string(), "seccomp/o.txt: `mount` is also listed in another file");
        add(&mut list, rules("write", Bare::Allowed), "o.txt").unwrap();
        assert_eq!(list.len(), 3);
    }

    #[test]
    fn what_is_told_means_one_thing() {
        let one = rules("socket: domain in 1 else refuse EPERM\nread: absent", Bare::Nothing);
        let same = rules("socket: domain in 2 else refuse EPERM\nread: escape", Bare::Nothing);
        let heard = told([&one, &same].into_iter()).unwrap();
        assert_eq!(heard.values().collect::<Vec<_>>(), [&Denial::Escape, &Denial::Refused(1)]);
        let other = rules("socket: domain in 1 else escape", Bare::Nothing);
        assert!(told([&one, &other].into_iter()).is_err());
    }

    #[test]
    fn a_file_includes_what_stands_before_it() {
        let base = rules("read", Bare::Allowed);
        let before = BTreeMap::from([(Profile::Base, base)]);
        let with = |text| with_included(Text { file: "t.txt", text, bare: Bare::Allowed }, &before);
        assert_eq!(with("include base\nwrite").unwrap().len(), 2);
        for text in ["include node", "include nothing", "include base\nread"] {
            assert!(with(text).is_err(), "{text}");
        }
    }
}
