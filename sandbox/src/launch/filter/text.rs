//! The parser of the policy texts: one system call per line, each with its rule;
//! `sandbox/seccomp/base.txt` explains the format. The texts are compiled in and are the only place
//! that allows or denies a call. An unknown word, a call named twice, or a condition that does not
//! fit its call is an error, because a skipped line would be a security hole.

use std::collections::BTreeMap;
use std::fmt;

use super::names;
use crate::seccomp::SeccompText;

/// The treatment of a denied call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::launch) enum CallDenial {
    /// As if the kernel did not have the call: ENOSYS, without notification.
    Absent,
    /// Answered with this errno, and recorded.
    Refused(i32),
    /// Allowed a fixed number of times per run, then answered with this errno and recorded. For
    /// calls that use up a resource of the user, whom the tool shares with others.
    Rationed(i32),
    /// Answered with EPERM; the run ends as `seccomp_violation`.
    Escape,
}

impl CallDenial {
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
pub(super) struct ArgumentTest {
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
pub(super) type Condition = Vec<Vec<ArgumentTest>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallRule {
    Allow,
    Deny(CallDenial),
    Only { when: Condition, otherwise: CallDenial },
}

/// Rules by call number.
pub(super) type CallRules = BTreeMap<u32, CallRule>;

/// The meaning of a line that contains only a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BareName {
    Is(CallDenial),
    Allowed,
    /// None: the file changes lines of another, so that a name alone is an error.
    Nothing,
}

/// One file of `sandbox/seccomp`.
#[derive(Clone, Copy)]
pub(super) struct PolicyText {
    pub(super) file: &'static str,
    pub(super) text: &'static str,
    pub(super) bare: BareName,
}

impl PolicyText {
    pub(super) const fn of(text: SeccompText, bare: BareName) -> Self {
        Self { file: text.file, text: text.text, bare }
    }
}

/// An error in a text, with its location.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::launch) struct PolicyTextError {
    file: &'static str,
    /// Counted from 1; `None` if two files disagree.
    line: Option<usize>,
    what: String,
}

impl PolicyTextError {
    /// Builds an error that concerns no single line.
    pub(super) fn throughout(file: &'static str, what: String) -> Self {
        Self { file, line: None, what }
    }
}

