//! The parser of the policy texts: one system call per line, each with its rule.
//!
//! The texts are compiled into the launcher and are the only place that allows or denies a call;
//! `sandbox/seccomp/base.txt` explains the format. Parsing is strict. An unknown word, a call named
//! twice, or a condition that does not fit its call is an error, because a skipped line would be a
//! security hole.

use std::collections::BTreeMap;
use std::fmt;

use super::names;
use crate::seccomp::SeccompText;

/// The treatment of a denied call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::launch) enum Denial {
    /// As if the kernel did not have the call: ENOSYS, without notification.
    Absent,
    /// Answered with this errno, and recorded.
    Refused(i32),
    /// Allowed a fixed number of times per run, then answered with this errno and recorded. For
    /// calls that consume a per-user resource of the kernel, since the tool shares its user with
    /// others.
    Rationed(i32),
    /// Answered with EPERM; the run ends as `seccomp_violation`.
    Escape,
}

impl Denial {
    /// Returns the errno that the caller sees.
    pub(in crate::launch) fn errno(self) -> i32 {
        match self {
            Self::Absent => libc::ENOSYS,
            Self::Refused(errno) | Self::Rationed(errno) => errno,
            Self::Escape => libc::EPERM,
        }
    }
}

/// One comparison of one argument, counted from 0, in 32 bits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Test {
    pub(super) argument: u32,
    pub(super) compare: Compare,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Compare {
    In(Vec<u32>),
    NotIn(Vec<u32>),
    Masked { mask: u32, value: u32 },
}

/// Alternatives, of which one must hold. Each is a list of tests that must all hold.
pub(super) type Condition = Vec<Vec<Test>>;

/// The rule for one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Allow,
    Deny(Denial),
    Only { when: Condition, otherwise: Denial },
}

/// Rules by call number.
pub(super) type Rules = BTreeMap<u32, Rule>;

/// The meaning of a line that contains only a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bare {
    Is(Denial),
    Allowed,
    /// None: the file changes lines of another, so that a name alone is an error.
    Nothing,
}

/// One file of `sandbox/seccomp`.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) file: &'static str,
    pub(super) text: &'static str,
    pub(super) bare: Bare,
}

impl Text {
    pub(super) const fn of(text: SeccompText, bare: Bare) -> Self {
        Self { file: text.file, text: text.text, bare }
    }
}

/// An error in a text, with its location.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::launch) struct Wrong {
    file: &'static str,
    /// Counted from 1; `None` if two files disagree.
    line: Option<usize>,
    what: String,
}

impl Wrong {
    /// Builds an error that concerns no single line.
    pub(super) fn throughout(file: &'static str, what: String) -> Self {
        Self { file, line: None, what }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seccomp/{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for Wrong {}

/// The rules of one file itself, and the file that it includes.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) includes: Option<&'static str>,
    pub(super) rules: Rules,
}

/// Parses one file. Lines for another architecture are skipped.
pub(super) fn read(text: Text) -> Result<Read, Wrong> {
    let mut read = Read { includes: None, rules: Rules::new() };
    for (at, line) in text.text.lines().enumerate() {
        let wrong = |what| Wrong { file: text.file, line: Some(at + 1), what };
        let content = line.split_once('#').map_or(line, |(content, _)| content);
        let words: Vec<&'static str> = content.split_ascii_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["include", file] if read.includes.is_none() && read.rules.is_empty() => {
                read.includes = Some(file);
            }
            words => {
                if let Some((call, rule)) = call_line(words, text.bare).map_err(wrong)?
                    && read.rules.insert(call, rule).is_some()
                {
                    return Err(wrong("the call is listed twice".to_owned()));
                }
            }
        }
    }
    Ok(read)
}

/// Parses a call line. Returns `None` for a line of another architecture.
fn call_line(words: &[&str], bare: Bare) -> Result<Option<(u32, Rule)>, String> {
    let (number, words): (fn(&str) -> Option<u32>, _) = match words {
        ["[x86_64]", rest @ ..] if cfg!(target_arch = "x86_64") => (names::number, rest),
        ["[aarch64]", rest @ ..] if cfg!(target_arch = "aarch64") => (names::number, rest),
        ["[x86_64]" | "[aarch64]", ..] => return Ok(None),
        rest => (names::everywhere, rest),
    };
    let (name, rule) = match words {
        [name] => {
            let rule = match bare {
                Bare::Allowed => Rule::Allow,
                Bare::Is(denial) => Rule::Deny(denial),
                Bare::Nothing => return Err(format!("`{name}` has no condition")),
            };
            (*name, rule)
        }
        [name, words @ ..] => {
            let name = name.strip_suffix(':').ok_or("`:` is missing after the name")?;
            if matches!(bare, Bare::Is(_)) {
                return Err("only names are allowed in this file".to_owned());
            }
            (name, rule(name, words)?)
        }
        [] => return Err("the name of a call is missing".to_owned()),
    };
    let number = number(name).ok_or_else(|| format!("`{name}` is not a system call here"))?;
    Ok(Some((number, rule)))
}

fn rule(call: &str, words: &[&str]) -> Result<Rule, String> {
    let Some(at) = words.iter().position(|word| *word == "else") else {
        return Ok(Rule::Deny(denial(words)?));
    };
    let alternatives = words[..at].split(|word| *word == "or");
    let tests = |all: &[&str]| all.split(|word| *word == "and").map(|it| test(call, it)).collect();
    let when = alternatives.map(tests).collect::<Result<_, String>>()?;
    Ok(Rule::Only { when, otherwise: denial(&words[at + 1..])? })
}

