//! The texts of `sandbox/seccomp`, combined: the allowed calls of each runtime, and the meaning of
//! each denial, which does not depend on the runtime: contradictory files are refused. A
//! [`SeccompPolicy`] only answers and compiles; it loads nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use model::Language;

use super::names;
use super::text::{self, BareName, CallDenial, CallRule, CallRules, PolicyText, PolicyTextError};
use super::tree::{self, FilterAnswer, FilterProgram, Leaf};
use crate::plan::{SandboxDevice, SandboxNetwork, SandboxSpec};
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
    Of(Language),
}

impl Profile {
    /// Returns every profile; a text may include an earlier one.
    pub(in crate::launch) fn all() -> impl Iterator<Item = Self> {
        iter::once(Self::Base).chain(Language::ALL.iter().copied().map(Self::Of))
    }

    fn text(self) -> PolicyText {
        let text = match self {
            Self::Base => seccomp::BASE,
            Self::Of(language) => seccomp::of(language),
        };
        PolicyText::of(text, BareName::Allowed)
    }
}

/// The part of the host outside of the sandbox for which a filter permits calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::launch) enum FilterAccess {
    Nothing,
    Hosts,
    Kvm,
}

impl FilterAccess {
    /// No plan has both a network and a device: `Options::check_sandbox` refuses it.
    pub(in crate::launch) fn of(plan: &SandboxSpec) -> Self {
        match (plan.network, plan.device) {
            (SandboxNetwork::Proxy, _) => Self::Hosts,
            (SandboxNetwork::Nothing, SandboxDevice::Kvm) => Self::Kvm,
            (SandboxNetwork::Nothing, SandboxDevice::Nothing) => Self::Nothing,
        }
    }
}

/// The party that answers a denied call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::launch) enum DenialMode {
    /// The kernel; no listener is notified.
    ByErrno,
    /// The holder of the listener that loading the program returns.
    ByListener,
}

const REFUSED: PolicyText =
    PolicyText::of(seccomp::REFUSED, BareName::Is(CallDenial::Refused(libc::EPERM)));
const ESCAPE: PolicyText = PolicyText::of(seccomp::ESCAPE, BareName::Is(CallDenial::Escape));
const SETUP: PolicyText = PolicyText::of(seccomp::SETUP, BareName::Is(CallDenial::Absent));
const SAMPLED: PolicyText = PolicyText::of(seccomp::SAMPLED, BareName::Nothing);
const HOSTS: PolicyText = PolicyText::of(seccomp::HOSTS, BareName::Nothing);
const KVM: PolicyText = PolicyText::of(seccomp::KVM, BareName::Nothing);

/// The texts, parsed and checked for contradictions.
#[derive(Debug)]
pub(in crate::launch) struct SeccompPolicy {
    /// The allowed calls of each runtime, including those of included files.
    pub(super) allowed: BTreeMap<Profile, CallRules>,
    /// `refused.txt` and `escape.txt`.
    pub(super) denied: CallRules,
    pub(super) setup: BTreeSet<u32>,
    /// Lines that replace those of base.
    sampled: CallRules,
    hosts: CallRules,
    kvm: CallRules,
    /// Every call that a listener may be notified of.
    notified: BTreeMap<u32, CallDenial>,
}

impl SeccompPolicy {
    /// Reads the texts that are compiled in.
    pub(in crate::launch) fn embedded() -> Result<Self, PolicyTextError> {
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
        let instead = |text: PolicyText| {
            let rules = text::read(text)?.rules;
            match rules.keys().find(|call| !base.contains_key(call)) {
                Some(call) => Err(conflict(text.file, *call, "is not listed in base.txt")),
                None => Ok(rules),
            }
        };
        let (sampled, hosts, kvm) = (instead(SAMPLED)?, instead(HOSTS)?, instead(KVM)?);
        let lists = allowed.values().chain([&denied, &sampled, &hosts, &kvm]);
        let notified = notified_denials(lists)?;
        let setup = setup.into_keys().collect();
        Ok(Self { allowed, denied, setup, sampled, hosts, kvm, notified })
    }

    /// Compiles the filter that is loaded once and inherited by every sandbox.
    pub(in crate::launch) fn outer(&self) -> FilterProgram {
        let named = self.allowed.values().chain([&self.denied]).flat_map(CallRules::keys);
        let mut calls: Vec<u32> = named.chain(&self.setup).copied().collect();
        // Every runtime includes base: a map would be filled six times.
        calls.sort_unstable();
        calls.dedup();
        let leaves =
            calls.into_iter().map(|call| (call, Leaf::Always(FilterAnswer::ALLOW))).collect();
        tree::compile(&leaves, FilterAnswer::errno(CallDenial::Absent.errno()))
    }

    /// Compiles the filter that is loaded last, after which only the tool's calls are possible.
    pub(in crate::launch) fn last(
        &self,
        profile: Profile,
        memory: MemoryWatch,
        access: FilterAccess,
        answered: DenialMode,
    ) -> FilterProgram {
        let deny = |denial: CallDenial| match (answered, denial) {
            (
                DenialMode::ByListener,
                CallDenial::Refused(_) | CallDenial::Rationed(_) | CallDenial::Escape,
            ) => FilterAnswer::Notify(denial.errno()),
            (_, denial) => FilterAnswer::errno(denial.errno()),
        };
        let leaf = |(call, rule): (u32, CallRule)| {
            let leaf = match rule {
                CallRule::Allow => Leaf::Always(FilterAnswer::ALLOW),
                CallRule::Deny(denial) => Leaf::Always(deny(denial)),
                CallRule::Only { when, otherwise } => Leaf::Only(when, deny(otherwise)),
            };
            (call, leaf)
        };
        let leaves = self.rules(profile, memory, access).into_iter().map(leaf).collect();
        tree::compile(&leaves, FilterAnswer::errno(CallDenial::Absent.errno()))
    }

