//! Content that a result must not contain: payloads, instructions, claims about policy. Each line
//! is checked separately, so that a record can withhold exactly the lines with findings. The check
//! must never depend on the lines around it.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use model::{Line, SourceSpan};

use crate::code::Code;
use crate::node::{Node, Value};
use crate::report::Report;

use super::window::Shape;
use super::words::Words;
use super::{instruction, marks, payload, policy_claim, script};

/// A line without one of these contains no instruction in words and no claim; most lines contain
/// none.
const WORDY: [&str; 32] = [
    "run",
    "execut",
    "exec ",
    "launch",
    "paste",
    "enter ",
    "type ",
    "copy ",
    "download",
    "fetch",
    "retriev",
    "curl",
    "wget",
    "iwr",
    "irm ",
    "invoke-webrequest",
    "ignore",
    "disregard",
    "forget",
    "overr",
    "system:",
    "assistant:",
    "developer:",
    "human:",
    "user:",
    "polic",
    "allow",
    "whitelist",
    "sandbox",
    "validator",
    "network",
    "rules",
];
const WORDY_MORE: [&str; 12] = [
    "internet",
    "access",
    "permi",
    "authori",
    "cleared",
    "entitled",
    "confinement",
    "seccomp",
    "landlock",
    "guardrail",
    "restriction",
    "safeguard",
];

/// The kind of check that a literal triggers.
#[derive(Clone, Copy)]
enum Literal {
    Payload(Shape),
    Mark(Shape),
    Word,
}

struct Literals {
    automaton: AhoCorasick,
    of_pattern: Vec<Literal>,
}

static LITERALS: LazyLock<Option<Literals>> = LazyLock::new(|| {
    let shapes = payload::SHAPES.iter().chain(&script::SHAPES);
    let shapes = shapes.map(|(shape, all)| (Literal::Payload(*shape), *all));
    let marks = marks::SHAPES.iter().map(|(shape, all)| (Literal::Mark(*shape), *all));
    let words = [&WORDY[..], &WORDY_MORE[..]].map(|all| (Literal::Word, all));
    let mut patterns: Vec<&str> = Vec::new();
    let mut of_pattern = Vec::new();
    for (literal, all) in shapes.chain(marks).chain(words) {
        patterns.extend(all);
        of_pattern.extend(all.iter().map(|_| literal));
    }
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(patterns)
        .ok()?;
    Some(Literals { automaton, of_pattern })
});

/// The first finding of each kind in a line, as byte ranges.
#[derive(Default, PartialEq, Eq, Debug)]
struct Found {
    payload: Option<Range<usize>>,
    instruction: Option<Range<usize>>,
    policy_claim: Option<Range<usize>>,
}

impl Found {
    fn rows(self) -> impl Iterator<Item = (Code, Range<usize>)> {
        [
            (Code::ResultPayload, self.payload),
            (Code::ResultInstruction, self.instruction),
            (Code::ResultPolicyClaim, self.policy_claim),
        ]
        .into_iter()
        .filter_map(|(code, at)| Some((code, at?)))
    }
}

fn find(line: &str) -> Found {
    let mut found = Found::default();
    let Some(literals) = LITERALS.as_ref() else {
        // Without the automaton the search is impossible, so the whole line counts as a finding.
        found.payload = Some(0..line.len());
        return found;
    };
    let mut wordy = false;
    for hit in literals.automaton.find_overlapping_iter(line) {
        match literals.of_pattern.get(hit.pattern().as_usize()) {
            Some(Literal::Payload(shape)) if found.payload.is_none() => {
                found.payload = shape(line, hit.range());
            }
            Some(Literal::Mark(shape)) if found.instruction.is_none() => {
                found.instruction = shape(line, hit.range());
            }
            Some(Literal::Word) => wordy = true,
            _ => {}
        }
    }
    if wordy {
        let words = Words::of(line);
        found.instruction = found.instruction.or_else(|| instruction::find(&words));
        found.policy_claim = policy_claim::find(&words);
    }
    found
}

/// Returns the code of the first finding in this text.
pub(super) fn first(text: &str) -> Option<Code> {
    text.split('\n').find_map(|line| find(line).rows().next()).map(|(code, _)| code)
}

/// Reports the findings in these lines, each kind once per line.
pub(super) fn check_lines(lines: &[Line<'_>], report: &mut Report) {
    for line in lines {
        for (code, at) in find(line.text).rows() {
            let width = line.text.get(at.clone()).map_or(0, |text| text.chars().count());
            tell(code, line.spot(at.start).wide(width), report);
        }
    }
}

/// Keys whose values programs need verbatim: names of files and people, the words of a command. A
/// record writes them in a form that shows no pattern to a reader; they are not prose.
const EXACT: [&str; 10] = [
    "path",
    "name",
    "request_file",
    "principal",
    "key",
    "argv",
    "missing",
    "degraded",
    "result_id",
    "request_id",
];

/// Reports findings in the values of the front matter, where escapes and folded lines hide text
/// from the check of the source.
pub(super) fn check_front_matter(node: &Node, report: &mut Report) {
    match &node.value {
        Value::Scalar { text, .. } => {
            if let Some(code) = first(text) {
                tell(code, node.spot, report);
            }
        }
        Value::List(items) => items.iter().for_each(|item| check_front_matter(item, report)),
        Value::Map(entries) => {
            for entry in entries.iter().filter(|entry| !EXACT.contains(&entry.key.as_str())) {
                check_front_matter(&entry.node, report);
            }
        }
    }
}

fn tell(code: Code, spot: SourceSpan, report: &mut Report) {
    let (message, hint) = match code {
        Code::ResultPayload => {
            ("text: an executable payload", "leave it in an artifact and state its path and sha256")
        }
        Code::ResultInstruction => (
            "text: an instruction to fetch or to execute",
            "report what was asked for and who asked, or leave the line in the stream's file",
        ),
        _ => (
            "text: a claim that policy should change or does not bind",
            "report who claimed it, or leave the line in the stream's file",
        ),
    };
    report.error_hint(code, spot, message, hint);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_automaton_exists() {
        assert!(LITERALS.is_some());
        assert_eq!(find("plain"), Found::default());
    }
}
