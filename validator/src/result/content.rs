//! Content that a result must not contain: payloads, instructions, claims about policy. Each line
//! is checked alone: a record can withhold exactly the lines with findings.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use model::{SourceSpan, TextLine};

use crate::code::Code;
use crate::report::Report;
use crate::yaml::{YamlNode, YamlValue};

use super::tokens::ResultTokens;
use super::window::LiteralCheck;
use super::{impersonation, instruction, payload, policy_claim, script};

/// A line without one of these, like most lines, contains no instruction in words and no claim.
const TRIGGER_WORDS: [&str; 32] = [
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
const MORE_TRIGGER_WORDS: [&str; 12] = [
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
enum LiteralKind {
    Payload(LiteralCheck),
    Mark(LiteralCheck),
    Word,
}

struct Literals {
    automaton: AhoCorasick,
    of_pattern: Vec<LiteralKind>,
}

static LITERALS: LazyLock<Option<Literals>> = LazyLock::new(|| {
    let shapes = payload::CHECKS.iter().chain(&script::CHECKS);
    let shapes = shapes.map(|(shape, all)| (LiteralKind::Payload(*shape), *all));
    let marks = impersonation::CHECKS.iter().map(|(shape, all)| (LiteralKind::Mark(*shape), *all));
    let words = [&TRIGGER_WORDS[..], &MORE_TRIGGER_WORDS[..]].map(|all| (LiteralKind::Word, all));
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
struct LineFindings {
    payload: Option<Range<usize>>,
    instruction: Option<Range<usize>>,
    policy_claim: Option<Range<usize>>,
}

impl LineFindings {
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

fn find(line: &str) -> LineFindings {
    let mut found = LineFindings::default();
    let Some(literals) = LITERALS.as_ref() else {
        // Without the automaton the search is impossible, so the whole line counts as a finding.
        found.payload = Some(0..line.len());
        return found;
    };
    let mut wordy = false;
    for hit in literals.automaton.find_overlapping_iter(line) {
        match literals.of_pattern.get(hit.pattern().as_usize()) {
            Some(LiteralKind::Payload(shape)) if found.payload.is_none() => {
                found.payload = shape(line, hit.range());
            }
            Some(LiteralKind::Mark(shape)) if found.instruction.is_none() => {
                found.instruction = shape(line, hit.range());
            }
            Some(LiteralKind::Word) => wordy = true,
            _ => {}
        }
    }
    if wordy {
        let words = ResultTokens::of(line);
        found.instruction = found.instruction.or_else(|| instruction::find(&words));
        found.policy_claim = policy_claim::find(&words);
    }
    found
}

/// Returns the code of the first finding in this text.
pub(super) fn first_code(text: &str) -> Option<Code> {
    text.split('\n').find_map(|line| find(line).rows().next()).map(|(code, _)| code)
}

/// Reports the findings in these lines, each kind once per line.
pub(super) fn check_lines(lines: &[TextLine<'_>], report: &mut Report) {
    for line in lines {
        for (code, at) in find(line.text).rows() {
            let width = line.text.get(at.clone()).map_or(0, |text| text.chars().count());
            report_finding(code, line.span_at(at.start).with_width(width), report);
        }
    }
}

/// Keys whose values programs need verbatim: names of files and people, the words of a command. A
/// record writes them in a form that shows no pattern to a reader; they are not prose.
const VERBATIM_KEYS: [&str; 10] = [
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

/// Reports findings in front matter values, where escapes and folded lines hide text in the source.
pub(super) fn check_front_matter(node: &YamlNode, report: &mut Report) {
    match &node.value {
        YamlValue::Scalar { text, .. } => {
            if let Some(code) = first_code(text) {
                report_finding(code, node.spot, report);
            }
        }
        YamlValue::List(items) => items.iter().for_each(|item| check_front_matter(item, report)),
        YamlValue::Map(entries) => {
            for entry in entries.iter().filter(|entry| !VERBATIM_KEYS.contains(&entry.key.as_str()))
            {
                check_front_matter(&entry.node, report);
            }
        }
    }
}

fn report_finding(code: Code, spot: SourceSpan, report: &mut Report) {
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
        assert_eq!(find("plain"), LineFindings::default());
    }
}