impl fmt::Display for PolicyTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seccomp/{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for PolicyTextError {}

/// The rules of one file itself, and the file that it includes.
#[derive(Debug)]
pub(super) struct ParsedText {
    pub(super) includes: Option<&'static str>,
    pub(super) rules: CallRules,
}

/// Parses one file. Lines for another architecture are skipped.
pub(super) fn read(text: PolicyText) -> Result<ParsedText, PolicyTextError> {
    let mut read = ParsedText { includes: None, rules: CallRules::new() };
    for (at, line) in text.text.lines().enumerate() {
        let wrong = |what| PolicyTextError { file: text.file, line: Some(at + 1), what };
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
fn call_line(words: &[&str], bare: BareName) -> Result<Option<(u32, CallRule)>, String> {
    let (number, words): (fn(&str) -> Option<u32>, _) = match words {
        ["[x86_64]", rest @ ..] if cfg!(target_arch = "x86_64") => (names::number, rest),
        ["[aarch64]", rest @ ..] if cfg!(target_arch = "aarch64") => (names::number, rest),
        ["[x86_64]" | "[aarch64]", ..] => return Ok(None),
        rest => (names::common_number, rest),
    };
    let (name, rule) = match words {
        [name] => {
            let rule = match bare {
                BareName::Allowed => CallRule::Allow,
                BareName::Is(denial) => CallRule::Deny(denial),
                BareName::Nothing => return Err(format!("`{name}` has no condition")),
            };
            (*name, rule)
        }
        [name, words @ ..] => {
            let name = name.strip_suffix(':').ok_or("`:` is missing after the name")?;
            if matches!(bare, BareName::Is(_)) {
                return Err("only names are allowed in this file".to_owned());
            }
            (name, rule(name, words)?)
        }
        [] => return Err("the name of a call is missing".to_owned()),
    };
    let number = number(name).ok_or_else(|| format!("`{name}` is not a system call here"))?;
    Ok(Some((number, rule)))
}

fn rule(call: &str, words: &[&str]) -> Result<CallRule, String> {
    let Some(at) = words.iter().position(|word| *word == "else") else {
        return Ok(CallRule::Deny(denial(words)?));
    };
    let alternatives = words[..at].split(|word| *word == "or");
    let tests = |all: &[&str]| all.split(|word| *word == "and").map(|it| test(call, it)).collect();
    let when = alternatives.map(tests).collect::<Result<_, String>>()?;
    Ok(CallRule::Only { when, otherwise: denial(&words[at + 1..])? })
}

fn denial(words: &[&str]) -> Result<CallDenial, String> {
    match words {
        ["absent"] => Ok(CallDenial::Absent),
        ["escape"] => Ok(CallDenial::Escape),
        ["refuse", errno] => errno_of(errno).map(CallDenial::Refused),
        ["ration", errno] => errno_of(errno).map(CallDenial::Rationed),
        _ => Err("expected `refuse ERRNO`, `ration ERRNO`, `escape` or `absent`".into()),
    }
}

fn errno_of(word: &str) -> Result<i32, String> {
    names::errno(word).ok_or_else(|| format!("`{word}` is not an errno here"))
}

fn test(call: &str, words: &[&str]) -> Result<ArgumentTest, String> {
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
    Ok(ArgumentTest { argument, compare })
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

    fn of(text: &'static str, bare: BareName) -> Result<CallRules, String> {
        let read = read(PolicyText { file: "t", text, bare });
        read.map(|read| read.rules).map_err(|wrong| wrong.to_string())
    }

    fn one(text: &'static str) -> CallRule {
        of(text, BareName::Allowed).unwrap().into_values().next().unwrap()
    }

    #[test]
    fn lines_are_parsed() {
        assert_eq!(one("read # why"), CallRule::Allow);
        assert_eq!(one("mmap: refuse ENOSYS"), CallRule::Deny(CallDenial::Refused(libc::ENOSYS)));
        let test = |argument, compare| ArgumentTest { argument, compare };
        let family = |families: &[u32]| test(0, Compare::In(families.to_vec()));
        let when = vec![vec![family(&[1, 2])], vec![family(&[16]), test(2, Compare::In(vec![0]))]];
        assert_eq!(
            one(
                "socket: domain in AF_UNIX AF_INET or domain == 0x10 and protocol == 0 else absent"
            ),
            CallRule::Only { when, otherwise: CallDenial::Absent }
        );
        let mask = test(0, Compare::Masked { mask: 0x7e02_0080, value: 0 });
        assert_eq!(
            one("clone: flags & 0x7e020080 == 0 else escape"),
            CallRule::Only { when: vec![vec![mask]], otherwise: CallDenial::Escape }
        );
        let input = test(1, Compare::NotIn(vec![0x5412, 0x541c]));
        assert_eq!(
            one("ioctl: cmd not in TIOCSTI TIOCLINUX else refuse EPERM"),
            CallRule::Only { when: vec![vec![input]], otherwise: CallDenial::Refused(libc::EPERM) }
        );
        let refused = of("mount", BareName::Is(CallDenial::Escape)).unwrap();
        assert_eq!(refused.into_values().next(), Some(CallRule::Deny(CallDenial::Escape)));
    }

    #[test]
    fn lines_of_another_architecture_are_skipped() {
        let elsewhere = if cfg!(target_arch = "x86_64") { "[aarch64]" } else { "[x86_64]" };
        let words = [elsewhere, "no_such_call"];
        assert_eq!(call_line(&words, BareName::Allowed), Ok(None));
        // A call of only this architecture must be marked: the texts would be invalid on the other.
        #[cfg(target_arch = "x86_64")]
        assert!(
            of("open", BareName::Allowed).is_err()
                && of("[x86_64] open", BareName::Allowed).is_ok()
        );
    }

    #[test]
    fn unknown_lines_are_errors() {
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
            let wrong = of(text, BareName::Allowed).unwrap_err();
            assert!(wrong.contains(why), "{text:?}: {wrong}");
        }
        assert!(
            of("mmap: absent", BareName::Is(CallDenial::Escape))
                .unwrap_err()
                .contains("only names")
        );
        assert!(of("mmap", BareName::Nothing).unwrap_err().contains("has no condition"));
    }
}