fn denial(words: &[&str]) -> Result<Denial, String> {
    match words {
        ["absent"] => Ok(Denial::Absent),
        ["escape"] => Ok(Denial::Escape),
        ["refuse", errno] => errno_of(errno).map(Denial::Refused),
        ["ration", errno] => errno_of(errno).map(Denial::Rationed),
        _ => Err("expected `refuse ERRNO`, `ration ERRNO`, `escape` or `absent`".into()),
    }
}

fn errno_of(word: &str) -> Result<i32, String> {
    names::errno(word).ok_or_else(|| format!("`{word}` is not an errno here"))
}

fn test(call: &str, words: &[&str]) -> Result<Test, String> {
    let (name, compare) = match words {
        [name, "not", "in", list @ ..] if !list.is_empty() => (name, Compare::NotIn(values(list)?)),
        [name, "in", list @ ..] if !list.is_empty() => (name, Compare::In(values(list)?)),
        [name, "==", one] => (name, Compare::In(vec![value(one)?])),
        [name, "&", mask, "==", rest] => {
            let (mask, value) = (value(mask)?, value(rest)?);
            if value & !mask != 0 {
                return Err(format!("`{rest}` has bits outside the mask"));
            }
            (name, Compare::Masked { mask, value })
        }
        _ => return Err(format!("`{}` is not a condition", words.join(" "))),
    };
    let argument = names::argument(call, name)
        .ok_or_else(|| format!("`{call}` has no argument `{name}` to compare"))?;
    Ok(Test { argument, compare })
}

fn values(words: &[&str]) -> Result<Vec<u32>, String> {
    words.iter().map(|word| value(word)).collect()
}

fn value(word: &str) -> Result<u32, String> {
    names::value(word).ok_or_else(|| format!("`{word}` is not a value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &'static str, bare: Bare) -> Result<Rules, String> {
        let read = read(Text { file: "t", text, bare });
        read.map(|read| read.rules).map_err(|wrong| wrong.to_string())
    }

    fn one(text: &'static str) -> Rule {
        of(text, Bare::Allowed).unwrap().into_values().next().unwrap()
    }

    #[test]
    fn a_line_says_what_it_says() {
        assert_eq!(one("read # why"), Rule::Allow);
        assert_eq!(one("mmap: refuse ENOSYS"), Rule::Deny(Denial::Refused(libc::ENOSYS)));
        let test = |argument, compare| Test { argument, compare };
        let family = |families: &[u32]| test(0, Compare::In(families.to_vec()));
        let when = vec![vec![family(&[1, 2])], vec![family(&[16]), test(2, Compare::In(vec![0]))]];
        assert_eq!(
            one(
                "socket: domain in AF_UNIX AF_INET or domain == 0x10 and protocol == 0 else absent"
            ),
            Rule::Only { when, otherwise: Denial::Absent }
        );
        let mask = test(0, Compare::Masked { mask: 0x7e02_0080, value: 0 });
        assert_eq!(
            one("clone: flags & 0x7e020080 == 0 else escape"),
            Rule::Only { when: vec![vec![mask]], otherwise: Denial::Escape }
        );
        let input = test(1, Compare::NotIn(vec![0x5412, 0x541c]));
        assert_eq!(
            one("ioctl: cmd not in TIOCSTI TIOCLINUX else refuse EPERM"),
            Rule::Only { when: vec![vec![input]], otherwise: Denial::Refused(libc::EPERM) }
        );
        let refused = of("mount", Bare::Is(Denial::Escape)).unwrap();
        assert_eq!(refused.into_values().next(), Some(Rule::Deny(Denial::Escape)));
    }

    #[test]
    fn a_line_for_another_architecture_is_none() {
        let elsewhere = if cfg!(target_arch = "x86_64") { "[aarch64]" } else { "[x86_64]" };
        let words = [elsewhere, "no_such_call"];
        assert_eq!(call_line(&words, Bare::Allowed), Ok(None));
        // A call that only this architecture has must be marked, or the texts are invalid on the
        // other.
        #[cfg(target_arch = "x86_64")]
        assert!(of("open", Bare::Allowed).is_err() && of("[x86_64] open", Bare::Allowed).is_ok());
    }

    #[test]
    fn what_is_not_understood_is_wrong() {
        for (text, why) in [
            ("reed", ":1: `reed` is not a system call here"),
            ("\nread\nread", ":3: the call is listed twice"),
            ("read write", "`:` is missing after the name"),
            ("[x86_64]", "the name of a call is missing"),
            ("[mips] read", "`:` is missing"),
            ("read\ninclude base", "`:` is missing"),
            ("include base\ninclude base", "`:` is missing"),
            ("socket: domain in AF_UNIX", "expected `refuse ERRNO`"),
            ("socket: domain in AF_UNIX else", "expected `refuse ERRNO`"),
            ("socket: domain in AF_UNIX else allow", "expected `refuse ERRNO`"),
            ("socket: domain in AF_UNIX else refuse EWHAT", "`EWHAT` is not an errno"),
            ("socket: domain in AF_VSOK else absent", "`AF_VSOK` is not a value"),
            ("socket: domain in else absent", "`domain in` is not a condition"),
            ("socket: domain == AF_UNIX or else absent", "`` is not a condition"),
            ("socket: else absent", "`` is not a condition"),
            ("socketpair: type in 1 else absent", "`socketpair` has no argument `type`"),
            ("read: flags == 1 else absent", "`read` has no argument `flags`"),
            ("mmap: flags & 0x10 == 0x20 else absent", "bits outside the mask"),
        ] {
            let wrong = of(text, Bare::Allowed).unwrap_err();
            assert!(wrong.contains(why), "{text:?}: {wrong}");
        }
        assert!(of("mmap: absent", Bare::Is(Denial::Escape)).unwrap_err().contains("only names"));
        assert!(of("mmap", Bare::Nothing).unwrap_err().contains("has no condition"));
    }
}