    /// Returns every rule except ENOSYS ones.
    pub(super) fn rules(
        &self,
        profile: Profile,
        memory: MemoryWatch,
        access: FilterAccess,
    ) -> CallRules {
        let mut rules = self.denied.clone();
        rules.extend(self.allowed.get(&profile).cloned().unwrap_or_default());
        if memory == MemoryWatch::Sampled {
            rules.extend(self.sampled.clone());
        }
        match access {
            FilterAccess::Nothing => {}
            FilterAccess::Hosts => rules.extend(self.hosts.clone()),
            FilterAccess::Kvm => rules.extend(self.kvm.clone()),
        }
        rules
    }

    /// Returns name and denial of a notified call; `None` if no program here notifies it.
    pub(in crate::launch) fn denied(&self, call: u32) -> Option<(&'static str, CallDenial)> {
        let denial = self.notified.get(&call)?;
        Some((names::name(call)?, *denial))
    }
}

fn conflict(file: &'static str, call: u32, what: &str) -> PolicyTextError {
    PolicyTextError::throughout(file, format!("`{}` {what}", names::name(call).unwrap_or("?")))
}

fn with_included(
    text: PolicyText,
    before: &BTreeMap<Profile, CallRules>,
) -> Result<CallRules, PolicyTextError> {
    let read = text::read(text)?;
    let mut rules = CallRules::new();
    if let Some(word) = read.includes {
        let named = |profile: &Profile| profile.text().file.strip_suffix(".txt") == Some(word);
        let included = Profile::all().find(named).and_then(|profile| before.get(&profile));
        let unknown =
            || PolicyTextError::throughout(text.file, format!("`{word}` is not an earlier file"));
        rules = included.ok_or_else(unknown)?.clone();
    }
    add(&mut rules, read.rules, text.file)?;
    Ok(rules)
}

fn add(rules: &mut CallRules, more: CallRules, file: &'static str) -> Result<(), PolicyTextError> {
    disjoint(rules, &more, file)?;
    rules.extend(more);
    Ok(())
}

fn disjoint(
    rules: &CallRules,
    others: &CallRules,
    file: &'static str,
) -> Result<(), PolicyTextError> {
    match others.keys().find(|call| rules.contains_key(call)) {
        Some(call) => Err(conflict(file, *call, "is also listed in another file")),
        None => Ok(()),
    }
}

/// Collects the denial of each notified call; two different denials of one call are an error.
fn notified_denials<'a>(
    lists: impl Iterator<Item = &'a CallRules>,
) -> Result<BTreeMap<u32, CallDenial>, PolicyTextError> {
    let mut denials = BTreeMap::new();
    for (call, rule) in lists.flatten() {
        let (CallRule::Deny(denial) | CallRule::Only { otherwise: denial, .. }) = rule else {
            continue;
        };
        if *denial != CallDenial::Absent
            && denials.insert(*call, *denial).is_some_and(|it| it != *denial)
        {
            return Err(conflict("base.txt", *call, "has two different denials"));
        }
    }
    Ok(denials)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &'static str, bare: BareName) -> CallRules {
        text::read(PolicyText { file: "t.txt", text, bare }).unwrap().rules
    }

    #[test]
    fn contradictory_texts_are_refused() {
        let mut list = rules("read\nmount", BareName::Allowed);
        let wrong = add(&mut list, rules("write\nmount", BareName::Allowed), "o.txt").unwrap_err();
        assert_eq!(wrong.to_string(), "seccomp/o.txt: `mount` is also listed in another file");
        add(&mut list, rules("write", BareName::Allowed), "o.txt").unwrap();
        assert_eq!(list.len(), 3);
    }

    #[test]
    fn a_notified_call_has_one_denial() {
        let one = rules("socket: domain in 1 else refuse EPERM\nread: absent", BareName::Nothing);
        let same = rules("socket: domain in 2 else refuse EPERM\nread: escape", BareName::Nothing);
        let heard = notified_denials([&one, &same].into_iter()).unwrap();
        assert_eq!(
            heard.values().collect::<Vec<_>>(),
            [&CallDenial::Escape, &CallDenial::Refused(1)]
        );
        let other = rules("socket: domain in 1 else escape", BareName::Nothing);
        assert!(notified_denials([&one, &other].into_iter()).is_err());
    }

    #[test]
    fn a_file_includes_an_earlier_one() {
        let base = rules("read", BareName::Allowed);
        let before = BTreeMap::from([(Profile::Base, base)]);
        let with = |text| {
            with_included(PolicyText { file: "t.txt", text, bare: BareName::Allowed }, &before)
        };
        assert_eq!(with("include base\nwrite").unwrap().len(), 2);
        for text in ["include node", "include nothing", "include base\nread"] {
            assert!(with(text).is_err(), "{text}");
        }
    }
}
